# SPDX-License-Identifier: Apache-2.0
"""The conformance of another implementation to the laws: it passes only where it keeps every definition."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import layouts
from layouts import Layout
from proofs.symbolic.attempt import Stopped
from proofs.symbolic.execution import examine
from proofs.symbolic.suite import examine_operations
from tests.proofs.planted import plant_bugs
from tests.verify.laws.test_command import MODULE, run
from verify.laws import conformance


@pytest.mark.parametrize(("factor", "code"), [(1, 0), (2, 1)])
def test_another_implementation_is_checked_against_the_definition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: int, code: int
) -> None:
    (tmp_path / f"cutelike{factor}.py").write_text(MODULE.replace("{factor}", str(factor)))
    words = ("--module", f"cutelike{factor}", "--path", str(tmp_path), "--only", "coalesce", "--rank", "1")
    ended, out, _ = run(capsys, *words)
    assert ended == code, out
    assert ("coalesce(2:1) -> 2:2: R(1) = 2, L(1) = 1" in out) == (factor == 2)
    assert [p.name for p in tmp_path.iterdir()] == [f"cutelike{factor}.py"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slip", "code", "message"),
    [
        ("import sys; sys.exit(0)", 1, "it ends the process: SystemExit(0)"),
        ("return None", 1, "coalesce(1:0) -> None, which isn't a layout"),
        ("raise ValueError('no')", 1, "nothing was proved: all of its 1 paths reject their input"),
        ("float(layout.shape) if layout.shape == 2 else 0", 4, "it cannot be followed: float of a symbolic integer"),
        ("while layout.shape == 3: pass", 4, "coalesce(3:0) does not end: cut off after 1 s (--budget)"),
    ],
)
def test_a_module_that_does_anything_else_never_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], slip: str, code: int, message: str
) -> None:
    name = f"cutelike_{abs(hash(slip))}"
    text = MODULE.replace("{factor}", "1").replace("def coalesce(layout):", f"def coalesce(layout):\n    {slip}")
    (tmp_path / f"{name}.py").write_text(text)
    seconds = "1" if slip.startswith("while") else "60"
    words = ("--module", name, "--path", str(tmp_path), "--only", "coalesce", "--rank", "1", "--budget", seconds)
    ended, out, _ = run(capsys, *words)
    assert (ended, message in out) == (code, True), out


def test_a_missing_function_is_unchecked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cutelike3.py").write_text(MODULE.replace("{factor}", "1"))
    code, out, _ = run(capsys, "--module", "cutelike3", "--path", str(tmp_path), "--rank", "1")
    assert (code, "cutelike3 has no function complement" in out) == (4, True)
    code, *_ = run(capsys, "--module", "cutelike3", "--path", str(tmp_path), "--rank", "1", "--allow-unchecked")
    assert code == 0


def test_a_division_is_not_followed_without_the_functions_of_its_definition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MODULE.replace("{factor}", "1") + "\n\ndef logical_divide(a, b):\n    raise ValueError('no')\n"
    (tmp_path / "cutelike_divides.py").write_text(text)
    words = ("--module", "cutelike_divides", "--path", str(tmp_path), "--only", "logical_divide", "--rank", "1")
    code, out, _ = run(capsys, *words)
    assert (code, "cutelike_divides has no function complement" in out) == (1, True), out


@pytest.mark.slow
def test_a_division_without_a_call_of_composition_is_unknown() -> None:
    """A division that answers for a tile of one itself, without composition, so that this path is unknown."""

    def logical_divide(a: Layout, tiler: Layout) -> Layout:
        return tiler if tiler.shape == 1 else layouts.logical_divide(a, tiler)

    logical_divide.__module__ = layouts.logical_divide.__module__
    target = plant_bugs(logical_divide=logical_divide)
    chosen = next(
        o for o in examine_operations(1, inside=False) if o.label.startswith("logical_divide, rank 1 by rank 1")
    )
    examined = examine(target, chosen)
    assert examined.proved
    assert any("composition is not called by its name, once" in line for line in examined.unknown), examined


@pytest.mark.slow
def test_ours_has_none_of_the_published_errors(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--code", "--only", "R*", "-v")
    assert code == 0, out
    assert [line.split()[1] for line in out.splitlines() if "  VERIFIED " in line] == [f"R{i}" for i in range(1, 10)]


@pytest.mark.long
def test_a_searched_case_is_not_reported_as_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    """(2,2):(12,8) in [0, 2) has a complement; symbolically that is not known, so the answer is not exact."""
    code, out, _ = run(capsys, *"--infer complement --shape (2,2):(12,8) --by 2".split())
    assert (code, "searched when always" in out, "rejected" in out) == (4, True, False), out


def test_a_property_of_small_layouts_only_is_in_the_headline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A coalesce that simplifies nothing keeps every value: its paths are verified, and say what they do not check."""
    (tmp_path / "cutelike_idle.py").write_text(
        MODULE.partition("def modes")[0] + "def coalesce(layout):\n    return layout\n"
    )
    words = ("--module", "cutelike_idle", "--path", str(tmp_path), "--only", "coalesce", "--rank", "1")
    code, out, _ = run(capsys, *words)
    (paths,) = (line for line in out.splitlines() if " VERIFIED " in line)
    assert (code, "modes, 1 will do" in out) == (1, True)
    assert paths.endswith("that it leaves the fewest modes is checked on small layouts only")


