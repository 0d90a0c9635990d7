# SPDX-License-Identifier: Apache-2.0
"""`isa_tables/ptxas.toml` holds what ptxas says of the order of a mnemonic's words; here ptxas is asked again."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from isa_tables import NotInIsa, TableError, UnknownInstruction, mnemonics, runs_on
from isa_tables.assembler import FILE, assembler, find_beyond, find_misplaced, name_of, read_answers
from isa_tables.mnemonic import is_shape, list_parts
from isa_tables.schema import WIDTH
from isa_tables.signature import Signature, signature
from tests.isa_tables.test_ptxas import kernel, release

TARGETS = ("sm_80", "sm_90a", "sm_100a", "sm_103a", "sm_120a")
RELEASE = ".".join(assembler().release.split(".")[:2])
asks_ptxas = pytest.mark.skipif(
    release() != tuple(map(int, RELEASE.split("."))), reason=f"needs ptxas {RELEASE}, which ptxas.toml cites"
)
BATCH = 30  # kernels of one program: ptxas stops after too many errors
SHUFFLES = 6  # of each instruction


@pytest.mark.parametrize(
    "mnemonic",
    [
        "tcgen05.kind::tf32.cta_group::2.mma",
        "tcgen05.mma.cta_group::1.ws.kind::f16",
        "tcgen05.sync.ld.aligned.32x32b.x1.b32",
        "wgmma.sync.mma_async.aligned.m64n8k16.f32.f16.f16",
        "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.popc.xor",
        "cp.async.cg.global.shared",
        "dp2a.s32.lo.s32",
    ],
)
def test_an_order_that_ptxas_rejects_is_not_in_the_isa(mnemonic: str) -> None:
    with pytest.raises(NotInIsa, match="rejects the order of its words"):
        signature(mnemonic)


@pytest.mark.parametrize(
    "mnemonic",
    [
        "mma.aligned.sync.m16n8k16.row.col.f32.f16.f16.f32",  # ptxas takes it, though the ISA writes .sync first
        "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32",  # as CUTLASS writes it
        "tcgen05.mma.kind::tf32.cta_group::2",
        "mma.sync.aligned.row.m16n8k16.f32.col.f16.f16.f32",  # shape, layouts and types interleave
    ],
)
def test_an_order_that_ptxas_takes_is_the_same_instruction(mnemonic: str) -> None:
    assert list_parts(signature(mnemonic).mnemonic) == list_parts(mnemonic) != mnemonic


@pytest.mark.parametrize(
    "mnemonic", ["mma.aligned.m16n8k16.row.col.f32.f16.f16.f32", "ldmatrix.sink.aligned.m8n8.x4.shared.b16"]
)
def test_another_family_of_an_instruction_that_the_tables_have_whole_is_not_in_the_isa(mnemonic: str) -> None:
    with pytest.raises(NotInIsa, match=r"the ISA has no such (mma|ldmatrix) instruction; nearest: "):
        signature(mnemonic)


@pytest.mark.parametrize(
    "word", ["tcgen05.mma.cta_group::1.kind::f16.ashift", "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill"]
)
def test_words_that_the_tables_leave_out_are_unknown(word: str) -> None:
    with pytest.raises(UnknownInstruction, match=r"is not in the tables; nearest: "):
        signature(word)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('ptxas  = "13.0.88"', "ptxas = 13", "must be a text"),
        ("[[order]]\nnames", "[[order]]\nnouns", "unknown key"),
        ('hi", "lo"]', 'hi", 3]', "must be a table of lists of texts"),
        ("after  = ", "behind = ", "unknown key"),
        ("schema = 1", "schema = 2", "only schema 1"),
    ],
)
def test_a_file_that_breaks_its_schema_is_rejected(old: str, new: str, problem: str, tmp_path: Path) -> None:
    text = FILE.read_text()
    assert old in text
    (tmp_path / "bad.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(TableError, match=problem):
        read_answers(tmp_path / "bad.toml")


def choose_representatives() -> Iterator[tuple[Signature, str]]:
    """One instruction of each name with the same words but for numbers and types, and a target that has it."""
    seen = set()
    for mnemonic in mnemonics("*"):
        parts = list_parts(mnemonic)
        key = name_of(mnemonic), tuple(re.sub(r"\d+", "1", word) for word in parts.flags), bool(parts.shape)
        if key not in seen and name_of(mnemonic) not in ("ld", "st"):
            seen.add(key)
            s = signature(mnemonic)
            yield s, next(target for target in (*TARGETS, "sm_75", "sm_110a") if runs_on(s, target))


def shuffle_words(mnemonic: str, dice: random.Random) -> str:
    """Return the mnemonic with its words in another order; layouts keep theirs, and so do types."""
    head, *words = mnemonic.split(".")
    dice.shuffle(words)
    groups: dict[str, list[str]] = {}
    for word in list_parts(mnemonic).ordered:
        groups.setdefault(group(word), []).append(word)
    return ".".join([head, *(groups[group(word)].pop(0) if group(word) in groups else word for word in words)])


def group(word: str) -> str:
    """Return "shape", "layout" or "type" for a word that keeps an order with others of its group, else the word."""
    if is_shape(word):
        return "shape"
    return "layout" if word in ("row", "col") else "type" if word in WIDTH else word


def find_rejected(kernels: Sequence[str], target: str, folder: Path) -> set[int]:
    """The kernels that ptxas rejects; it reports the errors of a pass only if the one before found none."""
    wrong: set[int] = set()
    while True:
        left = [number for number in range(len(kernels)) if number not in wrong]
        text, ends = f".version 9.0\n.target {target}\n.address_size 64\n", []
        for number in left:
            text += kernels[number]
            ends.append(text.count("\n"))
        (folder / "q.ptx").write_text(text)
        command = ["ptxas", "-arch", target, str(folder / "q.ptx"), "-o", str(folder / "q.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return wrong
        lines = [int(line) for line in re.findall(r"q\.ptx, line (\d+); (?:error|fatal)", done.stderr)]
        assert lines, done.stderr
        wrong |= {left[next(at for at, end in enumerate(ends) if line <= end)] for line in lines}


@pytest.mark.slow
@pytest.mark.xdist_group("ptxas")  # as tests/isa_tables/test_ptxas.py
@asks_ptxas
def test_every_name_is_one_that_ptxas_knows(tmp_path: Path) -> None:
    wrong = []
    for name in sorted(assembler().names):
        text = f".version 9.0\n.target sm_103a\n.address_size 64\n.visible .entry k()\n{{\n{name} 0;\n}}\n"
        (tmp_path / "q.ptx").write_text(text)
        command = ["ptxas", "-arch", "sm_103a", str(tmp_path / "q.ptx"), "-o", str(tmp_path / "q.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "Not a name of any known instruction" in done.stderr or "Unknown modifier" in done.stderr:
            wrong.append((name, done.stderr.splitlines()[0]))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.xdist_group("ptxas")
@asks_ptxas
def test_ptxas_takes_the_orders_that_we_take_and_no_other(tmp_path: Path) -> None:
    dice = random.Random(2411)
    by_target: dict[str, list[tuple[str, bool, str]]] = {}
    for s, target in choose_representatives():
        orders = {shuffle_words(s.mnemonic, dice) for _ in range(SHUFFLES)}
        head, *words = s.mnemonic.split(".")
        at = dice.randrange(len(words) - 1) if len(words) > 1 else 0
        near = ".".join([head, *words[:at], *words[at : at + 2][::-1], *words[at + 2 :]])  # most of it in its place
        for order in {s.mnemonic, *orders, *([near] if list_parts(near) == list_parts(s.mnemonic) else [])}:
            assert list_parts(order) == list_parts(s.mnemonic)
            text = kernel(0, s).replace(f"{s.mnemonic} ", f"{order} ")
            by_target.setdefault(target, []).append((order, not find_misplaced(order, s.mnemonic), text))
    different, good, bad = [], 0, 0
    for target, asked in by_target.items():
        for start in range(0, len(asked), BATCH):
            batch = asked[start : start + BATCH]
            kernels = [text.replace("k0()", f"k{number}()") for number, (_, _, text) in enumerate(batch)]
            wrong = find_rejected(kernels, target, tmp_path)
            for number, (order, ours, _) in enumerate(batch):
                good, bad = good + ours, bad + (not ours)
                if ours == (number in wrong):
                    different.append((order, target, "ours takes it" if ours else "ptxas takes it"))
    assert different == []
    assert good > 300 and bad > 300


def test_words_beyond_the_tables_are_not_in_them() -> None:
    for name, words in assembler().beyond.items():
        assert all(find_beyond(f"{name}.{word}") == word for word in words)
        assert not [mnemonic for mnemonic in mnemonics(f"{name}*") if find_beyond(mnemonic)]
