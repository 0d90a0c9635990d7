# SPDX-License-Identifier: Apache-2.0
"""An atom whose operands are maps, point by point, has every property of one with layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from layouts.atoms import registry
from layouts.pasted import read_layout
from verify import verify_atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import PROPERTIES
from verify.binding.atom import BoundAtom, prepare
from verify.core.verdict import Check, Verdict
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, Map
from verify.maps.strided import of_layout

NAME = "SM80_16x8x16_F32F16F16F32_TN"
ENTRY = registry()[NAME]
AXES = {"A": ("m", "k"), "B": ("n", "k"), "C": ("m", "n")}


def with_maps(atom: BoundAtom, maps: Mapping[str, Map]) -> BoundAtom:
    """Return an atom with other maps in place of its layouts."""
    return replace(atom, parts=tuple(part._replace(map=maps[part.name]) for part in atom.parts))


def as_maps(**texts: str) -> BoundAtom:
    """The atom with each layout as a map; some of them others."""
    plain = prepare(ENTRY)
    maps = {
        part.name: of_layout(read_layout(texts.get(part.name, part.text)), tuple(map(Axis, part.axes, part.extent)))
        for part in plain.parts
    }
    atom = with_maps(plain, maps)
    assert all(part.layout is None for part in atom.parts)
    return atom


def verdicts(subject: BoundAtom) -> dict[tuple[str, str], Verdict]:
    rows = [row for row in PROPERTIES if "mma" in row.says]
    listed = AtomChecker().verdicts(rows, subject)
    return {(verdict.claim.part, verdict.claim.prop.key): verdict for verdict in listed}


def test_maps_have_the_verdicts_of_their_layouts() -> None:
    plain, points = verdicts(prepare(ENTRY)), verdicts(as_maps())
    assert plain.keys() == points.keys()
    assert {key: verdict.status for key, verdict in plain.items()} == {
        key: verdict.status for key, verdict in points.items()
    }
    (evidence,) = points["C", "equals_isa"].evidence
    assert (evidence.check, evidence.method, evidence.points) == (Check.ISA, "by enumeration", 128)
    assert points["", "product"].status.value == points["", "relation"].status.value == "AGREES"


@pytest.mark.parametrize(
    ("operand", "text", "refuted"),
    [
        ("C", "((4,8),(2,2)):((32,1),(8,16))", {("C", "equals_isa"), ("", "product"), ("", "relation")}),
        ("A", "((4,8),(2,2,2)):((32,1),(16,8,64))", {("A", "ownership"), ("A", "equals_isa")}),
        ("B", "((4,8),(2,2)):((16,1),(8,128))", {("B", "in_bounds"), ("B", "equals_isa")}),
        ("C", "((4,8),2):((32,1),8)", {("C", "size")}),
    ],
)
def test_a_wrong_map_is_refuted_as_its_layout_is(operand: str, text: str, refuted: set[tuple[str, str]]) -> None:
    wrong = replace(ENTRY, operands={**ENTRY.operands, operand: text})
    plain, points = verdicts(prepare(wrong)), verdicts(as_maps(**{operand: text}))
    of_plain = {key for key, verdict in plain.items() if verdict.status.value == "REFUTED"}
    of_map = {key for key, verdict in points.items() if verdict.status.value == "REFUTED"}
    assert refuted <= of_map
    assert of_plain == of_map


def test_replicas_are_compared_too() -> None:
    entry = registry()["SM70_8x8x4_F16F16F16F16_TN"]
    plain = prepare(entry)
    maps = {
        part.name: of_layout(read_layout(part.text), tuple(map(Axis, part.axes, part.extent))) for part in plain.parts
    }
    by_part = verdicts(with_maps(plain, maps))
    assert {verdict.status.value for verdict in by_part.values()} <= {"PROVED", "AGREES", "UNCHECKED"}
    assert by_part["A", "equals_isa"].status.value == "PROVED"
    wrong = {
        **maps,
        "A": maps["A"].then(FragmentMap.tabulate(lambda m, k: (m ^ 1, k), maps["A"].outputs, maps["A"].outputs)),
    }
    assert verdicts(with_maps(plain, wrong))["A", "equals_isa"].status.value == "REFUTED"


def test_every_spelling_is_read_in_an_atoms_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        f"""
["plain"]
ptx = "{ENTRY.ptx[0]}"
A = "Layout<Shape<Shape<_4,_8>,Shape<_2,_2,_2>>,Stride<Stride<_32,_1>,Stride<_16,_8,_128>>>"
B = "make_layout(make_shape(make_shape(4, 8), make_shape(2, 2)), make_stride(make_stride(16, 1), make_stride(8, 64)))"
C = [[[4, 8], [2, 2]], [[32, 1], [16, 8]]]
["coordinates"]
ptx = "{ENTRY.ptx[0]}"
A = "((4,8),(2,2,2)):((2@1,1@0),(1@1,8@0,8@1))"
B = "Layout(((4,8),(2,2)),((16,1),(8,64)))"
C = "((4,8),(2,2)):((2@1,1@0),(1@1,8@0))"
["swizzled"]
ptx = "{ENTRY.ptx[0]}"
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B = "((4,8),(2,2)):((16,1),(8,64))"
C = "Sw<0,0,0> o 0 o ((4,8),(2,2)):((32,1),(16,8))"
""",
        encoding="utf-8",
    )
    report = verify_atom(path)
    assert {case.name: case.status for case in report.cases} == dict.fromkeys(
        ("plain", "coordinates", "swizzled"), "VERIFIED"
    )
    path.write_text(path.read_text().replace("Sw<0,0,0>", "Sw<1,0,4>"), encoding="utf-8")
    refuted = {case.name: case.status for case in verify_atom(path).cases}
    assert refuted == {"plain": "VERIFIED", "coordinates": "VERIFIED", "swizzled": "REFUTED"}
