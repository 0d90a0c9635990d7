# SPDX-License-Identifier: Apache-2.0
"""`lanecheck init claim|map FILE`: write the file of a claim or a map by asking; options answer what is not asked."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from lanecheck.console.command import Help, Version
from lanecheck.console.exits import RULE
from verify import kinds
from verify.cli import arguments, ending, output
from verify.core.errors import Exit, SpecError, UsageError
from verify.core.names import nearest
from verify.kind import Question, Template

DESCRIPTION = """Write a file to start from: the claim of a kernel, or a map. It asks for each part; an option answers
before it is asked, and without a terminal the options must answer everything. The answers are read as `lanecheck check`
reads the file, so what it writes can be checked at once. A file that exists is never written."""
EPILOG = f"""example:
  lanecheck init claim gemm.toml --kernel gemm.ptx
  lanecheck init map mine.toml --operand C

{RULE}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file that the arguments name; return the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> Exit:
    options = _parser().parse_args(argv)
    templates = _templates()
    template = templates.get(options.what or "")
    if template is None:
        listed = " or ".join(templates)
        hint = nearest(options.what, list(templates)) if options.what else ""
        raise UsageError(f"init what? Give {listed}, and the FILE to write{hint}")
    given = {name: value for name in _questions() if (value := getattr(options, name)) is not None}
    own = [one.key for one in template.questions]
    if other := next((name for name in given if name not in own), ""):
        raise UsageError(f"--{other}: isn't asked of a {template.name}; its options are --{', --'.join(own)}")
    if not options.file:
        raise UsageError(f"which file? Give FILE: lanecheck init {template.name} FILE.toml")
    _check_absent(options.file)  # before anything is asked
    answers, text = _fill(template, given)
    _check_absent(options.file)
    output.write(text, options.file)
    output.write(f"wrote {options.file}; now: {template.then(answers).format(shlex.quote(options.file))}\n", None)
    return Exit.OK


def _check_absent(file: str) -> None:
    """Raise UsageError if there is such a file, or anything else of its name."""
    if os.path.lexists(file):
        raise UsageError(f"{file} exists, and is left as it is: give another name")


def _templates() -> dict[str, Template]:
    """Return the files that can be begun, by their names."""
    found = [import_module(kind.template).TEMPLATE for kind in kinds.all() if kind.template]
    return {template.name: template for template in found}


def _questions() -> dict[str, Question]:
    """Return the questions of all templates, by their keys."""
    return {one.key: one for template in _templates().values() for one in template.questions}


def _fill(template: Template, given: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    """Return the answers, by the options and by asking, and the file's text; what is wrong is asked for again."""
    questions = {one.key: one for one in template.questions}
    answers: dict[str, str] = {}
    while True:
        try:
            for key, question in questions.items():
                if key not in answers:
                    answers[key] = given[key] if key in given else _answer(question, template.derive(answers).get(key))
            return answers, template.write(answers)
        except SpecError as error:
            if error.key not in questions or error.key in given or not _can_ask():
                raise
            print(f"{error.key}: {error.problem}", file=sys.stderr)
            answers[error.key] = _answer(questions[error.key])


def _answer(question: Question, follows: str | None = None) -> str:
    """Ask for one part; an empty answer means what follows from those before, if anything does.

    Raises UsageError without a terminal, or at its end, if the part is needed and nothing follows.
    """
    while _can_ask():
        try:
            answer = input(f"{question.asks}{f' [{follows}]' if follows else ''}: ").strip()
        except EOFError:
            break
        if answer or follows or not question.needed:
            return answer or follows or ""
    if question.needed and not follows:
        raise UsageError(f"give --{question.key}: {question.asks}")
    return follows or ""


def _can_ask() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _parser() -> argparse.ArgumentParser:
    parser = arguments.Parser(prog="lanecheck init", description=DESCRIPTION, epilog=EPILOG, formatter_class=Help)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    parser.add_argument("what", nargs="?", metavar="WHAT", help=f"what to begin: {' or '.join(_templates())}")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the file to write, which may not exist")
    for template in _templates().values():
        group = parser.add_argument_group(f"of a {template.name}")
        for one in template.questions:
            group.add_argument(f"--{one.key}", metavar="TEXT", help=one.asks.replace("%", "%%"))
    return parser
