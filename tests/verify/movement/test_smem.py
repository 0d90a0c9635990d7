# SPDX-License-Identifier: Apache-2.0
"""`lanecheck movement --shared LAYOUT`: room, whole accesses, disjoint writes, bank conflicts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.verify.movement.arguments import COLUMN, COPIED, F16, ROWS, SW128, X4, access, by_property, check
from verify.movement import command as movement


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["(64,64):(64,1)", "--arch", "sm_90"], ""),
        (["(1816,64):(64,1)"], ""),  # 227 KiB to the byte
        (["(1817,64):(64,1)"], "the tile spans 232576 bytes; a CTA has 232448 (227 KiB) on sm_90"),
        (["(512,64):(64,1)", "--arch", "sm_75"], ""),
        (["(1817,64):(64,1)", "--arch", "sm_90a"], "a CTA has 232448 (227 KiB) on sm_90"),
        (["(513,64):(64,1)", "--arch", "sm_75"], "the tile spans 65664 bytes; a CTA has 65536 (64 KiB) on sm_75"),
        (["(512,64):(65,1)", "--arch", "sm_75"], "the tile spans 66558 bytes"),
    ],
)
def test_a_tile_must_lie_in_shared_memory(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, report = check(capsys, "--shared", *words, "--access", "(32,1):(1,1)", "--element", "16")
    room = by_property(report)["room"]
    assert room["status"] == ("REFUTED" if expected else "PROVED")
    assert expected in (room["counterexample"] or {"statement": ""})["statement"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (access(SW128, "--base", "2048"), ""),
        (access(SW128, "--base", "128"), "base 128 isn't a multiple of 1024 bytes, the swizzle's period"),
        (access(ROWS, "--how", "store", "--base", "8"), "base 8 isn't a multiple of 16 bytes, the width"),
        (access(SW128, "--base", str(219 * 1024)), ""),
        (access(SW128, "--base", str(220 * 1024)), "the tile ends at byte 233472; a CTA has 232448 (227 KiB) on sm_90"),
        (["--descriptor", SW128, "--element", "16", "--base", "1024"], ""),
        (["--descriptor", SW128, "--element", "16", "--base", "512"], "base 512 isn't a multiple of 1024 bytes"),
        (["--descriptor", "((8,8),(8,2)):((8,64),(1,512))", "--element", "16", "--base", "8"], "a multiple of 16"),
        (
            ["--from", X4, "--to", F16, "--shared", "Sw<3,3,3> o (16,16):(64,1)", "--base", "256"],
            "base 256 isn't a multiple of 1024",
        ),
    ],
)
def test_a_tile_starts_where_it_may(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, report = check(capsys, *words)
    verdicts = by_property(report)
    wrong = [(verdicts[prop]["counterexample"] or {"statement": ""})["statement"] for prop in ("base", "room")]
    assert expected in "".join(wrong) and bool(expected) == any(wrong)


@pytest.mark.long
@pytest.mark.parametrize(("element", "bases"), [("8", 4), ("16", 2), ("32", 1), ("64", 1)])
def test_wavefronts_are_counted_at_one_base(element: str, bases: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Every base within a word is checked; the wavefronts reported are those of the base with the conflict."""
    _, report = check(capsys, "--shared", ROWS, "--access", "(64,8):(1,64)", "--element", element)
    conflicts = by_property(report)["free_of_bank_conflicts"]
    isa = next(evidence for evidence in conflicts["evidence"] if evidence["check"] == "isa")
    taken, least = map(int, re.findall(r"\d+", conflicts["counterexample"]["damage"][0]))
    assert f"at base 0, {taken} wavefronts" in isa["method"]
    assert f"no conflict, {least} wavefronts" in conflicts["counterexample"]["repair"]
    assert isa["points"] == bases * 2 * 8  # two warps, eight values


