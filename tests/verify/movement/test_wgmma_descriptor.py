# SPDX-License-Identifier: Apache-2.0
"""`lanecheck movement --descriptor LAYOUT`: which matrix descriptor describes a layout."""

from __future__ import annotations

import pytest

from tests.verify.movement.arguments import SW128, by_property, check

CORES = "((8,8),(8,2)):((8,64),(1,512))"


@pytest.mark.parametrize(
    ("words", "expected", "repair"),
    [
        ([SW128, "--lbo", "16", "--sbo", "1024"], "", ""),  # the leading offset is not used there
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
def test_a_given_descriptor_is_compared_as_it_is(
    words: list[str], expected: str, repair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = check(capsys, "--descriptor", *words, "--element", "16", "--major", "K")
    verdict = by_property(report)["descriptor"]
    assert code == bool(expected) and not verdict["contradiction"]
    wrong = verdict["counterexample"] or {"statement": "", "repair": ""}
    assert expected in wrong["statement"] and repair in wrong["repair"]


def test_elements_that_lie_elsewhere_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """All but the first group of eight rows of 64."""
    _, report = check(capsys, "--descriptor", SW128, "--sbo", "512", "--element", "16", "--major", "K")
    verdict = by_property(report)["descriptor"]
    assert verdict["counterexample"]["damage"] == ["3584 of 4096 elements lie elsewhere"]
    assert verdict["evidence"][0]["points"] == 64 * 64


@pytest.mark.parametrize(
    ("tile", "element", "expected", "near"),
    [
        ("Sw<3,3,3> o (8,16):(64,1)", "16", "", ""),
        ("Sw<3,3,3> o (10,64):(64,1)", "16", "the tile has 10 along mn, of which wgmma takes 8", "8 or 16 along mn"),
        ("Sw<3,3,3> o (64,24):(64,1)", "16", "the tile has 24 along k, of which wgmma takes 16", "16 or 32 along k"),
        ("Sw<3,4,3> o (64,16):(128,1)", "8", "the tile has 16 along k, of which wgmma takes 32", "32 along k"),
        ("Sw<3,2,3> o (64,8):(32,1)", "32", "", ""),
    ],
)
def test_wgmma_takes_whole_steps(
    tile: str, element: str, expected: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = check(capsys, "--descriptor", tile, "--element", element)
    steps = by_property(report)["whole_instructions"]
    assert code == bool(expected) and steps["status"] == ("REFUTED" if expected else "PROVED")
    wrong = steps["counterexample"] or {"statement": "", "damage": []}
    assert expected in wrong["statement"]
    assert wrong["damage"] == ([f"the nearest that it takes: {near}"] if near else [])


DESCRIBED = {
    "Sw<3,3,3> o (64,64):(64,1)": "K-major, swizzle 128B, LBO 0, SBO 1024 bytes",
    "Sw<3,3,3> o (64,64):(1,64)": "MN-major, swizzle 128B, LBO 0, SBO 1024 bytes",
    "Sw<2,3,3> o (64,32):(32,1)": "K-major, swizzle 64B, LBO 0, SBO 512 bytes",
    "Sw<1,3,3> o (64,16):(16,1)": "K-major, swizzle 32B, LBO 0, SBO 256 bytes",
    "((8,8),(8,2)):((8,64),(1,512))": "K-major, swizzle none, LBO 1024, SBO 128 bytes",
}


@pytest.mark.parametrize("tile", DESCRIBED)
def test_the_descriptor_of_a_canonical_layout_is_proved(tile: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, "--descriptor", tile, "--element", "16")
    verdict = by_property(report)["descriptor"]
    assert code == 0 and DESCRIBED[tile] in verdict["claim"]
    assert [e["status"] for e in verdict["evidence"]] == ["PROVED", "PROVED"]


WIDER = {  # than the swizzle: one part of it after the other
    "Sw<3,3,3> o (128,(64,2)):(64,(1,8192))": ("16", 64, "bytes 0, 16384"),
    "Sw<3,3,3> o ((8,16),(64,2)):((64,512),(1,8192))": ("16", 64, "bytes 0, 16384"),
    "Sw<2,3,3> o (64,(32,2,3)):(32,(1,6144,2048))": ("16", 32, "bytes 0, 12288, 4096, .., 20480"),
    "Sw<1,4,3> o (64,(32,4)):(32,(1,2048))": ("8", 32, "bytes 0, 2048, 4096, 6144"),
    "Sw<3,2,3> o (8,(32,2)):(32,(1,256))": ("32", 32, "bytes 0, 1024"),
}


@pytest.mark.parametrize("tile", WIDER)
def test_a_k_major_tile_wider_than_its_swizzle_has_several_starts(
    tile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    element, width, starts = WIDER[tile]
    code, report = check(capsys, "--descriptor", tile, "--element", element)
    verdict = by_property(report)["descriptor"]
    assert code == 0 and f"from a start address for each {width} along k ({starts})" in verdict["claim"]
    assert [e["status"] for e in verdict["evidence"]] == ["PROVED", "PROVED"]


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        ("Sw<3,3,3> o (128,(64,2)):(64,(1,8193))", "(mn=0, k=64) lies at byte 16386"),  # no multiple of 16 bytes
        ("Sw<3,3,3> o (128,(64,2)):(64,(1,8448))", "(mn=0, k=64) lies at byte 16960"),  # nor of the swizzle's 1024
        ("Sw<3,3,3> o (128,(64,2)):(64,(1,0))", "(mn=0, k=0) and (mn=0, k=64) both lie at byte 0"),
        ("Sw<3,3,3> o (16,(64,2)):(64,(1,512))", "(mn=8, k=0) and (mn=0, k=64) both lie at byte 1024"),
        ("Sw<3,3,3> o (128,(32,4)):(64,(1,8192))", "(mn=0, k=32) lies at byte 16384, by the descriptor at 64"),
        ("Sw<3,3,3> o (128,(64,2)):(128,(1,64))", "(mn=1, k=0) lies at byte 288"),
    ],
)
def test_parts_that_are_no_canonical_layouts_are_refuted(
    tile: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = check(capsys, "--descriptor", tile, "--element", "16")
    verdict = by_property(report)["descriptor"]
    assert code == 1 and verdict["status"] == "REFUTED" and expected in verdict["counterexample"]["statement"]
    assert {e["status"] for e in verdict["evidence"]} == {"REFUTED"} and not verdict["contradiction"]


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        ("Sw<2,3,3> o (64,64):(64,1)", "(mn=1, k=0) lies at byte 144, by the descriptor at 64"),
        ("Sw<3,3,3> o (64,128):(128,1)", "(mn=1, k=0) lies at byte"),
        (
            "Sw<3,3,4> o (64,64):(64,1)",
            "Sw<3,4,4> of bytes is not a swizzle of a descriptor; these are Sw<0,0,0>, Sw<1,4,3>",
        ),
        ("(64,64):(64,1)", "lies at byte"),
        ("Sw<3,3,3> o ((8,8),64):((64,0),1)", "(mn=0, k=0) and (mn=8, k=0) both lie at byte 0"),
        ("((8,8),(8,2)):((8,64),(1,0))", "both lie at byte 0"),
        ("((8,8),(8,2)):((8,68),(1,512))", "sbo = 136 does not fit bits"),
    ],
)
def test_layouts_without_a_descriptor(tile: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, "--descriptor", tile, "--element", "16")
    assert code == 1 and expected in by_property(report)["descriptor"]["counterexample"]["statement"]
