# SPDX-License-Identifier: Apache-2.0
"""A user's file: what an entry may leave out, how all errors of a file are reported, and which command reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import isa_tables
from layouts import LayoutError
from layouts.atoms import Atom, AtomFileError, IncompleteAtom, load, mma, registry
from layouts.atoms.entry import Entry
from layouts.tiled.atom import MmaAtom
from verify import layout
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.binding.completion import atoms, completed
from verify.cli import ending
from verify.gate import Suite
from verify.laws import command as laws
from verify.movement import command as movement
from verify.mutate import command as mutate
from verify.tiling import command as tiling

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
MINIMAL = f"""["MIN"]
ptx = "{MMA}"
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B = "((4,8),(2,2)):((16,1),(8,64))"
C = "((4,8),(2,2)):((32,1),(16,8))"
"""
FULL = MINIMAL + 'shape = [16, 8, 16]\nthr = "32:1"\ntypes = { D = "f32", A = "f16", B = "f16", C = "f32" }\n'
TILING = '["t"]\natom = "SM80_16x8x16_F32F16F16F32_TN"\n'
MOVEMENT = '["m"]\nshared = "(32,8):(8,1)"\naccess = "(32,8):(1,32)"\nelement = 16\n'
INSTRUCTION = Path(__file__).parents[2] / "isa_tables/ptx/mma_m16n8k4_tf32.toml"


def run(capsys: pytest.CaptureFixture[str], path: Path, text: str, *options: str) -> tuple[int, str, str]:
    """The exit code, output and errors of `verify.atom` on a file with this text."""
    path = path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    code = atom.main([str(path), *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err.replace(str(path), "F")


def test_an_entry_needs_ptx_and_its_layouts_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, tmp_path, MINIMAL, "--checks", "isa", "--format", "json")
    found = json.loads(out)
    taken = {v["part"]: v["claim"] for v in found["subjects"][0]["verdicts"] if v["status"] == "TAKEN"}
    assert code == 0
    assert taken == {"shape": "16x8x16", "thr": "32:1", "types": "D f32, A f16, B f16, C f32"}
    assert found["claims"]["TAKEN"] == 3
    given = json.loads(run(capsys, tmp_path, FULL, "--checks", "isa", "--format", "json")[1])
    assert given["claims"]["TAKEN"] == 0
    assert given["claims"]["PROVED"] == found["claims"]["PROVED"] + 1  # that thr numbers the lanes


def test_what_is_taken_is_reported_and_never_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, tmp_path, MINIMAL, "--checks", "isa", "-v")[1]
    assert "taken from the instruction: shape 16x8x16; thr 32:1; types D f32, A f16, B f16, C f32" in out
    assert "3 taken" in out and f"operands fit {MMA}" in out
    wrong = run(capsys, tmp_path, MINIMAL.replace("(8,64)", "(64,8)"), "--checks", "isa")
    assert wrong[0] == 1 and "taken from the instruction: shape 16x8x16; thr 32:1; types" in wrong[1]
    assert "extents" not in out and "threads and types fit" not in out and "number the 32 lanes" not in out
    junit = ElementTree.fromstring(run(capsys, tmp_path, MINIMAL, "--checks", "isa", "--format", "junit")[1])
    skipped = [case.get("name") for case in junit.iter("testcase") if case.find("skipped") is not None]
    assert {"shape taken", "thr taken", "types taken"} <= set(skipped)
    assert 'class="TAKEN"' in run(capsys, tmp_path, MINIMAL, "--checks", "isa", "--format", "html")[1]


@pytest.mark.parametrize(
    "name",
    [
        "SM80_16x8x16_F32F16F16F32_TN",
        "SM70_8x8x4_F32F16F16F32_TN",
        "SM61_DP4A",
        "SM90_64x8x16_F32F16F16_SS",
        "SM90_64x8x16_F32F16F16_RS",
        "SM90::GMMA::SPARSE::GMMA_64x24x32_F16F16F16_RS",
    ],
)
def test_what_is_left_out_is_filled_in_as_the_registry_has_it(name: str, tmp_path: Path) -> None:
    given = registry()[name]
    assert isinstance(given, Atom) and given.ptx
    lines = [f'["{name}"]', f"ptx = {json.dumps(list(given.ptx))}"]
    lines += [f'{operand} = "{text}"' for operand, text in given.operands.items()]
    if given.space.get("A"):  # wgmma's text chooses where A is
        lines.append(f'space = {{ A = "{given.space["A"]}" }}')
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    (found,) = atoms(path).items
    assert isinstance(found, Atom)
    wanted = {key: word for key, word in given.types.items() if key in found.types}
    assert (found.shape, found.thr, found.types, found.space) == (given.shape, given.thr, wanted, given.space)
    assert {"shape", "thr", "types"} <= found.taken.keys()


GAPS = [
    (f'["{MMA}", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"]', "has 16x8x16, mma.sync.aligned.m16n8k8"),
    ('"tcgen05.mma.cta_group::1.kind::f16"', "a descriptor chooses M, N"),
    ('"tcgen05.mma.cta_group::1.kind::f16"', "a descriptor chooses the type of"),
    ("[]", "MIN.shape: missing"),
]


@pytest.mark.parametrize(("ptx", "said"), GAPS)
def test_what_no_instruction_determines_must_be_given(
    ptx: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, tmp_path, MINIMAL.replace(f'"{MMA}"', ptx))
    assert (code, out) == (2, "") and said in err and "F:1:2: MIN." in err


def test_a_tiling_of_an_entry_with_gaps_names_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL, encoding="utf-8")
    (found,) = load(path)
    assert isinstance(found, IncompleteAtom)
    with pytest.raises(LayoutError, match="MIN leaves shape, thr, types to its instruction"):
        MmaAtom.of(found)
    whole = completed(found)
    assert isinstance(whole, Atom) and MmaAtom.of(whole).shape == (16, 8, 16)


def test_a_gap_that_is_filled_in_by_hand_is_no_gap(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FULL, encoding="utf-8")
    (whole,) = load(path)
    assert isinstance(whole, Atom) and completed(whole) == whole and not whole.taken
    assert replace(whole, name="x").taken == {}


ERRORS = [
    (MINIMAL.replace("A =", "a ="), ["F:3:1: MIN.a: unknown key; did you mean 'A'?"]),
    (MINIMAL.replace("B =", "BLayout ="), ["F:4:1: MIN.BLayout: unknown key; did you mean 'B'?"]),
    (MINIMAL.replace("ptx =", "PTX ="), ["F:2:1: MIN.PTX: unknown key; did you mean 'ptx'?"]),
    (MINIMAL.replace("A =", "a =").replace("C =", "q ="), ["F:1:2: MIN.C: missing", "F:3:1: MIN.a:", "F:5:1: MIN.q:"]),
    (MINIMAL + 'ThrID = "32:1"', ["F:6:1: MIN.ThrID: unknown key; did you mean 'thr'?"]),
    (MINIMAL + 'D = "32:1"', ["F:6:1: MIN.D: unknown key; D has the layout of C: state C alone"]),
    (MINIMAL.replace('["MIN"]', "[SM80.x]"), ['F:1:2: SM80: a name with a dot needs quotes: ["SM80.x"]']),
    (MINIMAL.replace('["MIN"]', "[my.atom]"), ['F:1:2: my: a name with a dot needs quotes: ["my.atom"]']),
    (MINIMAL.replace('["MIN"]\n', ""), ['F:1:1: ptx: ptx, A, B, C are in no table: a line ["NAME"] belongs above']),
    (MINIMAL.replace("(16,8))", "(16,8)"), ["F:5:34: MIN.C: cannot read"]),
    (MINIMAL + "shape = [16, 8]\nthr = 32", ["F:6:1: MIN.shape: expected", "F:7:1: MIN.thr: expected a string"]),
    (MINIMAL + 'types = { A = "f16", X = "f16" }', ["F:6:22: MIN.types.X: unknown key"]),
    (MINIMAL + "x = [", ["F:6:5: is not TOML: "]),
    (
        MINIMAL.replace('["MIN"]\n', "").replace("A =", "ALayout ="),
        ["F:1:1: ptx: ptx, ALayout, B, C are in no table"],
    ),
    (MINIMAL.replace(MMA, "hmma.magic"), ["F:2:1: MIN.ptx: 'hmma.magic': hmma is not in the tables"]),
    (MINIMAL.replace(".aligned", ""), [f"nearest: {MMA}, "]),
]


@pytest.mark.parametrize(("text", "said"), ERRORS, ids=map(str, range(len(ERRORS))))
def test_every_error_is_reported_with_its_line_and_costs_no_other_atom(
    text: str, said: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, tmp_path, text)
    output = [line for line in err.splitlines() if line.startswith("lanecheck: ")]
    assert (code, out) == (2, "")
    assert len(output) == len(said) and all(part in line for part, line in zip(said, output, strict=True))
    assert err.count("^") == len(said)
    if "no table" not in said[0]:
        other = FULL.replace("MIN", "OTHER")
        code, out, err = run(capsys, tmp_path, f"{text}\n{other}", "--checks", "isa")
        assert (
            code == 2
            and out.count("OTHER") == out.count("VERIFIED") == 1
            and "exit 2" in out
            and all(part in err for part in said)
        )
        assert run(capsys, tmp_path, f"{text}\n{other}", "--list")[:2] == (2, "OTHER\n")
        junit = run(capsys, tmp_path, f"{text}\n{other}", "--checks", "isa", "--format", "junit")[1]
        assert junit.count("<error") == len(said)


def test_errors_are_reported_in_the_order_of_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the instruction cannot say is found after all that the file alone shows."""
    gap = MINIMAL.replace(f'"{MMA}"', '"tcgen05.mma.cta_group::1.kind::f16"')
    code, _, err = run(capsys, tmp_path, gap + MINIMAL.replace("MIN", "LATER").replace("A =", "q ="))
    output = [int(line.split(":")[2]) for line in err.splitlines() if line.startswith("lanecheck: ")]
    assert code == 2 and len(output) == 4 and output == sorted(output)


