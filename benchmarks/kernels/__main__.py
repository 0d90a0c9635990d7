# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.kernels WHAT`: time and memory of the check, wrong kernels, other people's kernels.

`mutate` checks edited kernels, `survivors` compares accepted ones by ptxas and on a GPU, `score` prints the table.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.kernels import campaign, fates, others, score, silicon, times
from benchmarks.kernels.campaign import Sample
from benchmarks.kernels.reasons import NOT_ASSEMBLED, SAME_CODE
from benchmarks.paired import PAIRS
from gpu_checks import Unavailable, device_info
from gpu_checks.command import guard_exit
from lanecheck.console import command
from lanecheck.console.progress import Progress

THOROUGH = ("mma_f16", "triton_f16", "tma_3")
CODE = (SAME_CODE, NOT_ASSEMBLED)
FINAL = (*CODE, "never ran", "never read")  # reasons for which ptxas is not needed
EDITS = Path("build/kernels/edits.jsonl")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of them; 0 all targets met, 1 one missed, 2 usage, 130 interrupted."""
    parser = command.parser("python -m benchmarks.kernels", __doc__, "times simt*")
    parser.add_argument("what", choices=("times", "mutate", "survivors", "score", "others"))
    parser.add_argument("kernel", nargs="*", metavar="KERNEL", help="a name or a glob; all when none is given")
    parser.add_argument("--corpus", type=Path, default=campaign.CORPUS, metavar="DIR", help="of NAME.ptx and NAME.toml")
    parser.add_argument("--baseline", default="", metavar="COMMAND", help="times: with {ptx}, {claim} and {name}")
    parser.add_argument("--target", type=float, default=60.0, metavar="RATIO", help="times: the largest ratio")
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help=f"times: of each kernel ({PAIRS})")
    parser.add_argument("--thorough", nargs="*", default=THOROUGH, metavar="KERNEL", help="mutate: with more edits")
    said = "mutate: random edits of a thorough kernel, and as many of meanings"
    parser.add_argument("--many", type=int, default=200, metavar="N", help=said)
    parser.add_argument("--random", type=int, default=30, metavar="N", help="mutate: random edits of each other kernel")
    parser.add_argument("--meanings", type=int, default=30, metavar="N", help="mutate: as many of modifiers and signs")
    said = f"mutate: planted edits of each class ({campaign.MOST})"
    parser.add_argument("--most", type=int, default=campaign.MOST, metavar="N", help=said)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="mutate: of the random edits")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N", help="mutate: at once")
    parser.add_argument("--seconds", type=float, metavar="S", help="mutate, survivors: begin nothing after this time")
    parser.add_argument("--data", type=int, default=4, metavar="N", help="survivors: random arrays for each launch")
    parser.add_argument("--times", type=int, default=8, metavar="N", help="survivors: runs on each")
    said = "mutate, survivors, score: every edit as a line of JSON; what is in it is not done again"
    parser.add_argument("-o", "--output", type=file, default=EDITS, metavar="FILE", help=said)
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="score: the page whose tables are written, and the record"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/kernels"), metavar="DIR", help="others: their home")
    return guard_exit("benchmarks.kernels", lambda: _run(parser.parse_args(argv)))


def file(text: str) -> Path:
    """The file of edits; raises ArgumentTypeError for stdout, of which nothing could be read again."""
    if text == "-":
        raise argparse.ArgumentTypeError("edits are kept in a file, from which an interrupted run goes on")
    return Path(text)


def _run(options: argparse.Namespace) -> int:
    if options.what == "others":
        return _others(options)
    chosen = [
        path
        for path in sorted(options.corpus.glob("*.ptx"))
        if not options.kernel or any(fnmatchcase(path.stem, name) for name in options.kernel)
    ]
    if not chosen:
        raise ValueError(f"no kernel of {options.corpus} has a name like {', '.join(options.kernel)}")
    run = {"times": _times, "mutate": _mutate, "survivors": _survivors, "score": _score}[options.what]
    return run(chosen, options)


def _times(chosen: Sequence[Path], options: argparse.Namespace) -> int:
    missed = 0
    for figure in times.figures(chosen, options.baseline, options.target, options.pairs):
        print(figure, flush=True)
        missed += not figure.met
    return int(missed > 0)


def _mutate(chosen: Sequence[Path], options: argparse.Namespace) -> int:
    """Check every edit that the file does not have."""
    unlike = dict(campaign.unverified(chosen))
    for path, status in unlike.items():
        print(f"{path.stem} is {status} as it is: its edits are left out", flush=True)
    paths = {path.stem: path for path in chosen if path not in unlike}
    if options.meanings and shutil.which("ptxas") is None:
        raise ValueError("edits of meanings need ptxas, which says which there are: --meanings 0 leaves them out")
    few = Sample(options.most, options.random, options.meanings, options.seed)
    many = replace(few, random=options.many, meanings=options.many)
    plan = campaign.planned(list(paths.values()), options.thorough, many, few)
    done = fates.kept(options.output)
    tasks = [(paths[key[0]], key[2]) for key in plan if key not in done]
    _appended(campaign.campaign(campaign.fate, tasks, options.processes, options.seconds), len(tasks), options)
    return print_summary([fate for key, fate in fates.kept(options.output).items() if key in set(plan)], len(plan))


def _survivors(chosen: Sequence[Path], options: argparse.Namespace) -> int:
    """Compare the accepted edits of the file with the right kernels, by ptxas and on the GPU, whichever is there."""
    tasks = list(_accepted(chosen, options, lambda fate: fate.reason not in FINAL))
    if shutil.which("ptxas"):
        _appended(campaign.campaign(campaign.recoded, tasks, options.processes, options.seconds), len(tasks), options)
    here = device_info()
    if isinstance(here, Unavailable):
        print(f"no GPU: {here.reason}")
    else:
        waiting = _accepted(chosen, options, lambda fate: fate.reason not in CODE and not fate.gpu)
        tasks = list(silicon.runnable(list(waiting), here))
        answered = silicon.answered(tasks, here, options.data, options.times, options.seconds)
        _appended(answered, len(tasks), options)
    every = list(fates.kept(options.output).values())
    return print_summary(every, len(every))


def _accepted(
    chosen: Sequence[Path], options: argparse.Namespace, wanted: Callable[[fates.Fate], bool]
) -> Iterator[tuple[Path, fates.Fate]]:
    """The accepted edits of the file that are wanted, with their kernels, as far as these are what they were."""
    paths = {(path.stem, fates.digest(*campaign.texts(path))): path for path in chosen}
    for fate in fates.kept(options.output).values():
        if fate.accepted and wanted(fate) and (fate.kernel, fate.digest) in paths:
            yield paths[fate.kernel, fate.digest], fate


def _appended(known: Iterator[fates.Fate], total: int, options: argparse.Namespace) -> None:
    """Write each fate to the file as soon as it is known."""
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with Progress(total, "edits") as shown:
        for fate in known:
            fates.append(options.output, fate)
            shown.step(fate.kernel)


def print_summary(done: Sequence[fates.Fate], planned: int) -> int:
    """Print the summary; return 0 if every planned edit is done and at most 1 % are left without a reason."""
    print("\n".join(fates.summary(done)))
    counted = [fate for fate in done if fate.counted]
    left = [fate for fate in counted if fate.open or fate.status == "crashed"]
    for unexplained in left:
        print(f"left: {unexplained.kernel} {unexplained.edit} {unexplained.finding or unexplained.gpu}".rstrip())
    said = f", {len(done) - len(counted)} of them rejected by ptxas" if len(counted) < len(done) else ""
    print(f"{len(done)} of {planned} edits done{said}; {len(left)} accepted without a reason")
    return int(len(left) > len(counted) // 100 or len(done) < planned)


def _score(chosen: Sequence[Path], options: argparse.Namespace) -> int:
    """Print the tables, or write them to the page and their numbers to the record."""
    totals = score.count_fates(fates.kept(options.output).values())
    if not totals.counts:
        raise ValueError(f"{options.output} has no edits: `mutate` makes them")
    if options.page is None:
        print("\n".join(score.page(totals)))
        return 0
    attention = options.page.stem == "attention"
    score.write_page(options.page, score.page(totals), score.EDITS if attention else score.MARKS)
    score.write_score(totals, score.ATTENTION if attention else score.RECORD)
    return 0


def _others(options: argparse.Namespace) -> int:
    from verify.core.errors import UsageError
    from verify.kernel.check import check
    from verify.kernel.claims.claim_file import read_claim

    refuted = 0
    for ptx, warns in others.kernels(options.folder, options.kernel[0] if options.kernel else ""):
        try:
            outcomes = check(ptx.read_text(), read_claim(ptx.with_suffix(".toml")))
        except UsageError as error:
            print(f"{ptx.stem:<24} cannot be read: {error}", flush=True)
            continue
        for outcome in outcomes:
            findings = [finding for finding in outcome.findings if finding.severity not in warns]
            print(
                f"{ptx.stem:<24} {outcome.status}  {len(outcome.findings)} findings, {outcome.steps} instructions",
                flush=True,
            )
            for finding in findings[:4]:
                print(f"    line {finding.line}: {finding.severity}: {finding.text}")
            refuted += outcome.status == "REFUTED"
    return int(refuted > 0)


if __name__ == "__main__":
    sys.exit(main())
