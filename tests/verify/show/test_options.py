# SPDX-License-Identifier: Apache-2.0
"""Every option with every sort of subject: it changes what is drawn, or is rejected by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from verify.atom.command import main as verify_atom
from verify.kernel.command import main as verify_kernel
from verify.pictures.picture import Picture
from verify.show import subjects
from verify.show.command import main, parser
from verify.show.options import readers

ATOM = "SM80_16x8x16_F32F16F16F32_TN"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
ENTRY = {
    "atoms": f'ptx = "{MMA}"\nA = "((4,8),(2,2,2)):((32,1),(16,8,128))"\nB = "((4,8),(2,2)):((16,1),(8,64))"\n'
    'C = "((4,8),(2,2)):((32,1),(16,8))"',
    "tiling": f'atom = "{ATOM}"\natoms_layout = [1, 1, 1]\ntile = [16, 8, 16]',
    "movement": f'from = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"\nto = "{ATOM}"\noperand = "A"\nmajor = "K"',
    "index": f'ptx = "{MMA}"\nlang = "c"\nB = {{ row = "lane%4*2 + i%2 + 8*(i/2)", col = "lane/4" }}\n'
    'C = { row = "lane/4 + 8*(i/2)", col = "lane%4*2 + i%2" }',
}
OF_MINE = 'atom = "one"\natoms_layout = [1, 1, 1]\ntile = [16, 8, 16]'
FUNCTION = f'ptx = "{MMA}"\noperand = "C"\nfunction = "accumulators.py::row_and_col"'
FILES = {
    "FILE of atoms": "atoms",
    "FILE of tilings": "tiling",
    "FILE of movements": "movement",
    "FILE of maps": "index",
}
SORTS = {FILES.get(sort, sort): row for sort, row in readers().items()}
Words = list[str]
Shown = Callable[[Words], tuple[int, str, str]]


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    def run(words: Words) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of each sort with two entries, a report on two atoms, and files that need an option."""
    folder = tmp_path_factory.mktemp("subjects")
    for sort, entry in ENTRY.items():
        (folder / f"{sort}.toml").write_text(f"[one]\n{entry}\n\n[two]\n{entry}\n")
    (folder / "mine.toml").write_text(f"[one]\n{OF_MINE}\n")
    (folder / "function.toml").write_text(f"[one]\n{FUNCTION}\n")
    (folder / "accumulators.py").write_text(Path("examples/guest/layouts/accumulators.py").read_text())
    write = ["--checks", "isa", "-q", "--format", "json", "-o", str(folder / "report.json")]
    assert verify_atom(["--atoms", str(folder / "atoms.toml"), "one", "two", *write]) == 0
    return folder


def subject(sort: str, option: str, files: Path) -> str:
    """A subject of a sort, on which the option has an effect if it is read."""
    special = {("atom", "atoms"): "one", ("tiling", "atoms"): "mine.toml", ("index", "allow_exec"): "function.toml"}
    special["layout", "ptx"] = "((4,8),(2,2)):((32,1),(16,8))"
    alone = {"atom": ATOM, "layout": "Sw<1,0,1> o (4,4):(4,1)", "instruction": MMA, "report": "report.json"}
    name = special.get((sort, option), alone.get(sort, f"{sort}.toml"))
    return str(files / name) if name.endswith((".toml", ".json")) else name


def words(sort: str, option: str, files: Path) -> Words:
    """The option with a value."""
    panel = {"layout": "after", "instruction": "D", "movement": "to"}.get(sort, "C")
    given = {
        "only": "two", "operand": panel, "atoms": str(files / "atoms.toml"), "onto": "4x4", "banks": "16",
        "thread": "0", "rows": "0:1", "columns": "1:2", "format": "svg", "output": str(files / "out.txt"),
    }  # fmt: skip
    name = f"--{option.replace('_', '-')}"
    if option == "ptx":
        return [name, MMA, *(["--operand", "C"] if sort == "layout" else [])]
    return [name, given[option]] if option in given else [name]


OPTIONS = sorted(vars(parser().parse_args(["x"])).keys() - {"version", "what"})