def test_every_error_of_tilings_and_movements_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    for main, good, bad in (
        (
            tiling.main,
            TILING,
            TILING.replace('"t"', '"u"') + 'tile = [1]\natoms_layout = "():()"\nsmem = { A = "8:1" }\n',
        ),
        (
            movement.main,
            MOVEMENT,
            MOVEMENT.replace('"m"', '"n"') + "widht = 1\n" + MOVEMENT.replace('"m"', '"o"') + "how = 1\n",
        ),
    ):
        path.write_text(good + bad, encoding="utf-8")
        code = main([str(path)])
        captured = capsys.readouterr()
        assert code == 2 and captured.out.endswith("; exit 2\n") and captured.err.count("lanecheck: ") == 2
        assert captured.err.count(f"{path}:") == 2 and captured.err.count("^") == 2


OTHERS = [
    (atom.main, TILING, "this is a file of tilings: python -m verify.tiling"),
    (atom.main, MOVEMENT, "this is a file of movements: python -m verify.movement"),
    (atlas.main, TILING, "this is a file of tilings: python -m verify.tiling"),
    (tiling.main, FULL, "this is a file of atoms: python -m verify.atom"),
    (tiling.main, MOVEMENT, "this is a file of movements: python -m verify.movement"),
    (movement.main, TILING, "this is a file of tilings: python -m verify.tiling"),
    (movement.main, FULL, "this is a file of atoms: python -m verify.atom"),
    (atom.main, INSTRUCTION.read_text(encoding="utf-8"), "the table of an instruction"),
    (movement.main, '{"schema": 1, "name": "load 32"}\n', "as recordings are"),
]


