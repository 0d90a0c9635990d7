# SPDX-License-Identifier: Apache-2.0
"""`python -m proofs.symbolic.campaign [--check]`: the operations of `layouts`, executed symbolically up to rank 3.

This takes long, so the results are recorded in `record.json`: for each operation the number of paths, how many were
proved, how many reject their input and were proved to lie outside the precondition, and which are unknown. Each result
has a hash of the executed code and of the code that examined it, without what changes no result (`normal_form`): other
names of locals, other words. When either has changed, the result is not used.
A run executes the operations without a current result, so an interrupted run continues where it stopped.
The record has the digest of all its results, which shows damage and edits, not forgery: an edited record is rejected.

z3's budget counts its steps and not seconds, so that every run ends alike. No time is bounded: a query with products of
many inputs may take ten seconds within its budget.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any

from lanecheck.console import command
from lanecheck.console.exits import Exit
from lanecheck.console.frame import guarded_printing
from lanecheck.console.outputs import write_file
from lanecheck.console.processes import processes
from lanecheck.console.progress import Progress
from proofs.errors import ProblemError
from proofs.laws import solve
from proofs.symbolic.execution import Examined, Operation, Violation, examine, ours
from proofs.symbolic.normal_form import normal_form
from proofs.symbolic.searched import SEARCHING
from proofs.symbolic.suite import examine_operations

FILE = Path(__file__).with_name("record.json")
RANK = 3
MEMORY = 6 << 30
ROOT = Path(__file__).parents[2]
PLAIN = ("coalesce", "int_tuple", "layout")
COMPOSING = (*PLAIN, "compose", "composed")
EXECUTED = {
    "coalesce": PLAIN,
    "composition": COMPOSING,
    "complement": (*PLAIN, "complement"),
    "right_inverse": (*PLAIN, "inverse"),
    "left_inverse": (*PLAIN, "inverse"),
    "logical_divide": (*COMPOSING, "complement", "divide", "modes"),
    "logical_product": (*COMPOSING, "complement", "divide", "modes", "products"),
}
"""For each operation, the modules of `layouts` whose code it runs."""
ENGINE = ("execution", "operations", "pathwise", "symbolic_int")
"""The modules of this package that examine every operation, by `proofs.definitions`."""
KEYS = {"paths", "proved", "refused", "outside", "unknown", "violations", "unexplored", "engine", "sources"}
LATE_NUMPY = "from layouts.arrays import np"  # the same numpy, imported when it is used
STATING = {"operations": (), "contracts": ("contracts",), "runs": ("runs",), "loops": ("runs", "loops")}
"""For each module that defines goals, the other modules on which the results depend."""


class EditedError(ProblemError):
    """The record is not as a run has written it."""


def sources() -> Mapping[str, str]:
    """Return for each operation the sha256 of the code that it runs and that examines it, in normal form."""
    digests: dict[str, str] = {}
    for label, operation in operations().items():
        stating = STATING[operation.goals.__module__.rpartition(".")[2]]
        engine = (*ENGINE, *stating, *(("searched",) * (operation.name in SEARCHING)))
        files = [f"layouts/{name}.py" for name in EXECUTED[operation.name]]
        files += ["proofs/definitions.py", *(f"proofs/symbolic/{name}.py" for name in engine)]
        code = (_form_of((ROOT / file).read_text(encoding="utf-8")) for file in files)
        digests[label] = hashlib.sha256("".join(code).encode()).hexdigest()
    return digests


@lru_cache(maxsize=64)
def _form_of(text: str) -> str:
    """Return the normal form of a module; it has the imported names without their modules, which may move."""
    tree = ast.parse(text.replace(f"\n{LATE_NUMPY}\n", "\nimport numpy as np\n"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom)]
    return "".join([*sorted(normal_form(alias) for node in imports for alias in node.names), normal_form(tree)])


@lru_cache(maxsize=1)
def operations() -> Mapping[str, Operation]:
    """Return the operations of the campaign by label."""
    return {o.label: o for o in examine_operations(RANK, inside=True)}


def read_recorded(file: Path = FILE) -> Mapping[str, Mapping[str, Any]]:
    """Return the recorded results by label whose hash is that of the present code; none without a file.

    Raises EditedError.
    """
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        kept = dict(record["operations"])
        whole = record["digest"] == _digest(kept)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        why = "edited or damaged: its digest is not that of its results"
        raise EditedError(f"{file.name}: {why}; remove it and run python -m proofs.symbolic.campaign")
    current = sources()
    return {
        label: entry for label, entry in kept.items() if _whole(entry) and entry["sources"] == current.get(label, "")
    }


def _digest(operations: Mapping[str, Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(operations, sort_keys=True).encode()).hexdigest()


def _whole(entry: object) -> bool:
    """Whether a recorded result has all its fields."""
    if not isinstance(entry, dict) or not KEYS <= entry.keys():
        return False
    return all(isinstance(entry[key], int) for key in ("paths", "proved", "refused", "outside", "unexplored"))


def faults(file: Path = FILE) -> Iterable[str]:
    """Yield the reasons why the record is not current or not complete, one line each."""
    try:
        kept = read_recorded(file)
    except EditedError as error:
        yield str(error)
        return
    if not kept:
        why = "the code has changed since the campaign was run" if file.exists() else "no such record"
        yield f"{file.name}: {why}"
        return
    yield from (f"{label}: not in the record, or the code has changed" for label in operations() if label not in kept)
    for label, entry in kept.items():
        yield from (f"{label}: {wrong}" for wrong in entry["violations"][:1])
        yield from (f"{label}: unknown: {why}" for why in entry["unknown"][:1])
        if entry["unexplored"]:
            yield f"{label}: {entry['unexplored']} paths not followed"
        if not 0 < entry["proved"] <= entry["paths"] - entry["refused"] or entry["outside"] > entry["refused"]:
            yield f"{label}: its counts do not agree"


def restore_result(label: str, entry: Mapping[str, Any]) -> Examined:
    """Return a recorded result as a value."""
    wrong = tuple(Violation(line.partition(" -> ")[0], line.partition(" -> ")[2], "") for line in entry["violations"])
    paths, proved, refused, outside = (int(entry[key]) for key in ("paths", "proved", "refused", "outside"))
    return Examined(label, paths, proved, refused, outside, tuple(entry["unknown"]), wrong, int(entry["unexplored"]))


def _entry(examined: Examined) -> dict[str, Any]:
    wrong = [f"{v.inputs} -> {v.returned}: {v.fault}" for v in examined.violations]
    return {
        "paths": examined.paths, "proved": examined.proved, "refused": examined.refused, "outside": examined.outside,
        "unknown": list(examined.unknown), "violations": wrong, "unexplored": examined.unexplored,
    }  # fmt: skip


def _examine(label: str) -> dict[str, Any]:
    import resource  # only Unix has it, and the record is read everywhere

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return _entry(examine(ours(), operations()[label]))


def examine_missing(jobs: int, file: Path = FILE) -> None:
    """Examine the operations that are not recorded; each result is written as soon as it is known.

    Raises EditedError, and ProblemError when the code changes meanwhile.
    """
    done, begun = dict(read_recorded(file)), sources()
    todo = sorted((label for label in operations() if label not in done), key=lambda label: "rank 3" not in label)
    with Progress(len(operations()), "operations") as shown, processes(jobs, max_tasks_per_child=1) as pool:
        shown.done = len(done)
        waiting = {pool.submit(_examine, label): label for label in todo}
        for future in as_completed(waiting):
            label, error = waiting[future], future.exception()
            if sources() != begun:
                raise ProblemError("the code has changed since the campaign began: start it again")
            if error is None:
                done[label] = {**future.result(), "engine": solve.version("z3"), "sources": begun[label]}
                write(done, file)
                shown.step(label)
            else:
                with shown.aside():
                    print(f"{label} was not finished: {error!r}", file=sys.stderr, flush=True)


def write(done: Mapping[str, Mapping[str, Any]], file: Path) -> None:
    """Write one line for each operation, in the order of the operations."""
    lines = [f"{json.dumps(label)}: {json.dumps(done[label])}" for label in operations() if label in done]
    head = f'{{"schema": 3, "digest": "{_digest(done)}", "operations": {{\n'
    write_file(file, head + ",\n".join(lines) + "\n}}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaign, or check the record with --check.

    Returns the exit code: REFUTED if the record is not current or has an unproved path, USAGE if an operation cannot be
    executed, INTERRUPTED with the results so far recorded.
    """
    return guarded_printing("campaign", lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    parser = command.parser("python -m proofs.symbolic.campaign", __doc__, "--check")
    parser.add_argument("--check", action="store_true", help="compare instead of running")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    options = parser.parse_args(argv)
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least 1")
    if not options.check:
        try:
            examine_missing(options.jobs)
        except KeyboardInterrupt:
            missing = len(operations()) - len(read_recorded())
            raise KeyboardInterrupt(f"interrupted: {missing} of {len(operations())} operations not recorded") from None
    lines = list(faults())
    print("\n".join(lines) or "the record is current")
    return Exit.REFUTED if lines else Exit.OK


if __name__ == "__main__":
    raise SystemExit(main())
