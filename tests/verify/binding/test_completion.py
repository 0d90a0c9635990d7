# SPDX-License-Identifier: Apache-2.0
"""What an entry may leave to its instruction: it is filled in as the registry has it, and reported as taken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from layouts.atoms import Atom, AtomFileError, load, registry
from layouts.atoms.reading import read_atom
from layouts.toml.entry import Entry
from tests.verify.test_user_files import FULL, MINIMAL, MMA, list_refuted, run
from verify.binding.completion import atoms, complete_atom


def test_an_entry_needs_ptx_and_its_layouts_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, tmp_path, MINIMAL, "--checks", "isa", "--format", "json")
    document = json.loads(out)
    taken = {v["part"]: v["claim"] for v in document["subjects"][0]["verdicts"] if v["status"] == "TAKEN"}
    assert code == 0
    assert taken == {"shape": "16x8x16", "thr": "32:1", "types": "D f32, A f16, B f16, C f32"}
    assert document["claims"]["TAKEN"] == 3
    given = json.loads(run(capsys, tmp_path, FULL, "--checks", "isa", "--format", "json")[1])
    assert given["claims"]["TAKEN"] == 0
    assert given["claims"]["PROVED"] == document["claims"]["PROVED"] + 1  # that thr numbers the lanes


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
    assert 'class="status TAKEN"' in run(capsys, tmp_path, MINIMAL, "--checks", "isa", "--format", "html")[1]


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
    (entry,) = atoms(path).items
    assert isinstance(entry, Atom)
    wanted = {key: word for key, word in given.types.items() if key in entry.types}
    assert (entry.shape, entry.thr, entry.types, entry.space) == (given.shape, given.thr, wanted, given.space)
    assert {"shape", "thr", "types"} <= entry.taken.keys()


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


def test_a_gap_that_is_filled_in_by_hand_is_no_gap(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FULL, encoding="utf-8")
    (whole,) = load(path)
    assert isinstance(whole, Atom) and complete_atom(whole) == whole and not whole.taken
    assert replace(whole, name="x").taken == {}


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
        gaps = read_atom(Entry("f", given.name, table | ({"element": dict(given.element)} if given.element else {})))
        try:
            whole = complete_atom(gaps)
        except AtomFileError as error:
            reported += 1
            assert all("does not determine" in str(fault) for fault in error.errors)
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
    assert list_refuted(capsys, tmp_path, text + 'space = { Src = "reg" }\n')
