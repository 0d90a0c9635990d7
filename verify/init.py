# SPDX-License-Identifier: Apache-2.0
"""`lanecheck init`: write the file of a claim, an atom or a map by asking; options answer what is not asked."""

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
from verify.core.wording import in_words
from verify.kind import Question, Template

DESCRIPTION = """Write a file to start from: the claim of a kernel, an atom, or a map. On a terminal it asks for what,
and for each part; an option answers before it is asked. Without a terminal, or in CI, it never asks: the options must
answer everything. The answers are read as `lanecheck check` reads the file, so what it writes can be checked at once. A
file that exists is never written."""
EPILOG = f"""example:
  lanecheck init
  lanecheck init claim gemm.toml --kernel gemm.ptx
  lanecheck init atom mine.toml

{RULE}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file that the arguments name; return the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> Exit:
    options = _parser().parse_args(argv)
    template = _choose_template(options.what)
    given = {name: value for name in _questions() if (value := getattr(options, name)) is not None}
    own = [question.key for question in template.questions]
    if extra := next((name for name in given if name not in own), ""):
        raise UsageError(
            f"--{extra}: isn't asked of {_article(template.name)} {template.name}; its options are --{', --'.join(own)}"
        )
    file = options.file or _choose_file(template)
    _check_absent(file)  # before anything is asked
    answers, text = _fill(template, given)
    _check_absent(file)
    output.write(text, file)
    output.write(f"wrote {file}; now: {template.then(answers).format(shlex.quote(file))}\n", None)
    return Exit.OK


def _choose_template(name: str | None) -> Template:
    """Return the template of a name; without one the user is asked. Raises UsageError for a name that none has."""
    templates = _templates()
    listed = in_words([*templates], "or")
    if name is None and _can_ask():
        print("".join(f"  {template.name:<6} {template.of}\n" for template in templates.values()), end="")
    while name is None and (answer := _ask(f"what do you have? {listed}")) is not None:
        if answer in templates:
            name = answer
        else:
            print(f"give {listed}{nearest(answer, [*templates])}", file=sys.stderr)
    if name is None or name not in templates:
        hint = nearest(name, [*templates]) if name else ""
        raise UsageError(f"init what? Give {listed}, and the FILE to write{hint}")
    return templates[name]


def _choose_file(template: Template) -> str:
    """Ask for the file to write until it names none that exists. Raises UsageError if nobody can be asked."""
    follows = f"{template.name}.toml"
    while (file := _ask("the file to write", "" if os.path.lexists(follows) else follows)) is not None:
        if file and not os.path.lexists(file):
            return file
        print(f"{file or follows} exists, and is left as it is", file=sys.stderr)
    raise UsageError(f"which file? Give FILE: lanecheck init {template.name} FILE.toml")


def _check_absent(file: str) -> None:
    """Raise UsageError if there is such a file, or anything else of its name."""
    if os.path.lexists(file):
        raise UsageError(f"{file} exists, and is left as it is: give another name")


def _templates() -> dict[str, Template]:
    """Return the files that can be begun, by their names."""
    listed = [import_module(kind.template).TEMPLATE for kind in kinds.all() if kind.template]
    return {template.name: template for template in listed}


def _questions() -> dict[str, Question]:
    """Return the questions of all templates, by their keys."""
    return {question.key: question for template in _templates().values() for question in template.questions}


def _fill(template: Template, given: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    """Return the answers, by the options and by asking, and the file's text; what is wrong is asked for again."""
    questions = {question.key: question for question in template.questions}
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

    Raises UsageError if nobody can be asked, the part is needed, and nothing follows.
    """
    while (answer := _ask(question.asks, follows or "")) is not None:
        if answer or not question.needed:
            return answer
        print(f"{question.key}: this can't be left out", file=sys.stderr)
    if question.needed and not follows:
        raise UsageError(f"give --{question.key}: {question.asks}")
    return follows or ""


def _ask(words: str, follows: str = "") -> str | None:
    """Ask for a line; an empty one is what follows. None if nobody can be asked, or no more is answered."""
    if not _can_ask():
        return None
    try:
        return input(f"{words}{f' [{follows}]' if follows else ''}: ").strip() or follows
    except EOFError:
        return None


def _can_ask() -> bool:
    """Whether somebody is at the other end of stdin: a terminal, but not that of CI, where nobody would answer."""
    return sys.stdin is not None and sys.stdin.isatty() and not os.environ.get("CI")


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _parser() -> argparse.ArgumentParser:
    parser = arguments.Parser(prog="lanecheck init", description=DESCRIPTION, epilog=EPILOG, formatter_class=Help)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    templates = _templates()
    parser.add_argument("what", nargs="?", metavar="WHAT", help=f"what to begin: {in_words([*templates], 'or')}")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the file to write, which may not exist")
    groups: dict[str, argparse._ArgumentGroup] = {}
    for key, question in _questions().items():
        having = [
            template.name for template in templates.values() if key in (asked.key for asked in template.questions)
        ]
        title = f"of {in_words([f'{_article(name)} {name}' for name in having], 'or')}"
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        groups[title].add_argument(f"--{key}", metavar="TEXT", help=question.asks.replace("%", "%%"))
    return parser