def test_a_column_of_rows_is_an_eight_way_conflict_and_the_swizzle_repairs_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, report = check(capsys, *access(ROWS))
    wrong = by_property(report)["free_of_bank_conflicts"]
    assert code == 1 and {e["check"]: e["status"] for e in wrong["evidence"]} == dict.fromkeys(
        ("isa", "proof", "gpu"), "REFUTED"
    )
    counterexample = wrong["counterexample"]
    assert counterexample["statement"] == "T0 and T1 access words 0 and 32 of bank 0 in access 0"
    assert (
        counterexample["extent"] == "a 8-way conflict"
        and counterexample["repair"] == "Sw<3,3,3> of elements: no conflict, 4 wavefronts"
    )
    code, report = check(capsys, *access(f"Sw<3,3,3> o {ROWS}"))
    right = by_property(report)["free_of_bank_conflicts"]
    assert code == 0 and {e["status"] for e in right["evidence"]} == {"PROVED", "AGREES"}


def test_a_conflict_of_a_later_warp_is_reported_with_its_own_threads(capsys: pytest.CaptureFixture[str]) -> None:
    """Threads 0 to 39 access words 0 to 39, those from 40 on words 65 and up: the first warp has no conflict."""
    words = ["--access", "((40,2),1):((1,65),1)", "--element", "32", "--width", "32"]
    code, report = check(capsys, "--shared", "(128,1):(1,128)", *words)
    wrong = by_property(report)["free_of_bank_conflicts"]["counterexample"]
    assert code == 1 and wrong["inputs"] == {"thread": 33, "other": 40, "step": 0, "bank": 1}
    assert wrong["statement"] == "T33 and T40 access words 33 and 65 of bank 1 in access 0"


def test_a_xor_of_period_eight_does_not_serve_sixteen_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """Museum 22: 64-bit loads have phases of 16 rows, and rows 8 apart are swizzled alike."""
    words = ["--access", "(32,4):(1,64)", "--element", "16", "--width", "64"]
    code, report = check(capsys, "--shared", f"Sw<3,3,3> o {ROWS}", *words)
    wrong = by_property(report)["free_of_bank_conflicts"]["counterexample"]
    assert (
        code == 1 and wrong["extent"] == "a 2-way conflict" and wrong["statement"].startswith("T0 and T8 access words")
    )
    assert check(capsys, "--shared", f"Sw<4,2,4> o {ROWS}", *words)[0] == 0


@pytest.mark.parametrize("swizzle", ["Sw<2,3,3>", "Sw<3,2,3>", "Sw<3,3,4>", "Sw<3,4,3>"])
def test_mutants_of_the_swizzle_are_refuted(swizzle: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, *access(f"{swizzle} o {ROWS}"))
    assert code == 1 and report["subjects"][0]["status"] == "REFUTED"


def test_an_access_across_neighbours_is_not_whole(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, *access(ROWS, threads="(32,8):(64,1)"))
    verdicts = by_property(report)
    assert code == 1 and verdicts["free_of_bank_conflicts"]["status"] == "UNCHECKED"
    assert verdicts["whole_accesses"]["counterexample"]["statement"] == (
        "T0 V1 lies at element 64, V0 at 0: expected 1 further on"
    )
    assert check(capsys, *access("(64,64):(68,1)", threads="(32,8):(1,64)"))[0] == 1  # 136 bytes: no multiple of 16


