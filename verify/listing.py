# SPDX-License-Identifier: Apache-2.0
"""`lanecheck list [PATTERN]`: the kinds of subjects, and the names that need no file: atoms, instructions, others."""

from __future__ import annotations

import argparse
import fnmatch
import json
from collections.abc import Mapping, Sequence

from lanecheck.console.command import Help, Version
from lanecheck.console.exits import RULE
from verify import kinds
from verify.cli import arguments, ending, output
from verify.core.errors import Exit, UsageError
from verify.core.names import nearest

DESCRIPTION = """List what `lanecheck check` and `lanecheck show` know by name: atoms, instructions, laws, projects.
PATTERN is a part of the name, in capitals or not, a glob, or an instruction's short name; of several patterns a name
has all. Without PATTERN, list the kinds of subjects, and how many names each has."""
EPILOG = f"""example:
  lanecheck list m16n8k16 f16
  lanecheck list --kind atom "SM90_64x8x16*"

{RULE}"""


def main(argv: Sequence[str] | None = None) -> int:
    """List what the arguments choose; return the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> Exit:
    options = _parser().parse_args(argv)
    chosen = [kinds.of(name) for name in options.kind] or kinds.all()
    if not options.patterns and not options.kind:
        output.write(_write_kinds(options.format), options.output)
        return Exit.OK
    every = {kind.plural: kind.list_names() for kind in chosen}
    selected = {plural: [name for name in names if _fits(name, options.patterns)] for plural, names in every.items()}
    selected = {plural: names for plural, names in selected.items() if names}
    if not selected and options.patterns:
        known = [name for names in every.values() for name in names]
        pattern = next((word for word in options.patterns if not any(_fits(name, [word]) for name in known)), "")
        if pattern:
            raise UsageError(f"no name has {pattern!r} in it{nearest(pattern, known, 'name')}")
        raise UsageError(f"no name has {' and '.join(map(repr, options.patterns))} in it")
    if not selected:
        plurals = " and ".join(kind.plural for kind in chosen)
        raise UsageError(f"{plurals} have no names: they are given by files or texts, see `lanecheck check --help`")
    output.write(_write_names(selected, options.format), options.output)
    return Exit.OK


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name has every pattern in it; a glob is of the whole name.

    >>> _fits("SM80_16x8x16_F32F16F16F32_TN", ["16x8x16", "sm80*tn"]), _fits("SM89_16x8x32_F32E4M3E4M3F32_TN", ["SM80"])
    (True, False)
    """
    return all(
        fnmatch.fnmatchcase(name.lower(), pattern)
        if set("*?[") & {*pattern}
        else pattern in name.lower() or _has_words(name, pattern)
        for pattern in map(str.lower, patterns)
    )


def _has_words(name: str, short: str) -> bool:
    """Return whether a name has the words of a short one in their order, beginning with the first.

    >>> _has_words("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "mma.m16n8k8.f32")
    True
    """
    first, *further = name.lower().split(".")
    wanted, *rest = short.split(".")
    words = iter(further)
    return bool(rest) and first == wanted and all(word in words for word in rest)


def _write_kinds(format: str) -> str:
    """Return a line for each kind: how it is given, and how many names it has."""
    rows = [
        (kind.name, kind.argument or f"a TOML file of {kind.plural}", len(kind.list_names())) for kind in kinds.all()
    ]
    if format == "json":
        return (
            json.dumps({"kinds": [{"kind": name, "given": given, "names": count} for name, given, count in rows]})
            + "\n"
        )
    width = max(len(name) for name, *_ in rows)
    lines = [f"{name:<{width}}  {given}{f'; {count} names' if count else ''}" for name, given, count in rows]
    return "".join(f"{line}\n" for line in lines)


def _write_names(selected: Mapping[str, Sequence[str]], format: str) -> str:
    """Return the names under the plural of their kind; a single kind needs no head, so a shell can loop over it."""
    if format == "json":
        return json.dumps(dict(selected), indent=1) + "\n"
    if len(selected) == 1:
        return "".join(f"{name}\n" for names in selected.values() for name in names)
    return "\n".join(f"{plural}:\n" + "".join(f"  {name}\n" for name in names) for plural, names in selected.items())


def _parser() -> argparse.ArgumentParser:
    parser = arguments.Parser(prog="lanecheck list", description=DESCRIPTION, epilog=EPILOG, formatter_class=Help)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="a part of a name, or a glob")
    parser.add_argument(
        "--kind", action="append", default=[], metavar="KIND", help="only names of this kind; repeatable"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to write it")
    arguments.add_output(parser, "write it there instead of stdout")
    return parser