@pytest.mark.long
@pytest.mark.parametrize(("sort", "option"), list(product(SORTS, OPTIONS)))
def test_an_option_is_read_or_rejected_by_name(
    sort: str, option: str, files: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    if option == "allow_exec":
        monkeypatch.setenv("CI", "true")
    what, given = subject(sort, option, files), words(sort, option, files)
    before, after = shown([what]), shown([what, *given])
    read = [words for words, options in SORTS.values() if option in options]
    if not read or option in SORTS[sort][1]:
        assert after[0] == 0 and (after != before or option == "no_unicode")
        assert option != "no_unicode" or after[1].isascii()
    else:
        line = f"lanecheck: {given[0]} is not read for {SORTS[sort][0]}, only for {' or '.join(read)}\n"
        assert after == (2, "", line)


def test_an_option_that_one_of_several_subjects_does_not_read_is_rejected(shown: Shown, files: Path) -> None:
    code, out, err = shown([str(files / "tiling.toml"), ATOM, "--thread", "0"])
    assert (code, out) == (2, "") and "--thread is not read for an atom, only for a FILE of tilings" in err


@pytest.mark.parametrize(
    ("given", "rejected"),
    [
        (["--onto", "4x4", "--table"], "--table is not read with --onto"),
        (["--onto", "4x4", "--banks", "16"], "--banks is not read with --onto"),
        (["--table", "--banks", "16"], "--banks is not read with --table"),
        (["--svg", "-q"], "--quiet is not read with --format svg"),
        (["--html", "--no-unicode"], "--no-unicode is not read with --format html"),
        (["--latex", "-q"], "--quiet is not read with --format latex"),
    ],
)
def test_an_option_that_another_leaves_nothing_to_do_is_rejected(given: Words, rejected: str, shown: Shown) -> None:
    code, out, err = shown(["(4,4):(4,1)", *given])
    assert (code, out) == (2, "") and rejected in err and len(err.splitlines()) == 1


def test_coordinates_have_no_banks(shown: Shown) -> None:
    code, out, err = shown(["(2,2):(1@0,1@1)", "--banks", "16"])
    assert (code, out) == (2, "") and "--banks: the values of (2,2):(1@0,1@1) are coordinates" in err


def test_quiet_text_is_ascii_too(files: Path, shown: Shown) -> None:
    path = files / "names.toml"
    path.write_text(f'["é"]\n{ENTRY["tiling"]}\n')
    assert shown([str(path), "-q", "--no-unicode"])[1] == "\\xe9: VERIFIED (isa)\n"


SWIZZLED = "ldmatrix reads rows of A: sixteen rows, then the same rows eight elements on"
DRAWN = {
    "atom": [ATOM],
    "sparse atom": ["SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e2m1_t, float_e2m1_t, float>"],
    "copy": ["SM75_U32x4_LDSM_N"],
    "table of an atom": [ATOM, "--table"],
    "relabelled": ["relabelled.toml"],
    "layout": ["(4,6):(6,1)"],
    "swizzle": ["Sw<1,0,1> o (4,4):(4,1)", "--banks", "16"],
    "onto": ["((4,8),(2,2)):((32,1),(16,8))", "--onto", "16x8"],
    "swizzle onto": ["Sw<1,0,1> o (4,4):(4,1)", "--onto", "4x4"],
    "table": ["((4,8),(2,2)):((32,1),(16,8))", "--table"],
    "table of coordinates": ["((2,2),(2,3)):((1@0,2@0),(1@1,4@0))"],
    "table of a swizzle": ["Sw<1,0,1> o (4,4):(4,1)", "--table"],
    "instruction": [MMA],
    "tensor memory": ["tcgen05.mma.cta_group::1.kind::f16"],
    "tiling": ["tiling.toml", "--only", "one"],
    "thread": ["tiling.toml", "--only", "one", "--thread", "5"],
    "hand-over": ["movement.toml", "--only", "one"],
    "banks": ["examples/movement.toml", "--only", SWIZZLED],
    "descriptor": ["examples/movement.toml", "--only", "wgmma reads B by a descriptor"],
    "maps": ["index.toml", "--only", "one"],
    "report": ["report.json", "--only", "one"],
    "report on a product": ["product.json"],
}
RELABELLED = f"""[mine]
ptx = "{MMA}"
A   = "((4,8),(2,2,2)):((64,1),(16,8,32))"
B   = "((4,8),(2,2)):((32,1),(8,16))"
C   = "((4,8),(2,2)):((32,1),(16,8))"
"""


@pytest.fixture(scope="module")
def sources(files: Path) -> Path:
    """The files of every picture."""
    (files / "relabelled.toml").write_text(RELABELLED)
    claim = ["--claim", "examples/kernel/fragment.toml", "--seed", "1", "--format", "json"]
    assert verify_kernel(["examples/kernel/fragment.ptx", *claim, "-o", str(files / "product.json")]) == 1
    return files


def pictures(given: Words, folder: Path) -> list[Picture]:
    where = [str(folder / word) if (folder / word).is_file() else word for word in given]
    return list(subjects.draw_arguments(parser().parse_args(where)).pictures)


@pytest.mark.long
@pytest.mark.parametrize("what", DRAWN)
def test_rows_and_columns_are_those_of_the_whole(what: str, sources: Path) -> None:
    """Of each panel alone: with one option, with the other, with both; also where the end is beyond the map."""
    (whole,) = pictures(DRAWN[what], sources)
    assert whole.panels
    for panel in whole.panels:
        height, width = panel.whole
        assert panel.extent == panel.whole
        rows, columns = range(height // 2, height), range(width // 3, max(1, width // 2))
        for down, across in ((rows, None), (None, columns), (rows, columns)):
            words = [f"--rows={rows.start}:{height + 7}"] * bool(down)
            words += [f"--columns={columns.start}:{columns.stop}"] * bool(across)
            words += ["--operand", panel.name] * bool(panel.name)
            (part,) = pictures([*DRAWN[what], *words], sources)
            assert part.panels == (panel.crop(down or range(height), across or range(width)),)
            assert (part.status, part.notes) == (whole.status, whole.notes)


@pytest.mark.long
@pytest.mark.parametrize("what", DRAWN)
@pytest.mark.parametrize("option", ["--rows", "--columns"])
def test_a_window_outside_is_one_line_with_the_extents(option: str, what: str, sources: Path, shown: Shown) -> None:
    (whole,) = pictures(DRAWN[what], sources)
    panel = whole.panels[-1]
    given = [str(sources / word) if (sources / word).is_file() else word for word in DRAWN[what]]
    name = ["--operand", panel.name] * bool(panel.name)
    code, out, err = shown([*given, option, "100000:100001", *name])
    extents = f"{panel.whole[0]} rows and {panel.whole[1]} columns"
    assert (code, out, err) == (2, "", f"lanecheck: {option}: {panel.heading} has {extents}\n")


def test_panels_that_a_window_does_not_meet_are_left_out_and_named(sources: Path, shown: Shown) -> None:
    """B of m16n8k16 has 8 columns, A has 16; of several pictures one may have no panel left."""
    (picture,) = pictures([ATOM, "--columns", "9:16"], sources)
    assert [panel.name for panel in picture.panels] == ["A"]
    left = "outside the window: B 8x16 (n,k) has 16 rows and 8 columns; C 16x8 (m,n) has 16 rows and 8 columns"
    assert picture.notes == (left,)
    code, out, _ = shown(["examples/movement.toml", "--columns", "30:32"])
    assert code == 0 and "T7  T7\n" in out
    assert "outside the window: descriptor 0x4000004000000000 at address 0 has 5 rows and 2 columns" in out


@pytest.mark.parametrize("option", ["--rows", "--columns"])
def test_a_window_that_no_panel_meets_names_the_largest(option: str, shown: Shown) -> None:
    line = f"lanecheck: {option}: A 16x16 (m,k) has 16 rows and 16 columns; none of 3 panels has more\n"
    assert shown([ATOM, option, "16:18"]) == (2, "", line)


FAR = {
    "layout": ["(100000,100):(100,1)", "--rows", "90000:90002", "--columns", "97:99"],
    "swizzle": ["Sw<1,0,7> o (100000,100):(100,1)", "--rows", "90000:90002", "--columns", "97:99"],
    "table": ["(100000,100):(100,1)", "--table", "--rows", "90000:90002", "--columns", "97:99"],
    "coordinates": ["(100000,100):(1@0,1@1)", "--rows", "90000:90002", "--columns", "97:99"],
    "onto": ["(2000,400):(400,1)", "--onto", "2000x400", "--rows", "1998:2000", "--columns", "397:399"],
}
LAST = {
    "layout": "9000198", "swizzle": "9000096", "table": "9000198", "coordinates": "90001,98",
    "onto": "T1994 V399",  # (1999, 398) is 1999 + 2000*398 = 797999 = 400*1994 + 399
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("what", FAR)
@pytest.mark.parametrize("how", ["text", "svg", "html", "latex"])
def test_cells_beyond_the_most_are_drawn_in_every_format(how: str, what: str, shown: Shown) -> None:
    code, out, _ = shown([*FAR[what], "--format", how])
    assert code == 0 and all(word in out for word in LAST[what].split(" "))
    assert "shown: " in out and ("1998..1999" if what == "onto" else "90000..90001") in out


@pytest.mark.long
def test_a_window_of_too_many_cells_says_which_are_drawn() -> None:
    (picture,) = pictures(["(100000,100):(100,1)", "--columns", "98:100"], Path())
    (panel,) = picture.panels
    assert panel.window == "shown: row 0..32767 of 0..99999, column 98..99 of 0..99"
    assert panel.count == 1 << 16 and panel.cells[-1][-1].text == "3276799"
