# SPDX-License-Identifier: Apache-2.0
"""Pictures have every owner of every element, by every writer: none hides a collision, a hole or another owner."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import isa_tables
from layouts import parse_layout, size
from layouts.atoms import registry
from layouts.bank_conflicts import Access
from layouts.pasted import read_layout
from layouts.swizzle import Swizzle
from verify.atom.checker import AtomChecker, prepare_atom
from verify.binding.completion import atoms as atoms_of
from verify.core.verdict import Check
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis
from verify.pictures import html, latex, layouts, maps, owners, palette, svg, terminal
from verify.pictures.atoms import of_atom
from verify.pictures.banks import phases
from verify.pictures.picture import WHOLE, Cell, Fault, Picture, Window, grid
from verify.pictures.zoom import zoom

MUSEUM = Path(__file__).parents[2] / "museum" / "wrong.toml"
RIGHT = "SM80_16x8x16_F32F16F16F32_TN"
HOSTILE = "</title><script>alert(1)</script>]]>\"'&\x00\u202e"
MAPS = ("size", "in_bounds", "ownership", "equals_isa", "equals_absolute")
SVG = "{http://www.w3.org/2000/svg}"


def draw(entry: object) -> Picture:
    case = AtomChecker(frozenset({Check.ISA})).case(entry)  # type: ignore[arg-type]
    return of_atom(prepare_atom(entry), case.verdicts, case.headline)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def right() -> Picture:
    return draw(registry()[RIGHT])


@pytest.fixture(scope="module")
def wrong() -> Picture:
    return draw(next(atom for atom in atoms_of(MUSEUM).items if atom.name.startswith("1: ")))


def panel(picture: Picture, name: str) -> dict[tuple[int, int], Cell]:
    chosen = next(panel for panel in picture.panels if panel.name == name)
    return {(r, c): cell for r, row in enumerate(chosen.cells) for c, cell in enumerate(row)}


def test_a_tall_b_goes_below_a_with_its_rows_as_columns(right: Picture, wrong: Picture) -> None:
    """Above C, 32 rows of 8 columns would leave A a corner of the page."""
    assert right.flatten() == right
    flat = wrong.flatten()
    before, after = panel(wrong, "B"), panel(flat, "B")
    assert after == {(n, k): cell for (k, n), cell in before.items()} and len(after) == 256
    (b,) = (panel for panel in flat.panels if panel.name == "B")
    assert (b.axes, b.whole, b.place) == (("n", "k"), (8, 32), (2, 0))
    assert (b.label(0, 7), b.label(1, 31)) == ("7", "31")
    wide, tall = (float(number) for number in svg.drawing(flat, words=False).get("viewBox", "").split()[2:])
    assert wide > 1.5 * tall


def test_a_right_atom_is_drawn_as_the_isa_has_it(right: Picture) -> None:
    mma = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    for name in "ABC":
        cells, operand = panel(right, name), mma.operands[name]
        for lane in range(32):
            for value in range(operand.values):
                cell = cells[operand.locate(lane, value)]
                assert cell.lines == (f"T{lane}", f"V{value}") and cell.shade == lane % 8
        assert not any(cell.fault or cell.expected or cell.marked for cell in cells.values())
    assert [panel.place for panel in right.panels] == [(1, 0), (0, 1), (1, 1)]  # A left, B above, C below right


def test_a_wrong_atom_shows_collisions_holes_expected_owners_and_the_counterexample(wrong: Picture) -> None:
    cells = panel(wrong, "B")
    several = [at for at, cell in cells.items() if cell.fault is Fault.SEVERAL]
    assert [k for k, n in several if n == 0] == list(range(4, 16))
    assert {at for at, cell in cells.items() if cell.fault is Fault.MISSING} == {
        (k, n) for k in range(20, 32) for n in range(8)
    }
    assert cells[4, 0].lines == ("T0 V4", "T1 V0") and cells[4, 0].expected == "T0 V4"
    assert cells[8, 0].expected == "T1 V0" and cells[0, 0].expected == ""
    assert [at for at, cell in cells.items() if cell.marked] == [(4, 0)]
    assert "T0 V4 and T1 V0 both hold (n=0, k=4)" in wrong.notes[0]
    both = [line for line in cells[4, 0].about if line.startswith(("layout: T0", "ISA: "))]
    assert both == ["layout: T0 V4 has 0*32 + 0*1 + 4*8 = 32",
                    "ISA: T0 V4: row = (threadID_in_group * 8) + (i & 0x7); col = groupID"]  # fmt: skip


def test_a_planted_stride_is_outlined() -> None:
    subject = prepare_atom(registry()[RIGHT])
    part = subject.parts[2].of_layout(parse_layout("((4,8),(2,2)):((32,1),(8,16))"))
    picture = of_atom(replace(subject, parts=(part,)))
    assert sum(bool(cell.expected) for cell in panel(picture, "C").values()) == 64


SPARSE = "SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x128_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue8m0_t, 32>"


@pytest.mark.long
@pytest.mark.parametrize("name", ["SM70_8x8x4_F32F16F16F32_TN", "SM90_64x8x16_F16F16F16_SS", "SM75_U32x4_LDSM_N",
                                  SPARSE])  # fmt: skip
def test_atoms_with_replicas_in_memory_of_bits_and_sparse_are_drawn_without_faults(name: str) -> None:
    picture = draw(registry()[name])
    cells = [cell for panel in picture.panels for cell in panel.every()]
    assert len(picture.panels) >= 3 and not any(cell.fault or cell.expected for cell in cells)


def test_bits_that_an_element_of_the_isa_keeps_together_are_one_cell_and_no_more() -> None:
    picture = draw(registry()["SM75_U32x4_LDSM_N"])
    assert [panel.heading for panel in picture.panels] == [
        f"{name}: 4096 bits, 16 in a cell" for name in ("Src", "Dst", "Ref")
    ]
    assert panel(picture, "Dst")[0, 1].lines == ("T0", "V16-31")
    subject = prepare_atom(registry()["SM75_U32x4_LDSM_N"])
    text = "(32,(16,2,4)):(32,(1,512,1024))"  # the second half of each register elsewhere
    part = subject.parts[1].of_layout(parse_layout(text))
    wrong = of_atom(replace(subject, parts=(subject.parts[0], part, subject.parts[2])))
    assert sum(bool(cell.expected) for cell in panel(wrong, "Dst").values()) > 100


@pytest.mark.slow
@pytest.mark.parametrize("start", [3, 57])
def test_what_is_drawn_as_wrong_is_what_the_check_refutes(start: int) -> None:
    names = [*registry()]
    checker, seen = AtomChecker(frozenset({Check.ISA})), 0
    for name in names[start::200]:
        case = checker.case(registry()[name])
        picture = case.picture(WHOLE)
        if picture is not None:
            wrong = any(cell.fault or cell.expected for panel in picture.panels for cell in panel.every())
            assert wrong == any(v.status.refuted and v.claim.prop.key in MAPS for v in case.verdicts), name
            seen += 1
    assert seen > 10


@pytest.mark.slow
def test_every_wrong_atom_of_the_museum_is_drawn_as_wrong() -> None:
    for entry in atoms_of(MUSEUM).items:
        picture = draw(entry)
        assert any(cell.fault or cell.expected for panel in picture.panels for cell in panel.every()) or picture.notes


def test_svg_has_every_cell_its_words_and_a_description(wrong: Picture) -> None:
    root = ElementTree.fromstring(svg.document([wrong]))
    cells = [group for group in root.iter(f"{SVG}g") if "c" in group.get("class", "").split()]
    assert len(cells) == wrong.cells + len(wrong.legend())
    text = "".join(root.itertext())
    assert root.get("role") == "img" and "without an owner" in text and "several owners" in text
    assert (root.find(f"{SVG}title"), root.find(f"{SVG}desc")) != (None, None)
    faults = [cell.get("class") for cell in cells]
    assert faults.count("c missing") == 96 + 1 and faults.count("c several") == 96 + 1
    named = {node.get("id") for node in root.iter() if node.get("id")}
    assert {root.get("aria-labelledby"), root.get("aria-describedby")} <= named
    assert "prefers-color-scheme:dark" in text and "<script" not in svg.document([wrong])


def test_an_element_with_too_few_owners_is_not_said_to_have_none() -> None:
    few = Cell(("T0", "V0"), fault=Fault.MISSING)
    picture = Picture(
        "one", (grid("C", "C", ("m", "n"), (1, 3), lambda r, c: few if c else Cell((), fault=Fault.MISSING)),)
    )
    assert [words for _, words in picture.legend()] == ["no owner: 1", "too few owners: 2"]
    assert "1 cell without an owner, 2 cells with too few owners" in picture.summary()
    assert html.words(few, picture) == "T0 V0: too few owners"
    assert "no owner or too few owners" in terminal.render(picture, terminal.Style(80))


def test_nothing_of_a_large_picture_is_cropped_silently() -> None:
    large = grid("C", "C 128x128", ("m", "n"), (128, 128), lambda r, c: Cell((f"T{r}", f"V{c}"), r % 8))
    text = svg.document([Picture("large", (large,))])
    root = ElementTree.fromstring(text)
    group = next(node for node in root.iter(f"{SVG}g") if node.get("data-cells"))
    packed = json.loads(group.findtext(f"{SVG}metadata", ""))
    assert [[cell[0] for cell in row] for row in packed["cells"]] == [[f"T{r}\nV{c}" for c in range(128)]
                                                                       for r in range(128)]  # fmt: skip
    assert "shown: m 0..31 of 0..127, n 0..31 of 0..127" in text  # where no script runs
    assert len([node for node in group if "c" in node.get("class", "").split()]) == 1024
    assert "<" not in svg.SCRIPT.read_text()  # in a page's SVG it would begin an element
    assert 60 < len(svg.SCRIPT.read_text().splitlines()) < 120


@pytest.mark.long
def test_a_panel_beyond_the_most_cells_says_which_window_it_is() -> None:
    large = grid("C", "C", ("m", "n"), (512, 512), lambda r, c: Cell((f"{r},{c}",)))
    assert large.window == "shown: m 0..127 of 0..511"
    assert large.crop(range(2), range(3)).window == "shown: m 0..1 of 0..511, n 0..2 of 0..511"


def test_words_of_any_length_are_within_the_drawing(wrong: Picture) -> None:
    long = replace(wrong.only(["C"]), title="long " * 60, notes=("word " * 99, "x" * 999), status="REFUTED")
    root = ElementTree.fromstring(svg.document([long]))
    width, height = map(float, root.get("viewBox", "").split()[2:])
    texts = [text for text in root.iter(f"{SVG}text") if {"h", "n"} & set(text.get("class", "").split())]
    assert "".join(text.text or "" for text in texts).count("long") == 60
    assert all(float(text.get("x", 0)) + 4.9 * len(text.text or "") <= width for text in texts)
    assert height > 400


def test_a_legend_says_how_many_cells_each_mark_is_on(wrong: Picture) -> None:
    words = dict(word.rsplit(": ", 1) for _, word in wrong.legend() if ": " in word)
    every = [cell for panel in wrong.panels for cell in panel.every()]
    assert words["several owners"] == str(sum(cell.fault == "several" for cell in every)) != "0"
    assert words["no owner"] == str(sum(cell.fault == "missing" for cell in every)) != "0"


def test_of_a_wrong_picture_the_counterexample_and_its_neighbours_come_first(wrong: Picture, right: Picture) -> None:
    assert zoom(right) is None
    zoomed = zoom(wrong)
    assert zoomed is not None
    part, drawn = zoomed
    assert sum(cell.marked for cell in part.every()) == 1 and part.extent[0] == 6
    assert float(svg.drawing(drawn, words=False).get("width", "0")) <= 368  # of 400 pixels, without the page's margins


def test_names_of_users_are_text_in_every_format(right: Picture) -> None:
    bad = replace(right, title=HOSTILE, notes=(HOSTILE,), panels=(replace(right.panels[0], heading=HOSTILE),))
    root = ElementTree.fromstring(svg.document([bad]))
    assert not list(root.iter(f"{SVG}script")) and "alert(1)" in "".join(root.itertext())
    parser = Cells()
    parser.feed(html.page([bad]))
    both = html.page([bad]) + svg.document([bad])
    assert parser.tags.count("script") == 1 and html.script() in html.page([bad])
    assert "\x00" not in both and "\u202e" not in both
    tex = latex.document([replace(bad, title=r"\input{x} $%#&_^~")])
    assert r"\textbackslash{}input\{x\} \$\%\#\&\_\textasciicircum{}\textasciitilde{}" in tex


class Cells(HTMLParser):
    """The words of every table cell, and what the page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.fetched: list[str] = []
        self.inside = False
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.inside = tag == "td"
        self.cells += [""] * self.inside
        addresses = [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        self.fetched += [address for address in addresses if not address.startswith("#")]

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = False


@pytest.mark.long
def test_html_has_every_cell_as_a_table_too_and_needs_no_other_file(wrong: Picture) -> None:
    parser = Cells()
    parser.feed(html.page([wrong, wrong]))
    assert len(parser.cells) == 2 * wrong.cells and parser.fetched == []
    assert "T0 V4, T1 V0: several owners; expected T0 V4; the counterexample" in parser.cells
    ids = re.findall(r'\bid="([^"]*)"', html.page([wrong, wrong]))
    assert len(ids) == len(set(ids)) == 13  # title, description and hatch of two drawings of each, and the main part


@pytest.mark.parametrize("width", [20, 40, 80])
def test_text_fits_its_width_and_loses_no_owner(right: Picture, width: int) -> None:
    bare = replace(right, title="A", panels=(replace(right.panels[0], captions=()),))
    text = terminal.render(bare, terminal.Style(width))
    assert all(len(line) <= width for line in text.splitlines())
    assert sorted(re.findall(r"T\d+ V\d+", text)) == sorted(f"T{t} V{v}" for t in range(32) for v in range(8))


def test_text_says_without_colour_and_without_unicode_what_is_wrong(wrong: Picture) -> None:
    text = terminal.render(wrong, terminal.Style(unicode=False))
    assert text.isascii() and ">!T0 V4" in text and "#T1 V0" in text and "----" in text
    assert "! several owners, - no owner, # what is expected there, > the counterexample" in text
    coloured = terminal.render(wrong, terminal.Style(colour=True))
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured).replace(" ", "") == terminal.render(wrong, terminal.Style()).replace(
        " ", ""
    )


