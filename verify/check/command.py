# SPDX-License-Identifier: Apache-2.0
"""`lanecheck check WHAT…`: verify whatever an argument names, by the command of its kind."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from lanecheck.console.command import Help, Version, add_execution
from lanecheck.console.exits import RULE
from layouts.toml.errors import AtomFileError
from verify import kinds
from verify.cli import arguments, ending, inputs, output
from verify.cli.batch import verify_each
from verify.core.errors import UsageError
from verify.core.settings import NAME
from verify.core.wording import in_words
from verify.kind import Kind, Resources

OWN = {"--kind", "-h", "--help", "--version"}  # options that come without WHAT
MISSING = "check what? Give a file, a folder, a layout in quotes, or a name; or list files in [tool.lanecheck]"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify what the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0].endswith(".py") and (scripts := import_module("verify.capture.command")).is_script(words):
        return int(scripts.main(words))
    if not words or (words[0].startswith("-") and not OWN.intersection(word.partition("=")[0] for word in words)):
        arguments.note_destination(words)
        return int(import_module("verify.check.project").verify_project(words))
    what, rest, name = _split(words)
    kind = kinds.of(name) if name else _agree(what)
    if kind.folders and (unread := list_unread(what)):
        print(f"lanecheck: not read, because a folder means its headers: {in_words(unread)}", file=sys.stderr)
    if kind.command:
        return int(import_module(kind.command).main([*kind.arguments(what), *rest]))
    if kind.read is None or kind.verifier is None:
        raise UsageError(f"{what[0]:.200} is {kind.singular}, which nothing verifies: `lanecheck show` draws it")
    return _verify(kind, what, rest)


def _split(words: list[str]) -> tuple[list[str], list[str], str]:
    """Return what is to be verified, the options of its command, and the value of --kind."""
    arguments.note_destination(words)
    end = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    own, rest = words[:end], words[end:]
    for at, word in enumerate(rest):
        if word.partition("=")[0] == "--kind":
            count = 1 if "=" in word else 2
            own, rest = own + rest[at : at + count], rest[:at] + rest[at + count :]
            break
    options = parser().parse_args(own if end else own + rest)  # without WHAT they can only be those of every command
    if not options.what:
        raise UsageError(MISSING)
    return options.what, rest, options.kind or ""


def list_unread(folders: Sequence[str]) -> list[str]:
    """Return the TOML files of subjects that lie in folders whose headers are verified, as globs."""
    files = [path for folder in folders if Path(folder).is_dir() for path in sorted(Path(folder).rglob("*.toml"))]
    return [f"{folder}/*.toml" for folder in dict.fromkeys(path.parent for path in files if _has_subjects(path))]


def _has_subjects(path: Path) -> bool:
    try:
        kinds.of_file(path)
    except (AtomFileError, UsageError):
        return False
    return path.name != NAME


def describe() -> str:
    """Return what may be checked, by the rows of the kinds."""
    files = [kind.plural for kind in kinds.all() if kind.signs]
    ways = [*(kind.argument for kind in kinds.all() if kind.argument), f"a TOML file of {in_words(files)}"]
    return (
        f"Verify WHAT: {in_words(ways, 'or')}. Its kind is recognized by its content or its spelling. "
        "Options after WHAT are those of that kind's command."
    )


def list_examples() -> str:
    """Return a command for each kind, in its row."""
    lines = (f"  lanecheck check {join_words(kind.example)}" for kind in kinds.all() if kind.example)
    return "\n".join(("examples:", *lines))


def join_words(words: Sequence[str]) -> str:
    """Return words as a shell takes them, in double quotes if they need any.

    >>> join_words(["(4,8):(8,1)", "--onto", "4x8"])
    '"(4,8):(8,1)" --onto 4x8'
    """
    return " ".join(word if re.fullmatch(r"[\w./=-]+", word) else f'"{word}"' for word in words)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments that are not of the kind's command."""
    epilog = f"{list_examples()}\n\n{RULE}"
    made = arguments.Parser(prog="lanecheck check", description=describe(), epilog=epilog, formatter_class=Help)
    made.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    made.add_argument("what", nargs="*", metavar="WHAT", help="a file, a folder, a layout, a name")
    names = [kind.name for kind in kinds.all()]
    made.add_argument(
        "--kind", metavar="KIND", help=f"which kind it is, where two recognize it: {in_words(names, 'or')}"
    )
    return made


def _agree(what: Sequence[str]) -> Kind[Any]:
    """Return the one kind of all arguments. Raises UsageError if they are of several."""
    by_argument = {argument: kinds.recognize(argument) for argument in what}
    first, *rest = dict.fromkeys(by_argument.values())
    if rest:
        listed = ", ".join(f"{argument} is {kind.singular}" for argument, kind in by_argument.items())
        raise UsageError(f"{listed:.400}: check one kind at a time")
    return first


def _verify(kind: Kind[Any], files: Sequence[str], words: Sequence[str]) -> int:
    """Verify the files of a kind that has no command of its own."""
    made = arguments.parser("lanecheck check", f"Verify {kind.plural}.", f"FILE of {kind.plural}")
    arguments.add_statements(made, kind.plural)
    add_execution(made)
    arguments.add_require(made)
    options = made.parse_args([*files, *words])
    if kind.read is None or kind.verifier is None:
        raise TypeError(f"{kind.plural} are not verified")
    loaded = inputs.load(options.files, kind.read, kind.table).only(options.only, kind.noun)
    if options.list:
        return output.list_names(loaded, options)
    if kind.runs_code is not None and any(map(kind.runs_code, loaded.items)):
        arguments.check_execution(options.allow_exec)
    report = verify_each(loaded.items, kind.verifier(Resources()), kind.plural, options.require, quiet=options.quiet)
    return output.report(report, options, loaded)