@pytest.mark.parametrize(("stride", "status"), [(100, "PROVED"), (128, "REFUTED")])
def test_the_solver_needs_no_composition_of_the_layouts(
    stride: int, status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lane (3, 0) has index 27, whose digits carry: no layout is the composition of tile and access."""
    words = ["--access", "((4,2),2):((9,1),3)", "--element", "32", "--how", "store"]
    code, report = check(capsys, "--shared", f"(6,10):(1,{stride})", *words)
    verdicts = by_property(report)
    assert code == (status == "REFUTED") and verdicts["free_of_bank_conflicts"]["status"] == status
    for prop in ("whole_accesses", "disjoint", "free_of_bank_conflicts"):
        assert {e["check"]: e["status"] for e in verdicts[prop]["evidence"]}["proof"] == verdicts[prop]["status"]


def test_a_load_whose_phases_merge_is_checked_phase_by_phase(capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs of lanes share an address: eight lanes access 64 bytes, the next eight the same banks again."""
    threads = "((2,4,2,2),8):((0,128,1,2),16)"
    code, report = check(capsys, "--shared", "(16,64):(64,1)", "--access", threads, "--element", "16", "--width", "128")
    verdict = by_property(report)["free_of_bank_conflicts"]
    assert code == 0 and not verdict["contradiction"]
    assert [e["status"] for e in verdict["evidence"]][:2] == ["PROVED", "PROVED"]


def test_narrow_accesses_are_checked_at_every_byte_of_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes 0, 3, 132, 135 lie in words 0, 0, 33, 33; one byte further in 0, 1, 33, 34, and 1 and 33 conflict."""
    words = ["--access", "(4,1):(1,0)", "--element", "8"]
    code, report = check(capsys, "--shared", "((2,2),1):((3,132),0)", *words)
    verdict = by_property(report)["free_of_bank_conflicts"]
    assert code == 1 and not verdict["contradiction"]
    assert [e["status"] for e in verdict["evidence"]][:2] == ["REFUTED", "REFUTED"]
    assert check(capsys, "--shared", "((2,2),1):((3,136),0)", *words)[0] == 0


@pytest.mark.parametrize(
    ("how", "code", "expected"),
    [
        ("load", 0, "PROVED"),  # the lanes of a pair share their words
        ("store", 0, "PROVED"),
        ("cp.async", 1, "T0 and T1 both write word 0 of bank 0, and copies do not share a word in access 0"),
    ],
)
def test_copies_of_one_word_conflict_and_stores_do_not(
    how: str, code: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--access", "((2,16),8):((0,8),1)", "--element", "16", "--width", "128", "--how", how]
    exit_code, report = check(capsys, "--shared", "128:1", *words)
    free = by_property(report)["free_of_bank_conflicts"]
    assert exit_code == code and not free["contradiction"]
    assert {e["check"]: e["status"] for e in free["evidence"]}["proof"] == free["status"]
    assert expected in (free["status"], *([free["counterexample"]["statement"]] if code else []))


@pytest.mark.parametrize(("swizzle", "code"), [("Sw<3,3,3> o ", 0), ("", 1), ("Sw<2,3,3> o ", 1)])
def test_the_rows_of_matrices_are_stored_as_they_are_loaded(
    swizzle: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight rows of 16 bytes, 128 bytes apart: an H200 took as many wavefronts for stmatrix as for ldmatrix."""
    for how in ("ldmatrix", "stmatrix"):
        words = ["--access", "(32,8):(1,32)", "--element", "16", "--how", how]
        exit_code, report = check(capsys, "--shared", f"{swizzle}(32,64):(64,1)", *words)
        free = by_property(report)["free_of_bank_conflicts"]
        statuses = {e["check"]: e["status"] for e in free["evidence"]}
        assert exit_code == code and statuses["isa"] == statuses["proof"] == free["status"]
        assert statuses["gpu"] == {"Sw<3,3,3> o ": "AGREES", "": "REFUTED"}.get(swizzle, "UNCHECKED")


def test_a_gpu_gives_no_evidence_on_copies_of_fewer_than_three_wavefronts(capsys: pytest.CaptureFixture[str]) -> None:
    for bits, status in ((32, "UNCHECKED"), (64, "UNCHECKED"), (128, "AGREES")):
        count = bits // 32
        words = ["--access", f"(32,{count}):({count},1)", "--element", "32", "--width", str(bits), "--how", "cp.async"]
        code, report = check(capsys, "--shared", "128:1", *words)
        evidence = by_property(report)["free_of_bank_conflicts"]["evidence"][-1]
        assert code == 0 and evidence["status"] == status
        assert status == "AGREES" or "takes the time of at least 3 wavefronts" in evidence["reason"]


@pytest.mark.long
def test_a_copy_is_whole_on_both_operands_or_the_widest_whole_access_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Rows of 4096 elements begin at multiples of 16 bytes, rows of 1002 at multiples of 4."""
    tile = ["--shared", "Sw<2,3,3> o (128,32):(32,1)", *COPIED]
    code, report = check(capsys, *tile, "--global", "(128,32):(4096,1)")
    assert code == 0 and [v["status"] for v in report["subjects"][0]["verdicts"]] == ["PROVED"] * 5
    code, report = check(capsys, *tile, "--global", "(128,32):(1002,1)")
    far = report["subjects"][0]["verdicts"][0]
    assert code == 1 and far["counterexample"]["statement"] == "T4 V0 lies at element 1002, which isn't a multiple of 8"
    assert far["counterexample"]["damage"] == ["accesses of 32 bits are whole"]
    assert far["counterexample"]["repair"] is None  # with them, lanes conflict in banks
    narrow = [word if word != "128" else "32" for word in tile]
    code, report = check(capsys, *narrow, "--global", "(128,32):(1002,1)")
    assert report["subjects"][0]["verdicts"][0]["status"] == "PROVED"
    assert movement.main(shlex.split(far["counterexample"]["replay"])[2:]) == 1


def test_the_search_is_for_several_accesses_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = f'shared = "{ROWS}"\nelement = 16\nwidth = 128\n'
    text = f'["written"]\n{common}access = "((8,4),8):((512,1),64)"\nhow = "store"\n'
    text += f'["read"]\n{common}access = "{COLUMN}"\n'
    file = tmp_path / "tile.toml"
    file.write_text(text)
    assert movement.main([str(file), "--search-swizzle"]) == 0
    assert capsys.readouterr().out == "Sw<3,3,3> of elements: no conflict, 8 wavefronts\n"
    assert movement.main([str(file), "--only", "written", "--search-swizzle"]) == 0
    assert capsys.readouterr().out == "Sw<0,3,0> of elements: no conflict, 4 wavefronts\n"


@pytest.mark.long
@pytest.mark.parametrize("tile", ["(64,64):(0,0)", "(64,64):(64,0)", "((8,8),64):((64,0),1)"])
def test_two_elements_written_to_one_place_are_refuted(tile: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--access", "(32,8):(1,64)", "--element", "16", "--how", "store"]
    code, report = check(capsys, "--shared", tile, *words)
    disjoint = by_property(report)["disjoint"]
    assert code == 1 and "are both written to element" in disjoint["counterexample"]["statement"]
    assert [e["status"] for e in disjoint["evidence"]] == ["REFUTED", "REFUTED"]
    assert not any(verdict["contradiction"] for verdict in report["subjects"][0]["verdicts"])
    assert by_property(check(capsys, "--shared", ROWS, *words)[1])["disjoint"]["status"] == "PROVED"


@pytest.mark.parametrize(
    ("tile", "access", "element", "expected"),
    [
        ("(8,512):(1,8)", "(3,1):(63,1)", "8", "T0 and T2 access words 0 and 32 of bank 0 in access 0, at base 2"),
        ("(64,64):(2,128)", "(32,8):(64,1)", "16", "T0 V1 lies at element 2, V0 at 0: expected 1 further on"),
    ],
)
def test_the_search_prints_no_swizzle_that_is_refuted(
    tile: str, access: str, element: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "--shared",
        tile,
        "--access",
        access,
        "--element",
        element,
        "--width",
        element if element == "8" else "128",
    ]
    assert movement.main([*words, "--search-swizzle"]) == 1
    assert expected in capsys.readouterr().out
    assert movement.main([*words, "-q"]) == 1