def test_a_column_of_latex_is_as_wide_as_its_longest_line_needs() -> None:
    def width(letters: int) -> str:
        single = grid("one", "one", ("m", "n"), (1, 2), lambda row, column: Cell(("x" * letters,)))
        (wide,) = set(re.findall(r"minimum width=([\d.]+)cm", latex.document([Picture("t", (single,))])))
        return wide

    assert [width(letters) for letters in (1, 6, 12, 24)] == ["1", "1.25", "2.5", "5"]


def test_the_panels_of_an_access_are_its_phases_below_each_other() -> None:
    access = Access(tuple(16 * lane for lane in range(32)), 128)
    panels = list(phases("rows", access, Swizzle(0, 4, 3), place=(2, 1), step=3))
    assert [panel.place for panel in panels] == [(2, 1), (5, 1), (8, 1), (11, 1)]


def test_latex_has_a_node_for_each_cell(wrong: Picture) -> None:
    text = latex.document([wrong])
    assert text.count(r"\node[cell,") == wrong.cells and text.count("{") == text.count("}")
    assert text.count("pattern=north east lines") == 96 and text.count("fill=lcred") == 96


def test_a_swizzle_is_drawn_before_and_after() -> None:

    picture = layouts.of_layout("text", read_layout("Sw<3,3,3> o (8,64):(64,1)"), banks=16)
    before, after = ({at: cell.lines for at, cell in panel(picture, name).items()} for name in ("before", "after"))
    assert before[1, 8] == ("72", "b4") and after[1, 8] == ("64", "b0")
    assert {lines[1] for (_, c), lines in before.items() if c == 0} == {"b0"}  # a column in one bank
    assert len({lines[1] for (_, c), lines in after.items() if c == 0}) == 8


