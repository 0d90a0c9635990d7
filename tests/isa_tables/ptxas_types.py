# SPDX-License-Identifier: Apache-2.0
"""Questions to NVIDIA's assembler: which combinations of types does each instruction accept, for which targets?

`python -m tests.isa_tables.ptxas_types` asks all of them and writes the answers beside this file; about ten minutes.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

ANSWERS = Path(__file__).with_name("ptxas_13_0_types.txt")
RELEASE, PTX = "13.0", "9.0"  # of the assembler that answered, and the `.version` of the programs
TARGETS = (
    *("sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_110a", "sm_120a", "sm_120f"),
    "sm_121a",
)
FEW = 1000  # combinations: all targets get them; of more, two, and the others about those that they take

FACTORS = (
    *("f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1"),
    *("u8", "s8", "u4", "s4", "b1", "s32"),
)
SUMS = ("f16", "bf16", "f32", "tf32", "f64", "s32")
SCALES = ("ue8m0", "ue4m3", "e4m3")
BITS = {"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "u32": 32, "f16": 16, "bf16": 16, "u4": 4, "s4": 4, "b1": 1}
NARROW = ("e3m2", "e2m3", "e2m1")  # a byte each where a kind mixes widths
MOVED = ("b16", "b8", "b32", "b64", "b4", "f16", "u8", "s8", "b8x16.b6x16_p32", "b8x16.b4x16_p64", "b8x16")
WORDS = ("u32", "s32", "u8", "s8", "b32", "f32", "u16", "s16", "u4", "s4")

REGISTERS = (
    ".reg .pred p; .reg .b32 %a<132>, taddr, red; .reg .f32 %f<132>; .reg .f64 %d<132>; .reg .b32 %s<132>; "
    ".reg .b64 adesc, bdesc, addr; .reg .b32 %e;"
)
KIND = {"f64": "d", "f32": "f", "s32": "s", "u32": "s"}


@dataclass(frozen=True)
class Question:
    """A mnemonic with {D}, {A}, ... for types, the types to put there, and its operands in the assembly text.

    `texts` are ways to write the operands, of which the assembler needs to accept one: {d}, {a}, ... are the registers
    of an operand, as many as its `elements` need.
    """

    mnemonic: str
    types: Mapping[str, Sequence[str]]
    texts: tuple[str, ...]
    elements: Mapping[str, int]  # of the whole tile, by operand
    only: tuple[str, ...] = TARGETS
    full: tuple[str, ...] = ("sm_80", "sm_120a")  # the targets that get every combination

    def combinations(self) -> Iterator[tuple[str, ...]]:
        """Every combination of types, in the order of the placeholders."""
        return product(*self.types.values())

    def named(self, combination: Sequence[str]) -> str:
        """The mnemonic with one combination of types."""
        return self.mnemonic.format(**dict(zip(self.types, combination, strict=True)))

    def lines(self, combination: Sequence[str]) -> list[str]:
        """The instruction with one combination of types, in each way to write its operands."""
        words = dict(zip(self.types, combination, strict=True))
        vectors = {name.lower(): self.registers(name, words) for name in self.elements}
        return [f"{self.named(combination)} {text.format(**vectors)};" for text in self.texts]

    def otherwise(self, combination: Sequence[str]) -> list[str]:
        """The same instruction with other numbers of registers."""
        words = dict(zip(self.types, combination, strict=True))
        written = []
        for counts in product(COUNTS, repeat=len(self.elements)):
            vectors = {
                n.lower(): vector(words.get(n, "f16"), count) for n, count in zip(self.elements, counts, strict=True)
            }
            written += [f"{self.named(combination)} {text.format(**vectors)};" for text in self.texts]
        return written

    def registers(self, operand: str, words: Mapping[str, str]) -> str:
        """The vector of registers for one lane's share of an operand's elements."""
        word = words.get(operand, "f16")  # a short form names no type of A and B
        bits = BITS.get(word, 8)
        if word in NARROW:
            bits = 4 if word == "e2m1" and "kind::mxf4" in self.mnemonic else 8
        elements = self.elements[operand]
        if "m8n8k4" in self.mnemonic and "f64" not in words.values() and not self.mnemonic.startswith("wmma"):
            elements *= 4  # four products at once
        if "wmma" in self.mnemonic and word == "f16" and operand in "AB":
            elements = 512  # each in two lanes
        count = max(1, elements * max(bits, 1) // (32 * max(32, bits) * (4 if "wgmma" in self.mnemonic else 1)))
        return vector(word, count)


def vector(word: str, count: int) -> str:
    """A vector of as many registers as elements of a type need."""
    return "{" + ", ".join(f"%{KIND.get(word, 'a')}{number}" for number in range(count)) + "}"


def matrices(shape: str, sparse: bool = False) -> dict[str, int]:
    """The elements of D, A, B and C of a shape."""
    m, n, k = map(int, re.findall(r"\d+", shape))
    return {"D": m * n, "A": m * k // (2 if sparse else 1), "B": k * n, "C": m * n}


DENSE = ["m8n8k4", "m8n8k16", "m8n8k32", "m8n8k128", *(f"m16n8k{2**power}" for power in range(2, 9))]
SPARSE = [f"m16n8k{2**power}" for power in range(3, 8)]
ALL = {"D": SUMS, "A": FACTORS, "B": FACTORS, "C": SUMS}


def mma() -> Iterator[Question]:
    """mma.sync, dense and sparse, with every modifier at every shape."""
    plain = ("{d}, {a}, {b}, {c}",)
    for shape in DENSE:
        for before, after in (
            *(("", ""), (".satfinite", ""), (".kind::f8f6f4", "")),
            *(("", tail) for tail in (".xor.popc", ".and.popc", ".rn")),
        ):
            for layout in (
                ("row.col", "row.row", "col.col", "col.row") if shape == "m8n8k4" and not after else ("row.col",)
            ):
                name = f"mma.sync.aligned.{shape}.{layout}{before}.{{D}}.{{A}}.{{B}}.{{C}}{after}"
                yield Question(name, ALL, plain, matrices(shape))
    for form, shape in product((".sp", ".sp::ordered_metadata"), SPARSE):
        for before in ("", ".satfinite", ".kind::f8f6f4"):
            name = f"mma{form}.sync.aligned.{shape}.row.col{before}.{{D}}.{{A}}.{{B}}.{{C}}"
            yield Question(name, ALL, ("{d}, {a}, {b}, {c}, %e, 0",), matrices(shape, sparse=True))


def list_scaled() -> Iterator[Question]:
    """mma.sync with scale factors, dense and sparse."""
    types = {"D": ("f16", "f32"), "A": FACTORS, "B": FACTORS, "C": ("f16", "f32"), "S": SCALES}
    for form, shapes in (("", ("m16n8k32", "m16n8k64")), (".sp::ordered_metadata", ("m16n8k64", "m16n8k128"))):
        for shape, kind in product(shapes, ("mxf8f6f4", "mxf4", "mxf4nvf4")):
            for size in ("", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X"):
                head = f"mma{form}.sync.aligned.{shape}.row.col.kind::{kind}.block_scale{size}"
                text = "{d}, {a}, {b}, {c}, " + ("%e, 0, " if form else "") + "%a9, {{0, 0}}, %a9, {{0, 0}}"
                elements = matrices(shape, sparse=bool(form))
                yield Question(f"{head}.{{D}}.{{A}}.{{B}}.{{C}}.{{S}}", types, (text,), elements)


def wgmma() -> Iterator[Question]:
    """wgmma.mma_async, dense and sparse, at the smallest N."""
    types = {"D": SUMS, "A": FACTORS, "B": FACTORS}
    for form, depths in (("", (8, 16, 32, 256)), (".sp", (16, 32, 64))):
        for k, after in product(depths, ("", ".satfinite", ".and.popc", ".xor.popc")):
            start = "{d}, adesc, bdesc, " + ("%e, 0, " if form else "") + "p"
            texts = tuple(start + scales for scales in ("", ", 1, 1", ", 1, 1, 0, 0"))
            name = f"wgmma.mma_async{form}.sync.aligned.m64n8k{k}.{{D}}.{{A}}.{{B}}{after}"
            yield Question(name, types, texts, {"D": 64 * 8}, ("sm_90", "sm_90a", "sm_100a", "sm_120a"), ("sm_90a",))


WMMA = ("m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8", "m8n8k4", "m8n8k32", "m8n8k128")


def wmma() -> Iterator[Question]:
    """wmma: the products, and the loads and stores of one operand."""
    plain = ("{d}, {a}, {b}, {c}",)
    for shape in WMMA:
        elements = matrices(shape)
        for operation, after in (("", ""), ("", ".satfinite"), (".xor.popc", ""), (".and.popc", "")):
            head = f"wmma.mma{operation}.sync.aligned.row.col.{shape}"
            yield Question(f"{head}.{{D}}.{{A}}.{{B}}.{{C}}{after}", ALL, plain, elements)
            if not shape.startswith("m8n8"):  # there a form without the types of A and B makes the assembler crash
                yield Question(f"{head}.{{D}}.{{C}}{after}", {"D": SUMS, "C": SUMS}, plain, elements)
        yield Question(f"wmma.mma.sync.aligned.row.col.{shape}.rn.{{D}}.{{A}}.{{B}}.{{C}}", ALL, plain, elements)
        for operand, layout in product("abc", ("row", "col")):
            name = f"wmma.load.{operand}.sync.aligned.{layout}.{shape}.{{{operand.upper()}}}"
            text = f"{{{operand}}}, [addr]"
            own = {operand.upper(): elements[operand.upper()]}
            yield Question(name, {operand.upper(): FACTORS}, (text,), own)
        for layout in ("row", "col"):
            name = f"wmma.store.d.sync.aligned.{layout}.{shape}.{{D}}"
            yield Question(name, {"D": FACTORS}, ("[addr], {d}",), {"D": elements["D"]})


def moves() -> Iterator[Question]:
    """ldmatrix, stmatrix, movmatrix, dp4a, dp2a and tcgen05.ld.red."""
    for shape, number, turned in product(("m8n8", "m16n16", "m8n16", "m16n8"), (1, 2, 4), ("", ".trans")):
        count = number * (2 if shape == "m16n16" else 1)
        vector = "{{" + ", ".join(f"%a{register}" for register in range(count)) + "}}"
        tail = f"sync.aligned.{shape}.x{number}{turned}.shared.{{R}}"
        yield Question(f"ldmatrix.{tail}", {"R": MOVED}, (f"{vector}, [addr]",), {})
        yield Question(f"stmatrix.{tail}", {"R": MOVED}, (f"[addr], {vector}",), {})
    yield Question("movmatrix.sync.aligned.m8n8.trans.{R}", {"R": MOVED}, ("%a0, %a1",), {})
    for name in ("dp4a", "dp2a.lo", "dp2a.hi"):
        yield Question(f"{name}.{{A}}.{{B}}", {"A": WORDS, "B": WORDS}, ("%a0, %a1, %a2, %a3",), {})
    for operation, flags in product(("min", "max"), ("", ".abs", ".NaN", ".abs.NaN")):
        name = f"tcgen05.ld.red.sync.aligned.32x32b.x2.{operation}{flags}.{{R}}"
        yield Question(name, {"R": (*WORDS, "f16", "bf16")}, ("{{%a0, %a1}}, red, [taddr]",), {})


def questions() -> list[Question]:
    """All questions, in the order of the file."""
    return [*mma(), *list_scaled(), *wgmma(), *wmma(), *moves()]


MISPUT = re.compile("rgument")  # the types may be right and the number of registers wrong
COUNTS = (1, 2, 4, 8, 16)


def ask(question: Question, target: str, among: Iterable[tuple[str, ...]] | None = None) -> frozenset[tuple[str, ...]]:
    """The combinations of types that a target accepts, with any number of registers."""
    every = list(question.combinations() if among is None else among)
    lines = [(types, line) for types in every for line in question.lines(types)]
    said = find_rejected([line for _, line in lines], target)
    taken = _list_taken([lines[n] for n in range(len(lines)) if n not in said], target)
    doubtful = dict.fromkeys(lines[n][0] for n, why in said.items() if MISPUT.search(why) and lines[n][0] not in taken)
    lines = [(types, line) for types in doubtful for line in question.otherwise(types)]
    said = find_rejected([line for _, line in lines], target)
    return taken | _list_taken([lines[n] for n in range(len(lines)) if n not in said], target)


def _list_taken(lines: list[tuple[tuple[str, ...], str]], target: str) -> frozenset[tuple[str, ...]]:
    """The types of the lines that assemble; ptxas reports the errors of a pass only where the one before found none."""
    while said := find_rejected([_use_result(line) for _, line in lines], target):
        wanted = {n for n in said if n < len(lines)} or range(len(lines))  # some are at lines of what it expands to
        kept = [
            asked
            for n, asked in enumerate(lines)
            if n not in wanted or not find_rejected([_use_result(asked[1])], target)
        ]
        if len(kept) == len(lines):
            return frozenset(types for types, line in lines if not find_rejected([_use_result(line)], target))
        lines = kept
    return frozenset(types for types, _ in lines)


def _use_result(line: str) -> str:
    """An instruction with a store of its first register, so that the assembler does not remove it as unused."""
    register = re.search(r"%([afds])0", line)
    return f"{line} st.global.b{64 if register[1] == 'd' else 32} [addr], %{register[1]}0;" if register else line


def find_rejected(lines: Sequence[str], target: str) -> dict[int, str]:
    """The lines that the assembler rejects, with the reason; empty where all of them together assemble."""
    if not lines:
        return {}
    head = f".version {PTX}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n{REGISTERS}\n"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "q.ptx"
        source.write_text(head + "\n".join(lines) + "\nret;\n}\n")
        command = ["ptxas", "-arch", target, str(source), "-o", str(Path(folder) / "q.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = re.findall(r"q\.ptx, line (\d+); error\s*: (.*)", done.stderr)
    errors.sort(key=lambda error: not MISPUT.search(error[1]))  # of two errors in a line the other one is kept
    if done.returncode < 0 or (done.returncode and not errors):  # it crashed; or what is wrong is in no line of ours
        return _each(lines, target) if len(lines) > 1 else {0: done.stderr}
    return {int(number) - 1 - head.count("\n"): why for number, why in errors}


def _each(lines: Sequence[str], target: str) -> dict[int, str]:
    """The lines that are rejected, of a program that is rejected without naming a line: by bisection."""
    half = len(lines) // 2
    after = find_rejected(lines[half:], target)
    return {**find_rejected(lines[:half], target), **{half + number: why for number, why in after.items()}}


def write_answers(answers: Mapping[str, Mapping[str, Iterable[str]]]) -> str:
    """The answers as text: `targets | combinations of types | mnemonics`, alike ones on one line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for mnemonic, by_type in answers.items():
        by_targets: dict[str, list[str]] = {}
        for types, targets in by_type.items():
            by_targets.setdefault(" ".join(targets), []).append(types)
        for targets, combinations in by_targets.items() or {"": []}.items():
            alike.setdefault((targets, " ".join(combinations)), []).append(mnemonic)
    lines = [f"{targets} | {types} | {' '.join(names)}" for (targets, types), names in alike.items()]
    return "\n".join([*HEADER, *lines, ""])


