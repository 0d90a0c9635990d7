# SPDX-License-Identifier: Apache-2.0
"""Baselines: an earlier refutation fails no run, every other does; what is no baseline is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.atom.test_command import ENTRY, user_file
from tests.verify.kernel.test_safety import HEAD, REVERSE
from verify.__main__ import main as lanecheck

WRONG_B = "((4,8),(2,2)):((16,1),(8,32))"
ALSO_WRONG_B = "((4,8),(2,2)):((16,1),(8,40))"
RIGHT_B = "((4,8),(2,2)):((16,1),(8,64))"


def accept(tmp_path: Path, path: str) -> str:
    """Return the baseline of what a file has now."""
    made = str(tmp_path / "accepted.sarif")
    assert lanecheck(["atom", path, "--format", "sarif", "-o", made]) == 1
    return made


def test_an_accepted_refutation_fails_no_run_and_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(tmp_path, WRONG_B)
    baseline = accept(tmp_path, path)
    assert lanecheck(["atom", path, "--baseline", baseline]) == 0
    text = capsys.readouterr().out
    assert "REFUTED" in text and text.endswith("exit 0\n")
    assert f"\n  accepted by {baseline}\n" in text and f"; accepted by {baseline}: 1; " in text


def test_lines_may_move_and_another_error_of_the_operand_fails(tmp_path: Path) -> None:
    path = Path(user_file(tmp_path, WRONG_B))
    baseline = accept(tmp_path, str(path))
    path.write_text("\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert lanecheck(["atom", str(path), "--baseline", baseline]) == 0
    out_of_bounds = "((4,8),(2,2)):((16,1),(8,640))"
    path.write_text(ENTRY.format(number=0, B=out_of_bounds), encoding="utf-8")
    assert lanecheck(["atom", str(path), "--baseline", baseline]) == 1


@pytest.mark.long
def test_another_subject_fails_beside_an_accepted_one(tmp_path: Path) -> None:
    path = Path(user_file(tmp_path, WRONG_B))
    baseline = accept(tmp_path, str(path))
    with path.open("a", encoding="utf-8") as file:
        file.write(ENTRY.format(number=1, B=ALSO_WRONG_B))
    assert lanecheck(["atom", str(path), "--baseline", baseline]) == 1


def test_what_was_mended_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(tmp_path, WRONG_B)
    baseline = accept(tmp_path, path)
    user_file(tmp_path, RIGHT_B)
    assert lanecheck(["atom", path, "--baseline", baseline]) == 0
    assert "accepted by" in (text := capsys.readouterr().out) and ": 0 (1 of its findings are gone)" in text


@pytest.mark.long
def test_every_format_knows_what_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(tmp_path, WRONG_B)
    baseline = accept(tmp_path, path)
    said = {}
    for name in ("sarif", "github", "gcc", "junit", "html", "json"):
        assert lanecheck(["atom", path, "--baseline", baseline, "--format", name]) == 0, name
        said[name] = capsys.readouterr().out
    (result,) = json.loads(said["sarif"])["runs"][0]["results"]
    assert result["level"] == "note"
    assert result["suppressions"] == [{"kind": "external", "justification": f"accepted by {baseline}"}]
    assert "::notice" in said["github"] and ": note: " in said["gcc"]
    assert 'failures="0"' in said["junit"] and f"accepted by {baseline}" in said["junit"]
    assert f"accepted by {baseline}" in said["html"]
    assert json.loads(said["json"])["accepted"] == {"file": baseline, "subjects": ["MINE_0"], "gone": 0}


def test_a_new_baseline_keeps_what_an_old_one_accepts(tmp_path: Path) -> None:
    path = user_file(tmp_path, WRONG_B)
    baseline = accept(tmp_path, path)
    newer = str(tmp_path / "newer.sarif")
    assert lanecheck(["atom", path, "--baseline", baseline, "--format", "sarif", "-o", newer]) == 0
    assert lanecheck(["atom", path, "--baseline", newer]) == 0


def test_a_file_that_cannot_be_read_is_not_accepted(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[", encoding="utf-8")
    baseline = str(tmp_path / "accepted.sarif")
    assert lanecheck(["atom", str(broken), "--format", "sarif", "-o", baseline]) == 2
    assert lanecheck(["atom", str(broken), "--baseline", baseline]) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read"),
        ("{", ":1:2: Expecting property name"),
        ("[]", "isn't a SARIF log of Lanecheck"),
        ('{"runs": []}', "isn't a SARIF log of Lanecheck"),
        ('{"runs": [{"tool": {"driver": {"name": "CodeQL"}}, "results": []}]}', "isn't a SARIF log of Lanecheck"),
        (
            '{"runs": [{"tool": {"driver": {"name": "Lanecheck"}}, '
            '"results": [{"ruleId": "size", "level": "error", "partialFingerprints": {}}]}]}',
            "isn't a SARIF log of Lanecheck",
        ),
    ],
)
def test_what_is_no_baseline_is_refused(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "accepted.sarif"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        lanecheck(["layout", "4:1", "--baseline", str(file)])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert words in said and "Traceback" not in said


LAUNCH = ["--safety", "--grid", "1", "--block", "64", "--param"]
RACE = REVERSE.replace("bar.sync 0;", "").replace("sub.u32 %r6, 252, %r4;", "xor.b32 %r6, %r4, 128;")
ARRAYS = ["A=const f32[128]", "--param", "C=f32[128]", "--seed", "1"]


def list_fingerprints(tmp_path: Path, body: str, launch: list[str]) -> list[str]:
    """Return the fingerprints of what is wrong with a kernel."""
    (tmp_path / "k.ptx").write_text(f"{HEAD}{body}\nret;\n}}\n")
    log = tmp_path / "log.sarif"
    assert lanecheck(["kernel", str(tmp_path / "k.ptx"), *launch, "--format", "sarif", "-o", str(log)]) == 1
    return [result["partialFingerprints"]["finding/v1"] for result in json.loads(log.read_text())["runs"][0]["results"]]


def test_what_a_kernel_does_wrong_is_the_same_with_other_sizes_and_seeds_and_no_other_line(tmp_path: Path) -> None:
    large, small = [*LAUNCH, *ARRAYS], [*LAUNCH, *ARRAYS[:-1], "9"]
    large[4] = "128"
    assert list_fingerprints(tmp_path, RACE, large) == list_fingerprints(tmp_path, RACE, small)
    assert list_fingerprints(tmp_path, RACE, large) == list_fingerprints(tmp_path, f"\n\n{RACE}", small)
    moved = RACE.replace("ld.shared.u32 %r8, [%r7]", "ld.shared.u32 %r8, [%r7+0]")
    assert list_fingerprints(tmp_path, RACE, large) != list_fingerprints(tmp_path, moved, large)


def test_a_new_race_below_an_accepted_one_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    launch = [*LAUNCH, *ARRAYS]
    (accepted,) = list_fingerprints(tmp_path, RACE, launch)
    baseline = str(tmp_path / "accepted.sarif")
    (tmp_path / "log.sarif").rename(baseline)
    assert lanecheck(["kernel", str(tmp_path / "k.ptx"), *launch, "--baseline", baseline]) == 0
    both = list_fingerprints(tmp_path, f"{RACE}\nst.shared.u32 [%r5], %r8;", launch)
    assert len(both) == 2 and both[0] == accepted != both[1]
    capsys.readouterr()
    assert lanecheck(["kernel", str(tmp_path / "k.ptx"), *launch, "--baseline", baseline]) == 1
    assert "accepted.sarif: 0;" in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_a_second_narrowing_of_a_kernel_is_new_beside_an_accepted_one(tmp_path: Path) -> None:
    claim = tmp_path / "k.toml"
    claim.write_text(
        'grid = 1\nblock = 64\nclaim = "C[m] = A[m] + 1"\nsizes = { M = 64 }\nparams = ["A", "C"]\n[arrays]\n'
        'A = { dims = "m", type = "f32" }\nC = { dims = "m", type = "f32", out = true }\n'
    )
    narrow = "cvt.rn.f16.f32 %h1, %f2; cvt.f32.f16 %f2, %h1;\n"
    once = f"ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, 0f3F800000;\n{narrow}st.global.f32 [%d5], %f2;"
    launch = ["--claim", str(claim), "--seed", "1"]
    first = list_fingerprints(tmp_path, once, launch)
    again = once.replace("st.global", "cvt.rn.bf16.f32 %h2, %f2; cvt.f32.bf16 %f2, %h2;\nst.global")
    two = list_fingerprints(tmp_path, again.replace(".target sm_80", ".target sm_90"), launch)
    assert len(first) == 1 and set(two) != set(first)
