# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.movement`: what stands, what is refuted with which witness, and what is refused in one line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from verify import movement

X4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
X2 = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
ST = "stmatrix.sync.aligned.m8n8.x4.shared.b16"
F16 = "SM80_16x8x16_F32F16F16F32_TN"
TO_B = ("--to", F16, "--operand", "B")
S8 = "SM80_16x8x32_S32S8S8S32_TN"
TF32 = "SM80_16x8x8_F32TF32TF32F32_TN"
ROWS = "(64,64):(64,1)"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "movement.toml"
COLUMN = "(32,8):(1,64)"  # 32 rows, eight elements of each


def access(tile: str, *words: str, threads: str = COLUMN) -> list[str]:
    return ["--shared", tile, "--access", threads, "--element", "16", "--width", "128", *words]


def judged(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    code = movement.main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def by_kind(report: dict) -> dict[str, dict]:
    return {verdict["kind"]: verdict for verdict in report["subjects"][0]["verdicts"]}


STANDS = {
    "ldmatrix.x4 to A": (["--from", X4, "--to", F16, "--major", "K"], "(16,2):(1,128) of the tile, its elements 8:16"),
    "ldmatrix.x2 to B": (["--from", X2, *TO_B, "--major", "K"], "(8,2):(1,64)"),
    "ldmatrix.x2.trans to B": (
        ["--from", X2.replace(".shared", ".trans.shared"), *TO_B, "--major", "MN"],
        "16:8 of the tile, its elements 8:1 along n",
    ),
    "ldmatrix.x4 to two tiles of B": (["--from", X4, *TO_B, "--tiles", "n=2"], "(8,2,2):(1,128,8)"),
    "ldmatrix.x4 to two steps of B": (["--from", X4, *TO_B, "--tiles", "k=2"], "(8,4):(1,64)"),
    "ldmatrix.x4 to A of 32 bits": (["--from", X4, "--to", TF32, "--major", "K"], "counted in 16 bits"),
    "ldmatrix.x4 to A of 8 bits": (["--from", X4, "--to", S8, "--major", "K"], "16:16 along k"),
    "accumulators to stmatrix": (["--from", F16, "--to", ST, "--narrow", "16"], "(16,2):(1,128)"),
    "wgmma's accumulators to stmatrix": (
        ["--from", "SM90_64x16x16_F32F16F16_SS", "--to", ST, "--narrow", "16"],
        "(16,2,4):(1,512,16)",
    ),
    "accumulators to the next A": (["--from", F16, "--to", F16], "value 8:1"),
    "wgmma's accumulators to the next A": (
        ["--from", "SM90_64x64x16_F32F16F16_SS", "--to", "SM90_64x64x16_F32F16F16_RS"],
        "value 32:1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STANDS)
def test_what_is_handed_over(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, told = STANDS[case]
    code, report = judged(capsys, *words)
    handed = by_kind(report)["handed over"]
    assert code == 0 and report["subjects"][0]["status"] == "STANDS"
    assert told in handed["claim"]
    assert {e["witness"]: e["status"] for e in handed["evidence"]}.items() >= {
        "book": "PROVED",
        "proof": "PROVED",
    }.items()


REFUTED = {
    # museum 19: stmatrix of 16-bit rows on accumulators that were never narrowed, in the order of narrowed ones
    "values out of order": (
        ["--from", F16, "--to", ST, "--narrow", "16", "--rows", "(8,2,2):(1,128,8)"],
        "T0 V2 wants (m=8, n=0) and gets (m=0, n=8)",
    ),
    # museum 18: the row's number divided by the wrong extent: the second matrix starts further along k, not m
    "row addresses of ldmatrix": (
        ["--from", X2, "--to", "SM80_16x8x8_F32F16F16F32_TN", "--rows", "(8,2):(1,64)"],
        "T0 V2 wants (m=8, k=0) and gets (m=0, k=4)",
    ),
    "tf32 accumulators to A": (["--from", TF32, "--to", TF32], "no order of the values brings it here"),
    "a transposed load of 32 bits": (["--from", X4.replace(".shared", ".trans.shared"), "--to", TF32], "T4 V0 wants"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUTED)
def test_what_is_not_handed_over(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, told = REFUTED[case]
    code, report = judged(capsys, *words)
    handed = by_kind(report)["handed over"]
    assert code == 1 and told in handed["counterexample"]["statement"]
    assert {e["witness"]: e["status"] for e in handed["evidence"]}.items() >= {
        "book": "REFUTED",
        "proof": "REFUTED",
    }.items()
    assert handed["counterexample"]["reproduced"] and not handed["contradiction"]
    smallest = [e["counterexample"]["inputs"] for e in handed["evidence"] if e["counterexample"]]
    assert (smallest[0]["lane"], smallest[0]["value"]) == (smallest[1]["lane"], smallest[1]["value"])
    replay = shlex.split(handed["counterexample"]["replay"])
    assert movement.main(replay[3:]) == 1


@pytest.mark.parametrize(("trans", "major"), [("", "MN"), (".trans", "K")])
def test_rows_across_the_memory_s_axis_are_refuted(trans: str, major: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, "--from", X4.replace(".shared", f"{trans}.shared"), "--to", F16, "--major", major)
    found = by_kind(report)
    assert code == 1 and found["handed over"]["status"] == "PROVED" and found["major"]["status"] == "REFUTED"
    assert found["major"]["counterexample"]["repair"] == f"ldmatrix {'without' if trans else 'with'} .trans"


SWAPPED = "(2,2,2):(4,1,2)"  # values of A in another order, which asks for rows of both halves of m


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--values", SWAPPED], "the first row is (m=0, k=0), (m=8, k=0), (m=0, k=2)"),
        (["--values", SWAPPED, "--major", "K"], "the rows run along no axis"),
        (["--values", SWAPPED, "--shared", "(16,16):(16,1)"], "T0 V1 lies at element 128, V0 at 0"),
        (["--shared", "(16,16):(1,16)"], "T0 V1 lies at element 16, V0 at 0: 1 further on is wanted"),
        (["--shared", "(16,16):(20,1)"], "T1 V0 lies at element 20, which is no multiple of 8"),
        (["--shared", "(16,16):(64,1)"], "T0 and T1 ask bank 0 for words 0 and 32 in access 0"),
    ],
)
def test_a_row_is_sixteen_bytes_of_memory(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, "--from", X4, "--to", F16, *words)
    verdicts = report["subjects"][0]["verdicts"]
    wrong = [v["counterexample"]["statement"] for v in verdicts if v["status"] == "REFUTED"]
    assert code == 1 and len(wrong) == 1 and told in wrong[0]
    assert by_kind(report)["handed over"]["status"] == "PROVED"


@pytest.mark.parametrize(
    "words",
    [
        ["--shared", "Sw<3,3,3> o (16,16):(64,1)"],
        [
            "--values",
            SWAPPED,
            "--shared",
            "Sw<1,3,3> o ((8,2),(2,8)):((16,1),(8,2))",
        ],  # memory that has such rows side by side
    ],
)
def test_rows_that_memory_has_side_by_side_stand(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, "--from", X4, "--to", F16, *words)
    assert code == 0, [v["counterexample"] for v in report["subjects"][0]["verdicts"]]
    assert by_kind(report)["whole accesses"]["status"] == "PROVED"


def test_halves_of_wide_elements_stay_neighbours_in_a_placed_tile(capsys: pytest.CaptureFixture[str]) -> None:
    for shared, code in (("Sw<2,2,3> o (16,8):(16,1)", 0), ("(16,8):(1,16)", 1)):
        found, report = judged(capsys, "--from", X4, "--to", TF32, "--shared", shared)
        assert found == code and by_kind(report)["whole accesses"]["status"] == ("REFUTED" if code else "PROVED")


def test_what_is_stored_has_places_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", F16, "--to", ST, "--narrow", "16"]
    for shared, status in (("(16,16):(16,1)", "PROVED"), ("(16,16):(0,1)", "REFUTED")):
        _, report = judged(capsys, *words, "--shared", shared)
        kept = by_kind(report)["kept apart"]
        assert [e["status"] for e in kept["evidence"]] == [status, status]
    assert movement.main([*words, "--shared", "(16,16):(16,1)", "--arch", "sm_80"]) == 2
    assert "sm_80 has no stmatrix" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["(64,64):(64,1)", "--arch", "sm_90"], ""),
        (["(1816,64):(64,1)"], ""),  # 227 KiB to the byte
        (["(1817,64):(64,1)"], "the tile spans 232576 bytes; a CTA has 232448 (227 KiB) on sm_90"),
        (["(512,64):(64,1)", "--arch", "sm_75"], ""),
        (["(513,64):(64,1)", "--arch", "sm_75"], "the tile spans 65664 bytes; a CTA has 65536 (64 KiB) on sm_75"),
        (["(512,64):(65,1)", "--arch", "sm_75"], "the tile spans 66558 bytes"),
    ],
)
def test_a_tile_has_to_lie_in_shared_memory(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, report = judged(capsys, "--shared", *words, "--access", "(32,1):(1,1)", "--element", "16")
    room = by_kind(report)["room"]
    assert room["status"] == ("REFUTED" if told else "PROVED")
    assert told in (room["counterexample"] or {"statement": ""})["statement"]


SW128 = "Sw<3,3,3> o (64,64):(64,1)"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (access(SW128, "--base", "2048"), ""),
        (access(SW128, "--base", "128"), "base 128 is no multiple of 1024 bytes, the swizzle's period"),
        (access(ROWS, "--how", "store", "--base", "8"), "base 8 is no multiple of 16 bytes, the width"),
        (access(SW128, "--base", str(219 * 1024)), ""),
        (access(SW128, "--base", str(220 * 1024)), "the tile ends at byte 233472; a CTA has 232448 (227 KiB) on sm_90"),
        (["--descriptor", SW128, "--element", "16", "--base", "1024"], ""),
        (["--descriptor", SW128, "--element", "16", "--base", "512"], "base 512 is no multiple of 1024 bytes"),
        (["--descriptor", "((8,8),(8,2)):((8,64),(1,512))", "--element", "16", "--base", "8"], "no multiple of 16"),
        (
            ["--from", X4, "--to", F16, "--shared", "Sw<3,3,3> o (16,16):(64,1)", "--base", "256"],
            "base 256 is no multiple of 1024",
        ),
    ],
)
def test_a_tile_starts_where_it_may(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, report = judged(capsys, *words)
    found = by_kind(report)
    wrong = [(found[kind]["counterexample"] or {"statement": ""})["statement"] for kind in ("base", "room")]
    assert told in "".join(wrong) and bool(told) == any(wrong)


CORES = "((8,8),(8,2)):((8,64),(1,512))"


@pytest.mark.parametrize(
    ("words", "told", "repair"),
    [
        ([SW128, "--lbo", "16", "--sbo", "1024"], "", ""),  # the leading offset says nothing there
        ([SW128, "--sbo", "512"], "(mn=8, k=0) lies at byte 1024, by the descriptor at 576", "SBO 1024 bytes"),
        ([CORES, "--lbo", "1024", "--sbo", "128"], "", ""),
        (
            [CORES, "--lbo", "128", "--sbo", "1024"],
            "(mn=0, k=8) lies at byte 1024, by the descriptor at 128",
            "LBO 1024",
        ),
        ([CORES, "--lbo", "1032"], "lies at byte 1024, by the descriptor at 1032", "LBO 1024, SBO 128 bytes"),
    ],
)
def test_a_stated_descriptor_is_compared_as_it_is(
    words: list[str], told: str, repair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = judged(capsys, "--descriptor", *words, "--element", "16", "--major", "K")
    found = by_kind(report)["descriptor"]
    assert code == bool(told) and not found["contradiction"]
    wrong = found["counterexample"] or {"statement": "", "repair": ""}
    assert told in wrong["statement"] and repair in wrong["repair"]


@pytest.mark.parametrize(
    ("tile", "element", "told", "repair"),
    [
        ("Sw<3,3,3> o (8,16):(64,1)", "16", "", ""),
        ("Sw<3,3,3> o (10,64):(64,1)", "16", "the tile has 10 along mn, of which wgmma takes 8", "8 or 16 along mn"),
        ("Sw<3,3,3> o (64,24):(64,1)", "16", "the tile has 24 along k, of which wgmma takes 16", "16 or 32 along k"),
        ("Sw<3,4,3> o (64,16):(128,1)", "8", "the tile has 16 along k, of which wgmma takes 32", "32 along k"),
        ("Sw<3,2,3> o (64,8):(32,1)", "32", "", ""),
    ],
)
def test_wgmma_takes_whole_steps(
    tile: str, element: str, told: str, repair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = judged(capsys, "--descriptor", tile, "--element", element)
    steps = by_kind(report)["whole instructions"]
    assert code == bool(told) and steps["status"] == ("REFUTED" if told else "PROVED")
    wrong = steps["counterexample"] or {"statement": "", "repair": ""}
    assert told in wrong["statement"] and wrong["repair"] == repair


def test_too_few_values_are_counted_first(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, "--from", X2, "--to", F16)
    found = by_kind(report)
    assert code == 1 and found["handed over"]["status"] == "UNCHECKED"
    assert "has 4 values of 16 bits in each lane, A of" in found["count"]["counterexample"]["statement"]


def test_recorded_kernels_speak_where_the_placement_is_derived(capsys: pytest.CaptureFixture[str]) -> None:
    for words, status in (
        (["--from", X4, "--to", F16], "AGREES"),
        (["--from", F16, "--to", F16], "AGREES"),
        (["--from", X4, "--to", F16, "--rows", "(16,2):(1,128)"], "UNCHECKED"),
        (["--from", X2, "--to", "SM80_16x8x8_F32F16F16F32_TN"], "UNCHECKED"),
    ):
        _, report = judged(capsys, *words)
        said = {e["witness"]: e for e in by_kind(report)["handed over"]["evidence"]}
        assert said["silicon"]["status"] == status, words


def test_a_column_of_rows_is_an_eight_way_conflict_and_the_swizzle_repairs_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, report = judged(capsys, *access(ROWS))
    wrong = by_kind(report)["free of bank conflicts"]
    assert code == 1 and {e["witness"]: e["status"] for e in wrong["evidence"]} == dict.fromkeys(
        ("book", "proof", "silicon"), "REFUTED"
    )
    told = wrong["counterexample"]
    assert told["statement"] == "T0 and T1 ask bank 0 for words 0 and 32 in access 0"
    assert told["extent"] == "a 8-way conflict" and told["repair"] == "Sw<3,3,3> of elements: no conflict, 4 wavefronts"
    code, report = judged(capsys, *access(f"Sw<3,3,3> o {ROWS}"))
    right = by_kind(report)["free of bank conflicts"]
    assert code == 0 and {e["status"] for e in right["evidence"]} == {"PROVED", "AGREES"}


def test_a_xor_of_period_eight_does_not_serve_sixteen_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """Museum 22: 64-bit loads have phases of 16 rows, and rows 8 apart are swizzled alike."""
    words = ["--access", "(32,4):(1,64)", "--element", "16", "--width", "64"]
    code, report = judged(capsys, "--shared", f"Sw<3,3,3> o {ROWS}", *words)
    told = by_kind(report)["free of bank conflicts"]["counterexample"]
    assert code == 1 and told["extent"] == "a 2-way conflict" and told["statement"].startswith("T0 and T8 ask bank 0")
    assert judged(capsys, "--shared", f"Sw<4,2,4> o {ROWS}", *words)[0] == 0


@pytest.mark.parametrize("swizzle", ["Sw<2,3,3>", "Sw<3,2,3>", "Sw<3,3,4>", "Sw<3,4,3>"])
def test_mutants_of_the_swizzle_are_refuted(swizzle: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, *access(f"{swizzle} o {ROWS}"))
    assert code == 1 and report["subjects"][0]["status"] == "REFUTED"


def test_an_access_across_neighbours_is_not_whole(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, *access(ROWS, threads="(32,8):(64,1)"))
    found = by_kind(report)
    assert code == 1 and found["free of bank conflicts"]["status"] == "UNCHECKED"
    assert found["whole accesses"]["counterexample"]["statement"] == (
        "T0 V1 lies at element 64, V0 at 0: 1 further on is wanted"
    )
    assert judged(capsys, *access("(64,64):(68,1)", threads="(32,8):(1,64)"))[0] == 1  # 136 bytes: no multiple of 16


@pytest.mark.parametrize(("stride", "status"), [(100, "PROVED"), (128, "REFUTED")])
def test_the_solver_needs_no_layout_of_the_whole_way(
    stride: int, status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lane (3, 0) has index 27, whose digits carry: no strides say what the tile of the access is."""
    words = ["--access", "((4,2),2):((9,1),3)", "--element", "32", "--how", "store"]
    code, report = judged(capsys, "--shared", f"(6,10):(1,{stride})", *words)
    found = by_kind(report)
    assert code == (status == "REFUTED") and found["free of bank conflicts"]["status"] == status
    for kind in ("whole accesses", "kept apart", "free of bank conflicts"):
        assert {e["witness"]: e["status"] for e in found[kind]["evidence"]}["proof"] == found[kind]["status"]


def test_a_load_whose_phases_merge_is_judged_phase_by_phase(capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs of lanes share an address: eight lanes ask for 64 bytes, the next eight for the same banks again."""
    threads = "((2,4,2,2),8):((0,128,1,2),16)"
    code, report = judged(
        capsys, "--shared", "(16,64):(64,1)", "--access", threads, "--element", "16", "--width", "128"
    )
    found = by_kind(report)["free of bank conflicts"]
    assert code == 0 and not found["contradiction"]
    assert [e["status"] for e in found["evidence"]][:2] == ["PROVED", "PROVED"]


def test_narrow_accesses_are_judged_at_every_byte_of_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes 0, 3, 132, 135 lie in words 0, 0, 33, 33; one further they lie in 0, 1, 33, 34, and 1 and 33 meet."""
    words = ["--access", "(4,1):(1,0)", "--element", "8"]
    code, report = judged(capsys, "--shared", "((2,2),1):((3,132),0)", *words)
    found = by_kind(report)["free of bank conflicts"]
    assert code == 1 and not found["contradiction"]
    assert [e["status"] for e in found["evidence"]][:2] == ["REFUTED", "REFUTED"]
    assert judged(capsys, "--shared", "((2,2),1):((3,136),0)", *words)[0] == 0


@pytest.mark.parametrize(
    ("how", "code", "told"),
    [
        ("load", 0, "PROVED"),  # the lanes of a pair share their words
        ("store", 0, "PROVED"),
        ("cp.async", 1, "T0 and T1 both write word 0 of bank 0, and copies share none in access 0"),
    ],
)
def test_copies_of_one_word_conflict_and_stores_do_not(
    how: str, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--access", "((2,16),8):((0,8),1)", "--element", "16", "--width", "128", "--how", how]
    found, report = judged(capsys, "--shared", "128:1", *words)
    free = by_kind(report)["free of bank conflicts"]
    assert found == code and not free["contradiction"]
    assert {e["witness"]: e["status"] for e in free["evidence"]}["proof"] == free["status"]
    assert told in (free["status"], *([free["counterexample"]["statement"]] if code else []))


@pytest.mark.parametrize(("swizzle", "code"), [("Sw<3,3,3> o ", 0), ("", 1), ("Sw<2,3,3> o ", 1)])
def test_the_rows_of_matrices_are_stored_as_they_are_loaded(
    swizzle: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight rows of 16 bytes, 128 bytes apart: an H200 took as many wavefronts for stmatrix as for ldmatrix."""
    for how in ("ldmatrix", "stmatrix"):
        words = ["--access", "(32,8):(1,32)", "--element", "16", "--how", how]
        found, report = judged(capsys, "--shared", f"{swizzle}(32,64):(64,1)", *words)
        free = by_kind(report)["free of bank conflicts"]
        statuses = {e["witness"]: e["status"] for e in free["evidence"]}
        assert found == code and statuses["book"] == statuses["proof"] == free["status"]
        assert statuses["silicon"] == {"Sw<3,3,3> o ": "AGREES", "": "REFUTED"}.get(swizzle, "UNCHECKED")


def test_silicon_cannot_tell_copies_of_fewer_than_three_wavefronts(capsys: pytest.CaptureFixture[str]) -> None:
    for bits, status in ((32, "UNCHECKED"), (64, "UNCHECKED"), (128, "AGREES")):
        count = bits // 32
        words = ["--access", f"(32,{count}):({count},1)", "--element", "32", "--width", str(bits), "--how", "cp.async"]
        code, report = judged(capsys, "--shared", "128:1", *words)
        evidence = by_kind(report)["free of bank conflicts"]["evidence"][-1]
        assert code == 0 and evidence["status"] == status
        assert status == "AGREES" or "takes the time of 3 wavefronts" in evidence["reason"]


COPIED = ["--access", "((4,32),(8,4)):((1024,1),(128,32))", "--element", "16", "--width", "128", "--how", "cp.async"]


def test_a_copy_is_whole_on_both_sides_or_told_how_narrow_it_must_be(capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of 4096 elements begin at multiples of 16 bytes, rows of 1002 at multiples of 4."""
    tile = ["--shared", "Sw<2,3,3> o (128,32):(32,1)", *COPIED]
    code, report = judged(capsys, *tile, "--global", "(128,32):(4096,1)")
    assert code == 0 and [v["status"] for v in report["subjects"][0]["verdicts"]] == ["PROVED"] * 5
    code, report = judged(capsys, *tile, "--global", "(128,32):(1002,1)")
    far = report["subjects"][0]["verdicts"][0]
    assert code == 1 and far["counterexample"]["statement"] == "T4 V0 lies at element 1002, which is no multiple of 8"
    assert far["counterexample"]["repair"] == "accesses of 32 bits are whole"
    narrow = [word if word != "128" else "32" for word in tile]
    code, report = judged(capsys, *narrow, "--global", "(128,32):(1002,1)")
    assert report["subjects"][0]["verdicts"][0]["status"] == "PROVED"
    assert movement.main(shlex.split(far["counterexample"]["replay"])[3:]) == 1


def test_the_search_serves_several_accesses_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = f'shared = "{ROWS}"\nelement = 16\nwidth = 128\n'
    text = f'["written"]\n{common}access = "((8,4),8):((512,1),64)"\nhow = "store"\n'
    text += f'["read"]\n{common}access = "{COLUMN}"\n'
    file = tmp_path / "tile.toml"
    file.write_text(text)
    assert movement.main([str(file), "--search-swizzle"]) == 0
    assert capsys.readouterr().out == "Sw<3,3,3> of elements: no conflict, 8 wavefronts\n"
    assert movement.main([str(file), "--only", "written", "--search-swizzle"]) == 0
    assert capsys.readouterr().out == "Sw<0,3,0> of elements: no conflict, 4 wavefronts\n"


@pytest.mark.parametrize("tile", ["(64,64):(0,0)", "(64,64):(64,0)", "((8,8),64):((64,0),1)"])
def test_what_is_written_twice_is_lost(tile: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--access", "(32,8):(1,64)", "--element", "16", "--how", "store"]
    code, report = judged(capsys, "--shared", tile, *words)
    kept = by_kind(report)["kept apart"]
    assert code == 1 and "are both written to element" in kept["counterexample"]["statement"]
    assert [e["status"] for e in kept["evidence"]] == ["REFUTED", "REFUTED"]
    assert not any(verdict["contradiction"] for verdict in report["subjects"][0]["verdicts"])
    assert by_kind(judged(capsys, "--shared", ROWS, *words)[1])["kept apart"]["status"] == "PROVED"


@pytest.mark.parametrize(
    ("tile", "access", "element", "told"),
    [
        ("(8,512):(1,8)", "(3,1):(63,1)", "8", "T0 and T2 ask bank 0 for words 0 and 32 in access 0, at base 2"),
        ("(64,64):(2,128)", "(32,8):(64,1)", "16", "T0 V1 lies at element 2, V0 at 0: 1 further on is wanted"),
    ],
)
def test_the_search_promises_nothing_that_the_judgement_refutes(
    tile: str, access: str, element: str, told: str, capsys: pytest.CaptureFixture[str]
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
    assert told in capsys.readouterr().out
    assert movement.main([*words, "-q"]) == 1


DESCRIBED = {
    "Sw<3,3,3> o (64,64):(64,1)": "K-major, swizzle 128B, LBO 0, SBO 1024 bytes",
    "Sw<3,3,3> o (64,64):(1,64)": "MN-major, swizzle 128B, LBO 0, SBO 1024 bytes",
    "Sw<2,3,3> o (64,32):(32,1)": "K-major, swizzle 64B, LBO 0, SBO 512 bytes",
    "Sw<1,3,3> o (64,16):(16,1)": "K-major, swizzle 32B, LBO 0, SBO 256 bytes",
    "((8,8),(8,2)):((8,64),(1,512))": "K-major, swizzle none, LBO 1024, SBO 128 bytes",
}


@pytest.mark.parametrize("tile", DESCRIBED)
def test_the_descriptor_of_a_canonical_layout(tile: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, "--descriptor", tile, "--element", "16")
    found = by_kind(report)["descriptor"]
    assert code == 0 and DESCRIBED[tile] in found["claim"]
    assert [e["status"] for e in found["evidence"]] == ["PROVED", "PROVED"]


@pytest.mark.parametrize(
    ("tile", "told"),
    [
        ("Sw<2,3,3> o (64,64):(64,1)", "(mn=1, k=0) lies at byte 144, by the descriptor at 64"),
        ("Sw<3,3,3> o (64,128):(128,1)", "(mn=1, k=0) lies at byte"),
        (
            "Sw<3,3,4> o (64,64):(64,1)",
            "Sw<3,4,4> of bytes is no swizzle of a descriptor; there are Sw<0,0,0>, Sw<1,4,3>",
        ),
        ("(64,64):(64,1)", "lies at byte"),
        ("Sw<3,3,3> o ((8,8),64):((64,0),1)", "(mn=0, k=0) and (mn=8, k=0) both lie at byte 0"),
        ("((8,8),(8,2)):((8,64),(1,0))", "both lie at byte 0"),
        ("((8,8),(8,2)):((8,68),(1,512))", "sbo = 136 does not fit bits"),
    ],
)
def test_what_no_descriptor_says(tile: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, "--descriptor", tile, "--element", "16")
    assert code == 1 and told in by_kind(report)["descriptor"]["counterexample"]["statement"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "which movement? Give --from with --to, --shared with --access, --descriptor, or a FILE"),
        (["--from", X4], "--from needs --to too"),
        (["--from", X4, "--to", F16, "--width", "8"], "--width says nothing about --from"),
        (["--from", "SM80_16x8x16_F32F16F16F3_TN", "--to", ST], "no atom or instruction is named"),
        (["--from", ST, "--to", F16], "leaves nothing in registers: a load is wanted"),
        (["--from", F16, "--to", X4], "takes no registers: a store is wanted"),
        (["--from", X4, "--to", ST], "is no matrix multiplication, nor is"),
        (["--from", X4, "--to", F16, "--tiles", "q=2"], "expected an axis of A and a count such as m=2, found 'q=2'"),
        (["--from", X4, "--to", F16, "--rows", "(8,2"], "--rows: "),
        (
            ["--from", X4, "--to", "SM90_64x64x16_F32F16F16_SS", "--operand", "B"],
            "B is not handed over in registers (smem)",
        ),
        (["--shared", ROWS, "--access", "32:1", "--element", "16"], "--access: 32:1 has rank 1"),
        (["--shared", ROWS, "--access", COLUMN, "--element", "12"], "expected one of 8, 16, 32, 64 bits, found 12"),
        (access(ROWS, threads="(32,6):(1,64)"), "128 bits at once do not divide 6 values of 16 bits"),
        (access("(8,8):(8,1)"), "--access: (32,8):(1,64) reaches index 479 of a tile of 64"),
        (["--from", F16, "--to", ST, "--narrow", "16", "--major", "K"], "C has the axes M and N, found 'K'"),
        (["--from", F16, "--to", F16, "--narrow", "8"], "accumulators are narrowed for a store"),
        (
            ["--from", "SM80_16x8x16_F16F16F16F16_TN", "--to", ST, "--narrow", "32"],
            "expected one of 8, 16 bits, found 32",
        ),
        (["--from", F16, "--to", F16, "--values", "4:1"], "4:1 has 4 values up to 3; 8 are wanted, of 8"),
        (["--from", F16, "--to", F16, "--rows", "8:1"], "nothing here has rows in memory"),
        (["--from", F16, "--to", F16, "--major", "K"], "nothing here comes from memory"),
        (["--from", F16, "--to", F16, "--operand", "B"], "accumulators are handed on as A, not as B"),
        (["--from", X4, "--to", F16, "--rows", "(16,3):(1,128)"], "(16,3):(1,128) has 48 rows"),
        (["--from", X2, *TO_B, "--values", "4:2"], "4:2 has 4 values up to 6; 4 are wanted, of 4"),
        (["--from", "SM100_SU6_DU8x16_x4_LDSM_N", "--to", S8], "unpacks padded elements"),
        (["--from", "tcgen05.ld.sync.aligned.32x32b.x4.b32", "--to", F16], "this is no such end"),
        (["--from", F16, "--to", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"], "A is compressed"),
        (
            ["--descriptor", ROWS, "--element", "8", "--major", "MN"],
            "operands of 8 bits K-major alone",
        ),
        (["--descriptor", ROWS, "--element", "64"], "expected one of 8, 16, 32 bits, found 64"),
        (["--from", X4, "--to", F16, "--major", "N"], "A has the axes M and K, found 'N'"),
        (["--descriptor", ROWS, "--element", "16", "--major", "N"], "expected one of K, MN, found 'N'"),
        (["--descriptor", "64:1", "--element", "16"], "modes for rows and columns are wanted"),
        (["nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--shared", ROWS, *COPIED[:-3], "16", "--how", "cp.async"], "expected one of 32, 64, 128 bits, found 16"),
        (["--shared", ROWS, "--access", "(12,8):(1,64)", "--element", "16", "--how", "ldmatrix"], "12 rows: a matrix"),
        (access("(64,64):(-64,1)"), "(64,64):(-64,1) has a negative stride"),
        (["--descriptor", "Sw<3,3,3> o (64,64):(-64,1)", "--element", "16"], "has a negative stride"),
        (access(ROWS, "--global", "(8,8):(8,1)"), "reaches index 479 of 64 in global memory"),
        (["--from", "movmatrix.sync.aligned.m8n8.trans.b16", "--to", F16], "a matrix load or store, or"),
        (["--only", "x", "--from", X4, "--to", F16], "--only chooses among the movements of a FILE"),
        (["--from", X4, "--to", F16, "--search-swizzle"], "--search-swizzle needs accesses"),
        (
            ["--from", "zzz", "--to", F16],
            "is named 'zzz'; python -m verify.atom --list shows all",
        ),
        (["--from", "UniversalFMA<float,float,float,float>", "--to", F16], "is no matrix instruction"),
        (["--from", X4, "--to", F16, "--shared", ROWS], "the tile is 16 x 16 (m, k), found 64 x 64"),
        (["--from", X4, "--to", F16, "--shared", "256:1"], "256:1 has rank 1"),
        (["--from", F16, "--to", F16, "--shared", "(16,16):(16,1)"], "nothing here comes from memory or goes there"),
        (access(ROWS, "--base", "-16"), "--base: expected a number of bytes, 0 or more, found -16"),
        (["--descriptor", ROWS, "--element", "16", "--sbo", "-1"], "--sbo: expected a number of bytes"),
        (["--from", X4, "--to", F16, "--base", "16"], "where the tile lies there is not stated: shared"),
        (access(ROWS, "--lbo", "16"), "--lbo says nothing about --shared"),
        (access(ROWS, "--arch", "sm_91"), "expected one of sm_70, sm_72"),
        (access(ROWS, "--how", "stmatrix", "--arch", "sm_80"), "sm_80 has no stmatrix"),
        (access(ROWS, "--how", "cp.async", "--arch", "sm_75"), "sm_75 has no cp.async"),
    ],
)
def test_what_cannot_be_read_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert movement.main(words) == 2
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('["a"]\nfrom = "x"\n', "a.to: missing"),
        (
            '["a"]\nshared = "8:1"\naccess = "x"\nelement = 16\nwidht = 8\n',
            "a.widht: unknown key; did you mean 'width'?",
        ),
        ('["a"]\nelement = 16\n', "a: expected one of the keys from, shared, descriptor"),
        ("a = 1\n", "expected a named table, found an integer"),
        ('["a"]\nfrom = 1\nto = "x"\n', "a.from: expected a text, found an integer"),
        ("[", "is not TOML"),
    ],
)
def test_a_malformed_file_names_the_key(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    assert movement.main([str(file)]) == 2
    said = capsys.readouterr().err
    assert told in said and str(file) in said and said.count("\n") == 1


def test_a_file_holds_several_and_only_chooses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chain.toml"
    file.write_text(f'["load"]\nfrom = "{X4}"\nto = "{F16}"\n["operand"]\ndescriptor = "{ROWS}"\nelement = 16\n')
    assert movement.main([str(file), "--list"]) == 0
    assert capsys.readouterr().out == "load\noperand\n"
    assert movement.main([str(file), "-q"]) == 1
    assert movement.main([str(file), "-q", "--only", "load"]) == 0
    assert movement.main([str(file), "-q", "--only", "lod"]) == 2
    assert movement.main([str(file), "-q", "--only", "load", "--require", "silicon"]) == 0


@pytest.mark.parametrize("name", ["plain", "k's tile", "-x", "of [a] *"])
def test_a_refuted_movement_of_a_file_is_replayed_whatever_its_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "of a tile.toml"
    file.write_text(f'["{name}"]\ndescriptor = "{ROWS}"\nelement = 16\n["other"]\nfrom = "{X4}"\nto = "{F16}"\n')
    _, report = judged(capsys, str(file))
    verdicts = report["subjects"][0]["verdicts"]
    (replay,) = {v["counterexample"]["replay"] for v in verdicts if v["status"] == "REFUTED"}
    assert movement.main([*shlex.split(replay)[3:], "-q"]) == 1
    assert capsys.readouterr().out.startswith("1 subject: 1 refuted")


def test_the_chain_of_the_example_stands(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, str(EXAMPLE))
    assert code == 0 and len(report["subjects"]) == 8
    assert {subject["status"] for subject in report["subjects"]} == {"STANDS"}


def test_a_solver_without_a_budget_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = judged(capsys, *access(f"Sw<3,3,3> o {ROWS}"), "--rlimit", "1")
    assert by_kind(report)["free of bank conflicts"]["status"] == "UNKNOWN" and code == 4