HEADER = (
    f"# What ptxas {RELEASE} takes with .version {PTX}: targets | combinations of types | mnemonics. Of the others",
    "# in `ptxas_types.py` it takes none. Written by `python -m tests.isa_tables.ptxas_types`.",
)


def read(path: Path = ANSWERS) -> dict[str, dict[str, tuple[str, ...]]]:
    """The answers: mnemonic with placeholders -> combination of types -> targets that take it."""
    answers: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            targets, combinations, names = line.split("|")
            for name in names.split():
                known = answers.setdefault(name, {})
                known |= {types: tuple(targets.split()) for types in combinations.split()}
    return answers


def answer(question: Question) -> dict[str, tuple[str, ...]]:
    """Combination of types -> the targets that take it."""
    few = prod(map(len, question.types.values())) <= FEW
    first = {target: ask(question, target) for target in (question.only if few else question.full)}
    every = [types for types in question.combinations() if any(types in taken for taken in first.values())]
    rest = {target: ask(question, target, every) for target in question.only if target not in first}
    both = {**first, **rest}
    return {
        "/".join(types): tuple(target for target in TARGETS if target in both and types in both[target])
        for types in every
    }


def main() -> None:
    """Ask all questions and write the answers to the file."""
    every = questions()
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip((question.mnemonic for question in every), pool.map(answer, every), strict=True))
    ANSWERS.write_text(write_answers(answers))
    print(f"{ANSWERS.name}: {len(every)} mnemonics, {sum(map(len, answers.values()))} combinations taken")


if __name__ == "__main__":
    main()
