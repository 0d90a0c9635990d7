# SPDX-License-Identifier: Apache-2.0
"""An interrupted run reports what it has found and how much is missing, and passes in no format."""

import json
import os
import pkgutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from proofs.laws.decide import decide_laws
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.core.errors import Exit
from verify.laws import command as laws
from verify.laws import report
from verify.movement import command as movement
from verify.mutate import command as mutate
from verify.tiling import command as tiling

ROOT = Path(__file__).parents[3]
ATOMS = ["SM80_16x8x16"]  # eleven of them


def interrupt(how: str) -> None:
    if how == "SIGINT":
        raise KeyboardInterrupt
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait()  # for the handler


@pytest.fixture(params=["SIGINT", "SIGTERM"])
def at_third(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[object, str], None]:
    """Interrupt the third call of a function."""

    def patch(owner: object, name: str) -> None:
        called, plain = [], getattr(owner, name)

        def cut(*words: object, **options: object) -> object:
            called.append(words)
            if len(called) == 3:
                interrupt(request.param)
            return plain(*words, **options)

        monkeypatch.setattr(owner, name, cut)

    return patch


def test_text_says_how_many_are_missing(at_third, capsys: pytest.CaptureFixture[str]) -> None:
    at_third(AtomChecker, "verify")
    assert atom.main(ATOMS) == 130
    lines = capsys.readouterr().out.splitlines()
    assert "2 subjects: 2 verified" in lines[-1]
    assert lines[-1].endswith("; interrupted: 9 subjects not verified; exit 130")


def test_json_is_marked_incomplete(at_third, capsys: pytest.CaptureFixture[str]) -> None:
    at_third(AtomChecker, "verify")
    assert atom.main([*ATOMS, "--format", "json"]) == 130
    document = json.loads(capsys.readouterr().out)
    assert (document["complete"], document["missing"], document["exit"], len(document["subjects"])) == (
        False,
        9,
        130,
        2,
    )


def test_a_whole_run_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["SM61_DP4A", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["complete"], document["missing"]) == (True, 0)


def test_junit_has_an_error(at_third, capsys: pytest.CaptureFixture[str]) -> None:
    at_third(AtomChecker, "verify")
    assert atom.main([*ATOMS, "--format", "junit"]) == 130
    suite = ElementTree.fromstring(capsys.readouterr().out)[0]
    assert suite.get("errors") == "1"
    assert suite.find("testcase[@name='complete']/error").get("message") == "interrupted: 9 subjects not verified"


def test_html_says_it(at_third, capsys: pytest.CaptureFixture[str]) -> None:
    at_third(AtomChecker, "verify")
    assert atom.main([*ATOMS, "--format", "html"]) == 130
    assert "interrupted: 9 subjects not verified" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "patched", "words", "missing"),
    [
        (tiling, "verify.tiling.command.case", ["examples/tilings.toml"], "subjects"),
        (movement, "verify.movement.properties.MovementChecker.case", ["examples/movement.toml"], "subjects"),
        (laws, "verify.laws.properties.LawChecker.verdicts", ["--solver", "z3", "--jobs", "1"], "subjects"),
        (laws, "verify.laws.conformance.enumerate_cases", ["--code", "--only", "c*", "--rank", "1"], "subjects"),
        (atlas, "verify.atlas.rows.CountedRows.count", ATOMS, "instructions"),
        (mutate, "verify.mutate.score.score_one", ["SM80_16x8x16_F32F16F16F32_TN"], "origins"),
    ],
    ids=["tiling", "movement", "laws", "laws --code", "atlas", "mutate"],
)
def test_every_command_prints_what_it_has(
    command, patched: str, words: list[str], missing: str, at_third, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(ROOT)
    owner, _, name = patched.rpartition(".")
    at_third(pkgutil.resolve_name(owner), name)
    assert command.main(words) == 130
    out = capsys.readouterr().out
    assert f" {missing} not verified" in out and "interrupted: " in out


@pytest.mark.parametrize("command", [atlas, mutate])
def test_the_other_formats_are_marked_too(command, at_third, capsys: pytest.CaptureFixture[str]) -> None:
    at_third(AtomChecker, "judge")
    assert command.main(["SM80_16x8x16", "--format", "json"]) == 130
    document = json.loads(capsys.readouterr().out)
    assert document["complete"] is False and document["missing"] > 0


def test_an_interruption_before_anything_is_found_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.atom.selection.pool", stopped)
    assert atom.main(ATOMS) == Exit.INTERRUPTED
    assert capsys.readouterr() == ("", "lanecheck: interrupted\n")


def test_a_mutant_that_was_interrupted_is_no_survivor(at_third, capsys: pytest.CaptureFixture[str]) -> None:
    at_third(AtomChecker, "judge")
    assert mutate.main(["SM80_16x8x16_F32F16F16F32_TN"]) == 130
    assert capsys.readouterr().out.endswith(" origins not verified\n")


@pytest.mark.slow  # its reports are tested with those of the other commands
def test_interrupted_processes_of_laws_print_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    for _ in range(3):
        running = decide_laws(report.names(False), ("z3",), 1, jobs=2)
        next(running)
        with pytest.raises(KeyboardInterrupt):
            running.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
    assert failures == []


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="a child process is seen in /proc alone")
def test_processes_that_are_just_starting_ignore_ctrl_c() -> None:
    """Ctrl-C arrives at all processes, also those that have not executed their first line."""
    words = [sys.executable, "-m", "verify.laws", "--solver", "z3", "--jobs", "3"]
    run = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    born, known = Path(f"/proc/{run.pid}/task/{run.pid}/children"), set[str]()
    while run.poll() is None and len(known) < 4:  # the first keeps count of what is shared
        children = born.read_text().split()
        threading.Event().wait(0.04)  # until Python answers signals there, and no longer
        for child in {*children} - known:
            os.kill(int(child), signal.SIGINT)
        known.update(children)
    run.terminate()
    assert len(known) == 4 and "Traceback" not in run.communicate()[1]
