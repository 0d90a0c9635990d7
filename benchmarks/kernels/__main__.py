# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.kernels times | mutate | others`: time and memory, wrong kernels, other people's kernels."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.kernels import campaign, others, times
from gpu_checks.command import guarded
from lanecheck_console import command


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the three; 0 all targets met, 1 one missed, 2 usage, 130 interrupted."""
    parser = command.parser("benchmarks.kernels", __doc__, "times simt*")
    parser.add_argument("what", choices=("times", "mutate", "others"))
    parser.add_argument("kernel", nargs="*", metavar="KERNEL", help="a name or a glob; all when none is given")
    parser.add_argument("--corpus", type=Path, default=campaign.CORPUS, metavar="DIR", help="of NAME.ptx and NAME.toml")
    parser.add_argument("--baseline", default="", metavar="COMMAND", help="times: with {ptx}, {claim} and {name}")
    parser.add_argument("--target", type=float, default=60.0, metavar="RATIO", help="times: the largest ratio")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="times: pairs of each kernel")
    parser.add_argument("--random", type=int, default=30, metavar="N", help="mutate: random edits of each kernel")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="mutate: of the random edits")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N", help="mutate: at once")
    parser.add_argument("--folder", type=Path, default=Path("build/kernels"), metavar="DIR", help="others: their home")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="mutate: every edit as a line of JSON")
    return guarded("benchmarks.kernels", lambda: _run(parser.parse_args(argv)))


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
    return _times(chosen, options) if options.what == "times" else _mutate(chosen, options)


def _times(chosen: Sequence[Path], options: argparse.Namespace) -> int:
    missed = 0
    for figure in times.figures(chosen, options.baseline, options.target, options.rounds):
        print(figure, flush=True)
        missed += not figure.met
    return int(missed > 0)


def _mutate(chosen: Sequence[Path], options: argparse.Namespace) -> int:
    fates = []
    for one in campaign.campaign(chosen, options.random, options.seed, options.processes):
        fates.append(one)
        if one.open:
            print(f"open: {one.kernel} {one.edit}", flush=True)
    print("\n".join(campaign.summary(fates)))
    if options.output:
        campaign.record(fates, options.output)
    left = sum(one.open for one in fates)
    print(f"{len(fates)} edits of {len(chosen)} kernels; {left} accepted without a reason")
    return int(left > len(fates) // 100)


def _others(options: argparse.Namespace) -> int:
    from verify.core.errors import UsageError
    from verify.kernel.check import check
    from verify.kernel.claim import read_claim

    refuted = 0
    for ptx, warns in others.kernels(options.folder, options.kernel[0] if options.kernel else ""):
        try:
            outcomes = check(ptx.read_text(), read_claim(ptx.with_suffix(".toml")))
        except UsageError as error:
            print(f"{ptx.stem:<24} cannot be read: {error}", flush=True)
            continue
        for one in outcomes:
            found = [finding for finding in one.findings if finding.severity not in warns]
            print(f"{ptx.stem:<24} {one.status}  {len(one.findings)} findings, {one.steps} instructions", flush=True)
            for finding in found[:4]:
                print(f"    line {finding.line}: {finding.severity}: {finding.text}")
            refuted += one.status == "REFUTED"
    return int(refuted > 0)


if __name__ == "__main__":
    sys.exit(main())
