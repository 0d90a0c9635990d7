# SPDX-License-Identifier: Apache-2.0
"""A machine made of numpy whose instructions deal their elements out in any way a test wants.

It decodes and encodes registers by its own code, bit by bit from the definition of each type, so that it
can contradict gpu_checks.packing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpu_checks.values import DeviceInfo, Refused
from isa_tables.signature import runs_on

INFO = DeviceInfo("Simulated", "sm_90a", "0", "0.0", "0.0")
NONE = 0xFFFF
# exponent bits, mantissa bits, bias
FLOATS = {
    "f16": (5, 10, 15),
    "bf16": (8, 7, 127),
    "tf32": (8, 23, 127),
    "f32": (8, 23, 127),
    "f64": (11, 52, 1023),
    "e4m3": (4, 3, 7),
    "e5m2": (5, 2, 15),
    "e3m2": (3, 2, 3),
    "e2m3": (2, 3, 1),
    "e2m1": (2, 1, 1),
}
INTEGERS = {"s32": 32, "u32": 32, "s16": 16, "u16": 16, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}


def decode(kind: str, bits: int) -> float:
    """The number that a bit pattern is, by the definition of the format (no infinities, NaN as nan)."""
    if kind in INTEGERS:
        width = INTEGERS[kind]
        bits &= 2**width - 1
        return bits - 2**width if kind[0] == "s" and bits >> (width - 1) else bits
    e_bits, m_bits, bias = FLOATS[kind]
    mantissa, exponent = bits & (2**m_bits - 1), bits >> m_bits & (2**e_bits - 1)
    sign = -1.0 if bits >> (m_bits + e_bits) & 1 else 1.0
    if exponent == 2**e_bits - 1 and mantissa and kind in ("f16", "f32", "f64"):
        return float("nan")
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - m_bits)
    return sign * (1 + mantissa / 2**m_bits) * 2.0 ** (exponent - bias)


def bits_of(kind: str) -> int:
    """The size of an element without the room around it."""
    return INTEGERS[kind] if kind in INTEGERS else 1 + sum(FLOATS[kind][:2])


def encode(kind: str, number: int) -> int:
    """The accumulator types only, through numpy's own bytes."""
    form = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "s32": "<i4", "u32": "<u4"}[kind]
    return int.from_bytes(np.array(number, form).tobytes(), "little")


def elements(fragment, words):
    """Numbers [trial][lane][value] in words [trial][lane][word]."""
    register_bits = 64 if fragment.reg_type == "f64" else 32
    memo: dict[int, float] = {}
    out = np.zeros((*words.shape[:2], fragment.values))
    for at in np.ndindex(words.shape[:2]):
        whole = sum(int(w) << (32 * j) for j, w in enumerate(words[at]))
        for i in range(fragment.values):
            register, place = divmod(i, fragment.values // fragment.regs)
            bits = whole >> (register * register_bits + place * fragment.bits + fragment.shift)
            own = bits & (2 ** bits_of(fragment.type) - 1)
            if own not in memo:
                memo[own] = decode(fragment.type, own)
            out[(*at, i)] = memo[own]
    return out


def registers(fragment, numbers):
    """The words of accumulators, the inverse of `elements`."""
    width = {"f16": 16, "f64": 64}.get(fragment.type, 32)
    words = np.zeros((*numbers.shape[:2], fragment.values * width // 32), np.uint32)
    for at in np.ndindex(numbers.shape[:2]):
        whole = sum(encode(fragment.type, int(x)) << (width * i) for i, x in enumerate(numbers[at]))
        words[at] = [whole >> (32 * j) & 0xFFFFFFFF for j in range(words.shape[2])]
    return words


def random_deal(signature, random):
    """Every operand's elements dealt at random over lanes and values: [lane][value] -> (row, col, product)."""
    deal = {}
    for name, fragment in signature.operands.items():
        rows, columns = fragment.extent
        every = np.stack(np.indices((rows, columns, signature.products)), -1).reshape(-1, 3)
        deal[name] = random.permutation(every).reshape(signature.lanes, fragment.values, 3)
    return deal


def tile_deal(signature):
    """The deal of a plain warp-wide instruction: 8-row tiles, one a register, rows over groups of four lanes."""
    deal = {}
    for name, fragment in signature.operands.items():
        outer_extent = fragment.extent[1] if name == "B" else fragment.extent[0]
        wide = fragment.reg_type == "b32" and fragment.values // fragment.regs
        together = 2 if name in "CD" else wide or 1
        labels = np.zeros((32, fragment.values, 3), np.int64)
        for lane in range(32):
            for i in range(fragment.values):
                tile, tiles = i // together, outer_extent // 8
                outer = 8 * (tile % tiles) + lane // 4
                inner = 4 * together * (tile // tiles) + together * (lane % 4) + i % together
                labels[lane, i, :2] = (inner, outer) if name == "B" else (outer, inner)
        deal[name] = labels
    return deal


@dataclass
class Simulated:
    """A Machine; `deals[mnemonic]` are its maps. `spoil` may damage a table before it is handed out."""

    deals: dict
    info: DeviceInfo = INFO
    moves: tuple[str, ...] = ("ldmatrix", "stmatrix")
    spoil: object = None
    runs: list = field(default_factory=list)

    def prepare(self, signatures):
        pass

    def table(self, signature):
        a, b, d = (self.deals[signature.mnemonic][x].reshape(-1, 3).tolist() for x in "ABD")
        home = {tuple(label): slot for slot, label in enumerate(d)}
        table = np.full((len(a), len(b)), NONE, np.uint16)
        meets: dict[tuple[int, int], list] = {}
        for slot, (k, n, product) in enumerate(b):
            meets.setdefault((k, product), []).append((slot, n))
        for row, (m, k, product) in enumerate(a):
            for slot, n in meets.get((k, product), ()):
                table[row, slot] = home[m, n, product]
        return self.spoil(table) if self.spoil else table

    def run(self, signature, a, b, c):
        self.runs.append(signature.mnemonic)
        operands, deal = signature.operands, self.deals[signature.mnemonic]
        whole = {}
        for name, words in (("A", a), ("B", b), ("C", c)):
            full = np.zeros((len(words), signature.products, *operands[name].extent))
            rows, columns, products = np.moveaxis(deal[name], -1, 0)
            full[:, products, rows, columns] = elements(operands[name], words)
            whole[name] = full
        if "xor" in signature.qualifiers:
            differ = whole["A"][..., :, None, :] != np.swapaxes(whole["B"], -1, -2)[..., None, :, :]
            result = whole["C"] + differ.sum(-1)
        else:
            result = whole["C"] + whole["A"] @ whole["B"]
        rows, columns, products = np.moveaxis(deal["D"], -1, 0)
        return registers(operands["D"], result[:, products, rows, columns])

    def move(self, name, words, rows):
        """ldmatrix: register q of lane 4r + t is word t of the row whose address lane 8q + r gave."""
        if name not in self.moves:
            raise Refused(f"no {name}")
        out = np.full((32, 4), 0xFFFFFFFF, np.uint32)
        for lane in range(32):
            for q in range(4):
                row, word = int(rows[8 * q + lane // 4]), lane % 4
                if name == "ldmatrix":
                    out[lane, q] = words[row, word]
                else:
                    out[row, word] = words[lane, q]
        return out

    def sass(self, signature):
        return "HMMA.TEST"


def can_run(signature):
    return runs_on(signature, INFO.sm)
