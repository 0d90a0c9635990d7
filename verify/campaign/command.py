# SPDX-License-Identifier: Apache-2.0
"""`lanecheck campaign SPEC`: laws and mutants checked exhaustively, on one machine or on a cluster."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from lanecheck.console.command import add_execution
from lanecheck.console.outputs import reserve_file
from lanecheck.console.progress import Progress
from verify.campaign import executors, report, results, tasks
from verify.campaign.run import CampaignRun, LongError, check_minute, count_parts
from verify.campaign.spec import read_campaigns
from verify.campaign.tasks import BUDGET, Implementation
from verify.cli import arguments, ending, inputs, output
from verify.core.errors import Exit, UsageError
from verify.core.wording import count_of
from verify.laws.conformance import check_module

if TYPE_CHECKING:
    from verify.campaign.executors import Workers
    from verify.campaign.results import Results
    from verify.campaign.run import CountedPart
    from verify.campaign.spec import CampaignSpec
    from verify.campaign.tasks import CampaignPart
    from verify.report import Failure
    from verify.report.loaded import LoadedFiles

DESCRIPTION = """Check laws and implementations exhaustively: every layout, or every pair of layouts, up to a bound of
rank, size and strides against the definitions of the operations; or every one-edit mutant of the atoms, which must be
refuted. SPEC is a TOML file with a table for each campaign. Each chunk of cases is kept in a file as soon as it is
known: the same command goes on where a run was interrupted, and counts no chunk twice."""
EXAMPLE = "examples/campaign.toml --count"
STOPS = {"count": ("files", "only", "module", "path", "output")}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaigns that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = arguments.parse(_parser(), argv, STOPS)
    _check(options)
    loaded: LoadedFiles[CampaignSpec] = inputs.load(options.files, read_campaigns).only(options.only, "campaign")
    target = Implementation(options.module or "", options.path or "", options.budget or BUDGET)
    if target.module:
        check_module(target.module)
    if target.module and any(spec.kind != "laws" for spec in loaded.items):
        raise UsageError("--module is checked against laws: name campaigns of kind laws with --only")
    parts = [part for spec in loaded.items for part in tasks.parts(spec, target)]
    if options.count:
        output.write(_counts(parts), options.output)
        return Exit.USAGE if loaded.failures else Exit.OK
    if not options.quiet:
        print(_counts(parts), end="", file=sys.stderr, flush=True)
    return _run_campaign(parts, target, loaded.failures, options)


def _check(options: argparse.Namespace) -> None:
    """UsageError for an option without effect, or without a value."""
    for name in ("results", "scheduler", "resources", "module", "path"):
        if getattr(options, name) == "":
            raise UsageError(f"--{name}: its value is empty")
    for given, needed, message in (
        (options.path, options.module, "--path says where a --module is: name it"),
        (options.budget, options.module, "--budget is for a --module: our own operations end"),
        (options.jobs, not options.scheduler, "--jobs is for this machine: a --scheduler has workers of its own"),
        (options.resources, options.scheduler, "--resources chooses among the workers of a --scheduler: name it"),
    ):
        if given and not needed:
            raise UsageError(message)
    if options.results:
        reserve_file(options.results)
    if options.module and not options.count:
        arguments.check_execution(options.allow_exec)


def _counts(parts: Sequence[CampaignPart]) -> str:
    """How many cases there are, a line for each part and one for all."""
    rows = [(f"{part.entry}: {part.name}", part.cases, len(part.tasks)) for part in parts]
    distinct = {part.key: part for part in parts}.values()  # two campaigns may ask the same
    rows.append(("in all", sum(part.cases for part in distinct), sum(len(part.tasks) for part in distinct)))
    width = max(len(row[0]) for row in rows)
    many = (count_of(chunks, "chunk") for *_, chunks in rows)
    return "".join(f"{row[0]:<{width}}  {row[1]:>10} cases in {words}\n" for row, words in zip(rows, many, strict=True))


def _run_campaign(
    parts: Sequence[CampaignPart], target: Implementation, malformed: tuple[Failure, ...], options: argparse.Namespace
) -> int:
    file = Path(options.results or f"{Path(options.files[0]).stem}.results.jsonl")
    with results.open_results(file) as kept:
        known, end = _collect_results(parts, target, kept, options)
    done = sum(part.done for part in known)
    if done or end is None:
        if options.format == "json":
            text = report.as_json(known, target.name, malformed)
        else:
            text = output.wrap_report(report.as_text(known, target.name, options.quiet), options.output)
        output.write(text, options.output)
    if end is not None:
        return ending.complain(f"lanecheck: {end} ({done} chunks are kept in {file})", end.code)
    return Exit.USAGE if malformed else report.code(known, options.allow_unchecked)


def _collect_results(
    parts: Sequence[CampaignPart], target: Implementation, kept: Results, options: argparse.Namespace
) -> tuple[list[CountedPart], UsageError | None]:
    """Return the results of all parts, and what ended the run before its end; LongError where --yes is missing."""
    run, end = CampaignRun(parts, kept, target), None
    try:
        if run.todo:
            with _executor(target, options) as (pool, workers), Progress(run.cases, "cases", options.quiet) as shown:
                run.go(pool, workers, shown, (lambda *_: None) if options.yes else check_minute)
    except LongError:
        raise
    except UsageError as error:
        end = error
    except KeyboardInterrupt:
        end = CampaignInterrupted("interrupted")
    return count_parts(parts, kept, run.stopped), end


class CampaignInterrupted(UsageError):
    """Ctrl-C, or SIGTERM."""

    code = Exit.INTERRUPTED


def _executor(target: Implementation, options: argparse.Namespace) -> AbstractContextManager[tuple[Executor, Workers]]:
    """Return the executor that the options ask for, and what counts its workers."""
    if options.scheduler:
        return executors.cluster(options.scheduler, _resources(options.resources))
    return executors.local(options.jobs or os.cpu_count() or 1, in_child=bool(target.module))


def _resources(text: str | None) -> Mapping[str, float]:
    """Return the resources of `--resources GPU=1,MEMORY=2e9`."""
    resources = {}
    for word in text.split(",") if text is not None else ():
        name, _, number = map(str.strip, word.partition("="))
        right = name and name not in resources and re.fullmatch(r"\d+(\.\d+)?(e\d+)?", number, re.ASCII)
        if not right or not 0 < float(number) < inf:
            raise UsageError(f"--resources {text!r}: expected NAME=NUMBER, such as GPU=1, each name once, above 0")
        resources[name] = float(number)
    return resources


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck campaign", DESCRIPTION, EXAMPLE, formats=("text", "json"))
    parser.add_argument("files", nargs="+", metavar="SPEC", help="campaigns, one TOML table each")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only these campaigns of the files")
    parser.add_argument("--count", action="store_true", help="print how many cases there are, and stop")
    parser.add_argument("--yes", action="store_true", help="run what takes longer than a minute too")
    parser.add_argument("--results", metavar="FILE", help="where chunks are kept (default: SPEC.results.jsonl, here)")
    parser.add_argument("--jobs", type=arguments.positive, metavar="N", help="processes (default: one per core)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="run on the workers of this Dask scheduler, tcp://…")
    parser.add_argument("--resources", metavar="NAME=N", help="with --scheduler: on workers with them, such as GPU=1")
    parser.add_argument("--module", metavar="NAME", help="check this module's operations, such as pycute, not ours")
    parser.add_argument("--path", metavar="DIR", help="the folder of the module; it is imported, so it must be trusted")
    add_execution(parser)
    parser.add_argument(
        "--budget", type=arguments.positive, metavar="S", help="with --module: seconds for a chunk (default: 600)"
    )
    return parser