@pytest.mark.parametrize(("main", "text", "said"), OTHERS, ids=map(str, range(len(OTHERS))))
def test_a_file_for_another_command_is_recognized_by_its_keys(
    main: object, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    assert callable(main) and main([str(path)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("lanecheck: ") == 1


def test_names_and_files_mix_and_capitals_do_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, tmp_path, MINIMAL + FULL.replace("MIN", "OTHER"), "other", "--list")
    assert (code, out) == (0, "OTHER\n")
    assert atom.main(["sm80_16x8x16_f32f16f16f32_tn", "--list"]) == 0
    assert capsys.readouterr().out == "SM80_16x8x16_F32F16F16F32_TN\n"
    assert atom.main([str(tmp_path / "absent.toml")]) == 2
    assert "absent.toml: cannot be read: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("tuple_", ["2x2x1", "2,2,1", "(2,2,1)"])
def test_a_tuple_of_numbers_is_read_in_every_spelling(
    tuple_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--atom", "SM80_16x8x16_F32F16F16F32_TN", "--tile", "64x64x32", "--list", "--atoms-layout"]
    assert tiling.main([*line, tuple_]) == 0
    path = tmp_path / "mine.toml"
    path.write_text(f'{TILING}atoms_layout = "{tuple_}"\n', encoding="utf-8")
    assert tiling.main([str(path), "--list"]) == 0
    path.write_text(FULL.replace("[16, 8, 16]", '"16x8x16"'), encoding="utf-8")
    assert [one.shape for one in load(path) if isinstance(one, Atom)] == [(16, 8, 16)]
    assert capsys.readouterr().err == ""


EMPTY = [
    ["--atoms-layout", "():()"],
    ["--permutation", "_,():(),_"],
    ["--smem-a", "():()"],
    ["--smem-a", "Sw<1,1,1> o ():()"],
    ["--tile", "()"],
]


@pytest.mark.parametrize("option", EMPTY, ids=" ".join)
def test_an_empty_mode_is_no_fault_of_ours(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert tiling.main(["--atom", "SM80_16x8x16_F32F16F16F32_TN", *option]) in (0, 2)
    assert "internal error" not in capsys.readouterr().err


def test_an_error_of_an_instruction_s_table_has_its_line(tmp_path: Path) -> None:
    from isa_tables import TableError
    from verify.core.files import in_table

    path = tmp_path / INSTRUCTION.name
    path.write_text(INSTRUCTION.read_text(encoding="utf-8"), encoding="utf-8")
    (error,) = in_table(TableError(str(path), "C.row", "wrong", "groupID if i == 0 or", 3))
    assert error.place is not None
    line = path.read_text(encoding="utf-8").splitlines()[error.place[0] - 1]
    assert line.startswith("row") and line[error.place[1] - 1 :].startswith("oupID if i == 0 or i")
    (error,) = in_table(TableError(str(path), "form[0].nothing", "wrong"))
    assert error.place is None and isinstance(error, AtomFileError)


def refuted(capsys: pytest.CaptureFixture[str], path: Path, text: str) -> list[tuple[str, str, str]]:
    """The refuted claims of the one atom of a file: part, property and reason, in the order of the report."""
    code, out, _ = run(capsys, path, text, "--format", "json")
    assert code == 1
    verdicts = json.loads(out)["subjects"][0]["verdicts"]
    return [
        (v["part"], v["property"], v["counterexample"]["statement"] + "|" + (v["counterexample"]["repair"] or ""))
        for v in verdicts
        if v["status"] == "REFUTED"
    ]


THREADS = {"(4,8):(8,1)": "permutes the lanes", "(2,16):(16,1)": "permutes the lanes", "16:1": "has 16 threads, not 32"}


@pytest.mark.parametrize("thr", THREADS)
def test_wrong_threads_are_the_fault_alone(thr: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = refuted(capsys, tmp_path, FULL.replace("32:1", thr))
    assert found[:2] == ("thr", "threads")
    assert found[2].startswith(f"{thr} {THREADS[thr]}: with 32:1 A, B, C are the instruction's")
    also = refuted(capsys, tmp_path, FULL.replace("32:1", thr).replace("(16,8,128)", "(8,16,128)"))
    assert {"A", "B", "C"} <= {part for part, _, _ in also}  # A is wrong in any order


def test_operands_and_threads_permuted_alike_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FULL.replace("32:1", "(8,4):(4,1)").replace("((4,8),(2,2,2)):((32,1)", "((8,4),(2,2,2)):((1,32)")
    text = text.replace("((4,8),(2,2)):((16,1)", "((8,4),(2,2)):((1,16)")
    text = text.replace("((4,8),(2,2)):((32,1)", "((8,4),(2,2)):((1,32)")
    assert run(capsys, tmp_path, text, "--checks", "isa")[0] == 0


@pytest.mark.parametrize("shape", ["[16, 8, 8]", "[16, 16, 16]", "[8, 16, 16]"])
def test_a_wrong_shape_is_reported_first_and_once(
    shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = refuted(capsys, tmp_path, FULL.replace("[16, 8, 16]", shape))
    claimed = shape.strip("[]").replace(", ", "x")
    assert [(part, why) for part, _, why in found] == [("shape", f"shape is {claimed}, the instruction's is 16x8x16|")]
    out = run(capsys, tmp_path, FULL.replace("[16, 8, 16]", shape))[1]
    assert "shape" in out.splitlines()[0] and f"extents {claimed}" not in out


def test_an_atom_with_two_owners_of_each_element_should_state_copies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FULL.replace(f'ptx = "{MMA}"', "ptx = []")
    assert run(capsys, tmp_path, text, "--checks", "isa", "--allow-unchecked")[0] == 0
    twice = text.replace("((4,8),(2,2)):((16,1),(8,64))", "((4,8),(2,2,2)):((16,1),(8,64,0))")
    kinds = {kind: why for part, kind, why in refuted(capsys, tmp_path, twice) if part == "B"}
    assert kinds["size"].endswith("|give `copies = { B = 2 }`: each element has 2 owners")
    assert run(capsys, tmp_path, twice + "copies = { B = 2 }\n", "--checks", "isa", "--allow-unchecked")[0] == 0
    uneven = text.replace("((4,8),(2,2)):((16,1),(8,64))", "((4,8),(2,2,2)):((16,1),(8,64,1))")
    assert all("copies" not in why for _, _, why in refuted(capsys, tmp_path, uneven))


@pytest.mark.parametrize(
    ("main", "options"),
    [
        (layout.main, ["--onto", "8x8"]),
        (mutate.main, []),
        (laws.main, []),
        (tiling.main, ["--atom"]),
        (laws.main, ["--module"]),
        (atom.main, ["SM75_8x8x16", "--recordings"]),
    ],
)
def test_a_file_in_place_of_a_name_or_a_layout_is_recognized_by_its_keys(
    main: Callable[[list[str]], int], options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MOVEMENT, encoding="utf-8")
    arguments = [*options, str(path)] if options and options[-1] != "8x8" else [str(path), *options]
    assert main(arguments) == 2
    assert f"this is a file of movements: python -m verify.movement {path}" in capsys.readouterr().err


def test_in_pytest_an_error_costs_no_other_entry(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"{FULL}\n{MINIMAL.replace('MIN', 'BAD').replace('A =', 'a =')}", encoding="utf-8")
    entries, problem = Suite().read(path)
    assert ([entry.name for entry in entries], problem) == (["MIN", "BAD.a"], "")
    assert [Suite().verify([entry]).failure.partition("BAD")[2] for entry in entries] == [
        "",
        ".a: unknown key; did you mean 'A'?",
    ]
    path.write_text(MINIMAL.replace("A =", "a =").replace("B =", "b ="), encoding="utf-8")
    entries, problem = Suite().read(path)
    assert not entries and problem.count("mine.toml:") == 2


def test_every_error_of_an_instruction_s_table_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / INSTRUCTION.name
    text = (
        INSTRUCTION.read_text(encoding="utf-8")
        .replace("lanes   = 32", 'lanes   = "32"')
        .replace("regs   = 2", "rges   = 2")
    )
    path.write_text(text, encoding="utf-8")
    mnemonic = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"
    assert ending.guarded(lambda _: bool(isa_tables.instruction(mnemonic, tmp_path)), None) == 2
    output = [line for line in capsys.readouterr().err.splitlines() if line.startswith("lanecheck: ")]
    lines = text.splitlines()
    assert [int(line.split(":")[2]) for line in output] == [
        next(number for number, line in enumerate(lines, 1) if line.startswith(start)) for start in ("lanes", "rges")
    ]


def test_every_layout_of_a_movement_that_cannot_be_read_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('["m"]\nshared = "(32,8):(8,"\naccess = "(32"\nelement = 16\nwidht = 3\n', encoding="utf-8")
    assert movement.main([str(path)]) == 2
    err = capsys.readouterr().err
    assert [f"mine.toml:{place}: m." in err for place in ("2:21", "3:14", "5:1")] == [True] * 3


@pytest.mark.slow
def test_every_registered_atom_is_completed_as_it_is_or_asked_for_what_is_missing() -> None:
    """No key is filled in otherwise than CUTLASS has it; what is not filled in is for a descriptor to choose."""
    completed_, reported = 0, 0
    for given in registry().values():
        if not isinstance(given, Atom) or not given.ptx:
            continue
        ptx = [[first, *given.spellings.get(first, ())] for first in given.ptx]
        space = {"A": given.space["A"]} if "A" in given.space else {}
        table = {"ptx": ptx, **given.operands, "space": space, "copies": dict(given.copies)}
        gaps = mma.atom(Entry("f", given.name, table | ({"element": dict(given.element)} if given.element else {})))
        try:
            whole = completed(gaps)
        except AtomFileError as error:
            reported += 1
            assert all("does not determine" in str(one) for one in error.errors)
            continue
        completed_ += 1
        assert isinstance(whole, Atom) and whole.types.items() <= given.types.items()
        assert (whole.shape, whole.thr, whole.space) == (given.shape, given.thr, given.space)
    assert completed_ > 10 * reported > 0


def test_a_copy_leaves_its_threads_and_spaces_to_its_instruction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """["COPY"]
ptx    = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
Src    = "((16,2),128):((128,0),1)"
Dst    = "(32,(32,2)):(32,(1,1024))"
Ref    = "(32,(32,2)):(32,(1,1024))"
copies = { Src = 2 }
"""
    code, out, _ = run(capsys, tmp_path, text, "--checks", "isa", "-v")
    assert code == 0 and "taken from the instruction: thr 32:1; space Src smem, Dst reg" in out
    assert "threads, widths" not in out and "widths and multiplicities fit" in out
    assert refuted(capsys, tmp_path, text + 'space = { Src = "reg" }\n')