@pytest.mark.parametrize(
    "window", [WHOLE, (range(1, 3), range(2, 9)), (range(1, 3), None), (None, range(2, 9))], ids=str
)
@pytest.mark.parametrize(
    "text", ["9:-2", "(4,6):(6,1)", "((2,2),3,(2,2)):((1,12),4,(2,-7))", "Sw<2,1,3> o (4,(2,6)):(12,(6,1))"]
)
def test_each_cell_of_a_layout_has_the_offset_of_its_row_and_column(text: str, window: Window) -> None:
    layout = read_layout(text)
    panel = layouts.of_layout(text, layout, window=window).panels[-1]
    (row, column), (rows, columns) = panel.first, panel.extent
    height = 1 if len(layout) == 1 else size(layout[0])
    width = size(layout) // height
    assert panel.whole == (height, width)
    assert rows == (height if window[0] is None else len(range(1, min(3, height))))
    assert not rows or columns == (width if window[1] is None else min(9, width) - 2)
    for r, cells in enumerate(panel.cells):
        indices = (row + r + height * (column + c) for c in range(columns))
        assert [cell.text for cell in cells] == [str(layout(index)) for index in indices]


def test_maps_that_are_not_functions_show_all_images_and_owners() -> None:
    twice = FragmentMap.from_pairs([Axis("lane", 2), Axis("value", 1)], [Axis("m", 2)],
                                   [((0, 0), (0,)), ((1, 0), (0,))])  # fmt: skip
    assert [(cell.lines, cell.fault) for cell in maps.tile("C", twice).every()] == [
        (("T0-1", "V0"), Fault.SEVERAL), ((), Fault.MISSING),
    ]  # fmt: skip
    assert [cell.fault for cell in maps.table("C", twice.inverse()).every()] == [Fault.SEVERAL, Fault.MISSING]


def test_tensor_memory_has_lanes_down_and_columns_across() -> None:
    operand = isa_tables.instruction("tcgen05.mma.cta_group::1.kind::f16").operands["D"]
    memory = maps.memory("D", FragmentMap.from_operand(operand))
    assert memory.axes == ("lane", "column") and memory.whole == (128, 8)
    for m, n in [(0, 0), (40, 3), (127, 7)]:
        place = operand.place(m, n)
        assert memory.cells[place["lane"]][place["column"]].lines == (f"m{m}", f"n{n}")


def test_no_two_marks_differ_by_colour_alone() -> None:
    assert len({mark for mark in terminal.UNICODE.values()}) == len({mark for mark in terminal.ASCII.values()}) == 4
    assert len(palette.PASTELS) == len(palette.DARK) == 8
    assert owners.cell([], [(0, 0)], 1).expected == "T0 V0"
