# SPDX-License-Identifier: Apache-2.0
"""A bug in any one evaluation of any class of maps ends a command in exit 3, with each property that reads the map."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import proofs
from layouts import Layout
from tests.messages import WRONG_EVALUATION
from tests.verify.movement.arguments import SW128, X4, access
from verify.atom import command as atom
from verify.core.verdict import Check, Status
from verify.evidence import gpu, isa
from verify.index import command as index
from verify.index.bind import bind
from verify.index.properties import case as case_of_index
from verify.index.spec import IndexSpec, OperandSpec
from verify.layout import command as layout
from verify.layout.product import of_operand
from verify.maps import strided
from verify.maps.array_map import ArrayMap
from verify.maps.expression import ExpressionMap, IndexFunction
from verify.maps.fragment_map import FragmentMap
from verify.maps.linear import BasesMap
from verify.maps.map import IsaFormula
from verify.maps.strided import StridedMap
from verify.movement import command as movement
from verify.report import Case
from verify.tiling import command as tiling

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
RIGHT, PROFILE = "((4,8),(2,2)):((32,1),(16,8))", "((4,8),(2,2))"
LAYOUTS = {
    "plain": RIGHT,
    "swizzled": f"Sw<0,0,0> o {RIGHT}",
    "coordinates": f"{PROFILE}:((2@1,1@0),(1@1,8@0))",
}
BASES = "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}"
ROW, COLUMN = "lane/4 + 8*(i/2)", "lane%4*2 + i%2"
TILE = ("in_bounds", "ownership")
OPERAND = ("in_bounds", "ownership", "equals_isa")
MAP = ("size", *OPERAND)


def index_case(**keys: str) -> Callable[[], Case]:
    return lambda: case_of_index(bind(IndexSpec("C", "", MMA, {"C": OperandSpec(**keys)}, {})))


def layout_case(text: str, *more: str) -> Callable[[], Case]:
    return lambda: (of_operand(text, *more) if more else layout.onto_tile(text, (16, 8))).cases[0]


SUBJECTS: dict[str, tuple[Callable[[], Case], Sequence[str], Callable[[], int]]] = {  # case, properties, command
    **{
        f"{kind} onto a tile": (layout_case(text), TILE, lambda text=text: layout.main([text, "--onto", "16x8"]))
        for kind, text in LAYOUTS.items()
    },
    **{
        f"{kind} as an operand": (
            layout_case(text, MMA, "C"),
            OPERAND,
            lambda text=text: layout.main([text, "--ptx", MMA, "--operand", "C"]),
        )
        for kind, text in LAYOUTS.items()
    },
    "bases": (
        index_case(bases=BASES),
        MAP,
        lambda: index.main(["--ptx", MMA, "--operand", "C", "--bases", BASES]),
    ),
    "expressions": (
        index_case(row=ROW, col=COLUMN, lang="c"),
        MAP,
        lambda: index.main(["--ptx", MMA, "--operand", "C", "--row", ROW, "--col", COLUMN, "--lang", "c"]),
    ),
}  # fmt: skip
OWNERS = {"bases": BasesMap, "expressions": ExpressionMap}


def exchange(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """A bijection still, that is wrong everywhere."""
    return (columns[0] ^ 1, *columns[1:])


def plant_in_block(name: str, planted: pytest.MonkeyPatch) -> None:
    if name == "expressions":
        right = IndexFunction._images  # seam: the images of many points, which a block and the table of them are

        def images(self: IndexFunction, points: Sequence[Any], texts: Any) -> list[Any]:
            computed = right(self, points, texts)
            return [(image[0] ^ 1, image[1]) for image in computed] if len(points) > 1 else computed

        planted.setattr(IndexFunction, "_images", images)
        return
    owner = OWNERS.get(name, StridedMap)
    block = owner.block
    planted.setattr(owner, "block", lambda self, start, stop: exchange(block(self, start, stop)))


def plant_in_at(name: str, planted: pytest.MonkeyPatch) -> None:
    if name == "bases":
        at = BasesMap.at
        planted.setattr(BasesMap, "at", lambda self, *point: tuple((x ^ 1, y) for x, y in at(self, *point)))
    elif name == "expressions":
        right = IndexFunction.recompute
        planted.setattr(IndexFunction, "recompute", lambda *given: tuple(c ^ 1 for c in right(*given)))
    else:
        image = StridedMap.image
        planted.setattr(StridedMap, "image", lambda self, thread, value: image(self, thread ^ 1, value))


def plant_in_call(name: str, planted: pytest.MonkeyPatch) -> None:
    call = Layout.__call__
    planted.setattr(Layout, "__call__", lambda self, *at: call(self, *at) + (at == (31, 3)))


def plant_in_proof(name: str, planted: pytest.MonkeyPatch) -> None:
    """The proof reads strides that are twice as long: of a right layout all that it proves is false."""
    right = proofs.OperandLayout

    def misread(read: Layout, *rest: Any) -> Any:
        return right(Layout(read.shape, ((64, 2), (32, 16))), *rest)

    planted.setattr(proofs, "OperandLayout", misread)
    planted.setattr(proofs, "certificate", lambda *_: None)


BUGS = {"block": plant_in_block, "at": plant_in_at, "call": plant_in_call, "proof": plant_in_proof}
CASES = [
    (name, bug)
    for name in SUBJECTS
    for bug in BUGS
    if bug in ("block", "at") or name.startswith("plain")  # layouts are called and proved; other maps are not
]


@pytest.mark.parametrize("name", SUBJECTS)
def test_without_a_bug_each_is_verified(name: str) -> None:
    find, properties, run = SUBJECTS[name]
    status = {verdict.claim.prop.key: verdict.status for verdict in find().verdicts}
    assert {status[key] for key in properties} == {Status.PROVED} and run() == 0


@pytest.mark.parametrize(("name", "bug"), CASES)
def test_a_bug_in_one_evaluation_ends_in_exit_3(name: str, bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each property alone is a contradiction, whatever the others are."""
    find, properties, run = SUBJECTS[name]
    BUGS[bug](name, monkeypatch)
    contradicted = {verdict.claim.prop.key for verdict in find().verdicts if verdict.contradiction}
    assert contradicted >= set(properties)
    assert run() == 3


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("bug", ["block", "at"])
def test_a_bug_in_two_layouts_ends_in_exit_3(kind: str, bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = LAYOUTS[kind]
    words = [text, "--equals", text]
    assert layout.main(words) == 0
    BUGS[bug](kind, monkeypatch)
    assert layout.main(words) == 3


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("name", ["block", "at"])
def test_a_bug_in_an_evaluation_of_a_formula_ends_in_exit_3(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(IsaFormula, name)

    def wrong(self: IsaFormula, *given: int) -> Any:
        computed = right(self, *given)
        return tuple((x ^ 1, y) for x, y in computed) if name == "at" else exchange(computed)

    monkeypatch.setattr(IsaFormula, name, wrong)
    (case,) = of_operand(LAYOUTS[kind], MMA, "C", None, {Check.ISA}).cases
    assert [verdict.claim.prop.key for verdict in case.verdicts if verdict.contradiction] == ["equals_isa"]
    assert layout.main([LAYOUTS[kind], "--ptx", MMA, "--operand", "C"]) == 3


TILING = ["--atom", "SM80_16x8x16_F32F16F16F32_TN", "--atoms-layout", "2,2,1", "--tile", "64,64,32", "--format", "json"]
PROGRAMS: dict[str, tuple[Callable[[], int], set[str]]] = {  # maps that a program gives as arrays
    "a tiling": (lambda: tiling.main(TILING), {"thread_numbers", "equals_tiled_atom", "partition"}),
    "a hand-over": (
        lambda: movement.main(["--from", X4, "--to", MMA, "--operand", "A", "--format", "json"]),
        {"hand_over"},
    ),
    "a descriptor": (
        lambda: movement.main(["--descriptor", SW128, "--element", "16", "--format", "json"]),
        {"descriptor"},
    ),
    "a store": (
        lambda: movement.main([*access(SW128, "--how", "store"), "--format", "json"]),
        {"disjoint", "whole_accesses"},
    ),
}


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("name", ["block", "at"])
def test_a_bug_in_an_evaluation_of_a_program_ends_in_exit_3(
    what: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, properties = PROGRAMS[what]
    assert run() == 0
    capsys.readouterr()
    right = getattr(ArrayMap, name)

    def wrong(self: ArrayMap, *given: int) -> Any:
        computed = right(self, *given)
        return tuple((x ^ 1,) for (x,) in computed) if name == "at" else exchange(computed)

    monkeypatch.setattr(ArrayMap, name, wrong)
    assert run() == 3
    (subject,) = json.loads(capsys.readouterr().out)["subjects"]
    contradicted = {
        verdict["property"]
        for verdict in subject["verdicts"]
        for evidence in verdict["evidence"]
        if evidence["counterexample"] and WRONG_EVALUATION in evidence["counterexample"]["statement"]
    }
    assert contradicted == properties


# Bugs at one point, or in a reading that both evaluations of a map must not share

LANES = [(lane, i, lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2) for lane in range(32) for i in range(4)]
PYTHON = "def place(lane, i):\n    return lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2\n"
WORDS = {  # every way to give a map of an operand
    "bases": ["--bases", BASES],
    "expressions": ["--row", ROW, "--col", COLUMN, "--lang", "c"],
    "inverse expressions": ["--lane", "row%8*4 + col/2", "--value", "row/8*2 + col%2", "--lang", "c"],
    "a table": ["--table", "c.csv"],
    "a function": ["--function", "c.py::place", "--allow-exec"],
}


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.csv").write_text("lane,i,row,col\n" + "".join(",".join(map(str, row)) + "\n" for row in LANES))
    (tmp_path / "c.py").write_text(PYTHON)


def run_index(name: str) -> int:
    return index.main(["--ptx", MMA, "--operand", "C", *WORDS[name]])


def change_at(right: Any, where: tuple[int, ...]) -> Any:
    """An evaluation of one point that is wrong at one."""
    return lambda self, *point: tuple((image[0] ^ (point == where), *image[1:]) for image in right(self, *point))


def change_block(right: Any, number: int) -> Any:
    """An evaluation of many points that is wrong at one."""

    def block(self: Any, start: int, stop: int) -> tuple[Any, ...]:
        first, *rest = (column.copy() for column in right(self, start, stop))
        if start <= number < stop:
            first[number - start] ^= 1
        return (first, *rest)

    return block


@pytest.mark.parametrize("number", [37, 90])  # neither the unit of a digit nor the last
@pytest.mark.parametrize("name", ["at", "block"])
def test_a_bug_in_the_bases_at_one_point_ends_in_exit_3(
    name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(BasesMap, name)
    bug = change_block(right, number) if name == "block" else change_at(right, divmod(number, 4))
    monkeypatch.setattr(BasesMap, name, bug)
    assert run_index("bases") == 3


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("name", ["at", "block"])
def test_a_bug_in_an_evaluation_of_a_table_ends_in_exit_3(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_index(kind) == 0
    right = getattr(FragmentMap, name)
    bug = change_block(right, 37) if name == "block" else change_at(right, (9, 1))
    with monkeypatch.context() as planted:
        planted.setattr(FragmentMap, name, bug)
        assert run_index(kind) in (0, 3)  # a search may not ask `at` for the point
    everywhere = {
        "at": lambda self, *point: tuple((image[0] ^ 1, *image[1:]) for image in right(self, *point)),
        "block": lambda self, start, stop: exchange(right(self, start, stop)),
    }
    monkeypatch.setattr(FragmentMap, name, everywhere[name])
    assert run_index(kind) == 3


OPEN = ["--ptx", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "--operand", "C", "--lang", "c"]  # no formula
EXPRESSIONS = {
    "with a formula": ["--ptx", MMA, "--operand", "C", *WORDS["expressions"]],
    "inverse": ["--ptx", MMA, "--operand", "C", *WORDS["inverse expressions"]],
    "left open": [*OPEN, "--row", "lane/2", "--col", "lane%2*8 + i"],
    "left open, inverse": [*OPEN, "--lane", "row*2 + col/8", "--value", "col%8"],
}


@pytest.mark.parametrize("kind", EXPRESSIONS)
@pytest.mark.parametrize("place", [22, 37])
def test_a_bug_at_one_point_of_expressions_ends_in_exit_3(
    kind: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the ISA leaves the map open, so that only bounds and owners are found."""
    known = index.main(EXPRESSIONS[kind])
    assert known == (4 if "open" in kind else 0)
    right = IndexFunction._images  # seam: the images of all points

    def images(self: IndexFunction, points: Sequence[Any], texts: Any) -> list[Any]:
        computed = right(self, points, texts)
        return [(image[0] + 64 * (at == place and len(points) > 1), *image[1:]) for at, image in enumerate(computed)]

    monkeypatch.setattr(IndexFunction, "_images", images)  # seam: the evaluation of a block
    assert index.main(EXPRESSIONS[kind]) == 3


@pytest.mark.parametrize("name", ["at", "block"])
@pytest.mark.parametrize("kind", ["bases", "expressions"])
def test_a_bug_in_the_formula_of_an_operand_ends_in_exit_3(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one evaluation of it, at one point."""
    right = getattr(IsaFormula, name)
    monkeypatch.setattr(IsaFormula, name, change_block(right, 37) if name == "block" else change_at(right, (9, 1)))
    assert run_index(kind) == 3


@pytest.mark.parametrize("more", [["--onto", "16x8"], ["--ptx", MMA, "--operand", "C"]])
def test_a_bug_in_the_strides_of_coordinates_ends_in_exit_3(more: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`at` and `block` each read the strides by themselves."""
    right = strided._of_axes  # seam: the coordinates of a block
    # seam: what a block reads
    monkeypatch.setattr(strided, "_of_axes", lambda layout, length: right(layout, length)[::-1])
    assert layout.main([LAYOUTS["coordinates"], *more]) == 3


@pytest.mark.parametrize("kind", LAYOUTS)
def test_a_bug_in_the_lanes_of_threads_ends_in_exit_3(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = isa.lane_of  # seam: the lane of a thread, digit by digit
    monkeypatch.setattr(isa, "lane_of", lambda thr, thread: right(thr, thread) ^ (thread > 1))
    assert layout.main([LAYOUTS[kind], "--ptx", MMA, "--operand", "C"]) == 3


@pytest.mark.parametrize("checks", [[], ["--checks", "gpu"]])
def test_a_bug_in_the_labels_that_a_recording_is_compared_with_ends_in_exit_3(
    checks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by the check gpu alone, which reads the map by blocks again before it refutes."""
    words = ["SM80_16x8x16_F32F16F16F32_TN", *checks]
    assert atom.main(words) == 0
    right = gpu._by_lane  # seam: the element of every lane and value

    def wrong(*given: Any) -> Any:
        labels = right(*given).copy()
        labels[9, 1, 1] ^= 1
        return labels

    monkeypatch.setattr(gpu, "_by_lane", wrong)  # seam: the labels
    assert atom.main(words) == 3
