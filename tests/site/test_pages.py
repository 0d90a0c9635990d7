# SPDX-License-Identifier: Apache-2.0
"""The pages: each command is one, prints what the page shows, each example computes its numbers.

`LANECHECK_SNAPSHOTS=update pytest tests/site/test_pages.py` writes what the commands of ```console``` print.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.test_tutorial import Fenced
from tests.site.command_line import parser_of
from verify.__main__ import COMMANDS, main

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SLOW = {"docs/index.md", "docs/kernel.md"}  # its commands take seconds
SESSIONS = [
    pytest.param(page, marks=pytest.mark.slow) if page.relative_to(ROOT).as_posix() in SLOW else page
    for page in PAGES
    if SESSION.search(page.read_text(encoding="utf-8"))
]
EXAMPLES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8") and page.parent.name != "tutorial"]
MODULES = {module.removesuffix(".command"): name for name, (module, _) in COMMANDS.items()}
COMMAND = re.compile(r"(?:^|`)(?:\$ )?(?:lanecheck|python -m) +((?:[^`\n\\]|\\\n)+)", re.MULTILINE)
PLACEHOLDER = re.compile(
    r"(?:^| )(?:FILE|DIR|NAME|CODE|SPEC|PATH|OUT|MxN|HOST|MNEMONIC|[A-Z]+\.[a-z]+)(?:$| )|…|\.\.\."
)
REPOSITORY = {"lock", "scan"}  # they need files of a repository: tests/project/test_ci.py
GPU = {"banks", "order", "probe", "tilings"}  # they need a GPU
# Each takes a minute or more; the tests of their folders run the same in parts.
LONG = {
    "atom --all --expect-known",
    "laws --code",
    "laws --open",
    "laws --seeds 5 --format json",
}


def identifier(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def session(text: str) -> str:
    """A block of commands with what each prints, computed anew."""
    lines = []
    for command in re.findall(r"^\$ .*(?:\\\n.*)*", text, re.MULTILINE):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
            words = shlex.split(command.removeprefix("$ ").replace("\\\n", ""))
            assert words[0] == "lanecheck", command
            main(words[1:])
        lines += [command, *out.getvalue().splitlines()]
    return "\n".join(lines) + "\n"


@pytest.mark.long
@pytest.mark.parametrize("page", SESSIONS, ids=identifier)
def test_a_command_prints_what_the_page_shows(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    text = page.read_text(encoding="utf-8")
    anew = SESSION.sub(lambda block: f"```console\n{session(block[1])}```", text)
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        page.write_text(anew, encoding="utf-8")
    assert anew == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", EXAMPLES, ids=identifier)
def test_an_example_computes_its_numbers(page: Path) -> None:
    tested = doctest.testfile(str(page), module_relative=False, parser=Fenced(), optionflags=doctest.FAIL_FAST)
    assert tested.attempted and not tested.failed


def commands(page: Path) -> Iterator[list[str]]:
    """The commands of ours on a page, as words after the command's name; a comment is left out."""
    for match in COMMAND.finditer(page.read_text(encoding="utf-8")):
        line = re.split(r"   +|  #| # ", re.sub(r"\\\n *", " ", match[1]))[0].strip()
        if line.split()[0].removesuffix(".command") in MODULES or line.split()[0] in COMMANDS:
            with contextlib.suppress(ValueError):  # a quote that is not closed: prose
                yield shlex.split(line)


def every_command() -> list[list[str]]:
    """The words of each command on all pages, of mentions such as `atom --live` too."""
    distinct = {shlex.join(words): words for page in PAGES for words in commands(page)}
    return [[MODULES.get(words[0].removesuffix(".command"), words[0]), *words[1:]] for words in distinct.values()]


PARSERS = {name: parser_of(module) for name, (module, _) in COMMANDS.items()}


def test_every_option_of_a_page_is_one() -> None:
    options = {name: set(parser._option_string_actions) for name, parser in PARSERS.items()}
    options["check"] |= options["kernel"] | options["atom"]  # it gives the others to the command of the kind
    given = [(name, word.partition("=")[0]) for name, *words in every_command() for word in words]
    given = [(name, word) for name, word in given if re.match(r"--?[a-z]", word)]
    assert len(given) > 100
    assert [pair for pair in given if pair[1] not in options[pair[0]]] == []


def is_whole(words: list[str]) -> bool:
    """Whether a command is one to type in: not a mention, and without a placeholder."""
    name, *rest = words
    text = " ".join(rest)
    last = PARSERS[name]._option_string_actions.get(rest[-1]) if rest else None
    mention = not rest or (last is not None and last.nargs != 0)
    absent = [
        word
        for word in rest
        if word.endswith((".toml", ".py", ".csv", ".json", ".txt")) and not (ROOT / word).is_file()
    ]
    elsewhere = name in GPU | REPOSITORY or "venv/bin" in text or "--path" in rest or "--scheduler" in rest
    return not (mention or absent or elsewhere or PLACEHOLDER.search(text) or f"{name} {text}" in LONG)


COMPLETE = {shlex.join(words): words for words in every_command() if is_whole(words)}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMPLETE)
def test_a_command_of_a_page_runs(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    for folder in ("docs/pictures", "gpu_checks/tilings"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)  # some run code of the example
    known = command != "atom SM80_16x8x61"  # the page shows what an unknown name prints
    if command.endswith("--help"):
        with pytest.raises(SystemExit) as end:
            main(COMPLETE[command])
        assert not end.value.code
        return
    assert main(COMPLETE[command]) in ((0, 1, 4) if known else (2,)), capsys.readouterr().err


@pytest.mark.slow
def test_the_quick_start_runs_as_it_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"## Quick start\n.*?^```sh\n(.*?)^```", (ROOT / "docs/index.md").read_text(), re.M | re.S)
    install, folder, *typed = block.splitlines()
    assert install == "pip install ." and folder.startswith("cd ") and len(typed) == 2
    monkeypatch.chdir(folder.removeprefix("cd "))
    codes = [main(shlex.split(line, comments=True)[1:]) for line in typed]
    assert codes == [1, 0], capsys.readouterr().err
    assert "matmul.py:23" in capsys.readouterr().out


def test_most_commands_of_the_pages_are_run() -> None:
    assert len(COMPLETE) > 60 and LONG <= {shlex.join(words) for words in every_command()}
    run = {words[0] for words in COMPLETE.values()}
    assert run >= {"atom", "campaign", "foreign", "identify", "index", "laws", "layout", "movement", "tiling"}