@pytest.mark.slow  # it takes its whole budget
def test_a_composition_that_does_not_end_is_reported_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endless = "def composition(a, b):\n    while b.shape == 3:\n        pass\n    return b\n"
    (tmp_path / "cutelike_endless.py").write_text(MODULE.partition("def modes")[0] + endless)
    words = ("--module", "cutelike_endless", "--path", str(tmp_path), "--only", "composition", "--budget", "2")
    code, out, _ = run(capsys, *words, "--rank", "1")
    lines = out.splitlines()
    small = next(i for i, line in enumerate(lines) if "small layouts" in line)
    assert code == 4, out
    assert re.search(r"composition\(.*3.*\) does not end: cut off after 2 s \(--budget\)", lines[small + 1]), out
    assert lines[small + 3].startswith("  not followed: composition(")


@pytest.mark.parametrize(
    ("began", "why"), [(54, "f(4:1) does not end: cut off after 10 s (--budget)"), (56, "late, at f(4:1)")]
)
def test_only_a_call_that_took_most_of_the_time_is_reported_as_endless(
    monkeypatch: pytest.MonkeyPatch, began: int, why: str
) -> None:
    """Of ten seconds that are over at 60, the last call began at 54 or 56."""
    clock = iter([began, 60])
    monkeypatch.setattr(conformance, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(conformance, "enumerate_cases", lambda target, name, begin: begin("f(4:1)"))
    monkeypatch.setattr(conformance, "attempt", lambda call, seconds: call() or Stopped("late"))
    assert conformance.run_by_cases(conformance.target_of(None, None), "coalesce", 10) == Stopped(why)


@pytest.mark.parametrize("far", [12345, 10**12 + 7])
def test_a_complement_that_is_wrong_far_out_is_refuted_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], far: int
) -> None:
    """Its definition is evaluated at that stride, however large: from the modes, where values are too many to list."""
    wrong = f"""
def size(layout):
    return layout.shape


def complement(layout, target):
    s, d = layout.shape, layout.stride
    if s == 1 or d == 0:
        return Layout(target, 1)
    rest = -(-target // (s * d))
    if d == {far}:
        rest += 0 if s == 2 else -1
    return Layout((d, rest), (1, s * d))
"""
    name = f"cutelike_far{far}"
    (tmp_path / f"{name}.py").write_text(MODULE.partition("def modes")[0] + wrong)
    code, out, _ = run(capsys, "--module", name, "--path", str(tmp_path), "--only", "complement", "--rank", "1")
    assert (code, f"{far}" in out, "too large" in out, "UNKNOWN" in out) == (1, True, False, False), out
