# SPDX-License-Identifier: Apache-2.0
"""A machine made of numpy whose instructions distribute their elements in any way a test wants.

It decodes and encodes registers by its own code, bit by bit from the definition of each type, so that it
can contradict gpu_checks.kernels.packing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from gpu_checks.kernels.forms import plain_form
from gpu_checks.kernels.packing import operands_as_words
from gpu_checks.machine import Hits
from gpu_checks.model import DeviceInfo, Unsupported
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
    """The number of a bit pattern, by the definition of the format (no infinities, NaN as nan)."""
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


def random_maps(signature, random):
    """Every operand's elements distributed at random over lanes and values: [lane][value] -> (row, col, product)."""
    maps = {}
    for name, (lanes, fragment) in operands_as_words(plain_form(signature)).items():
        if name in "ABCD":
            rows, columns = fragment.extent
            every = np.stack(np.indices((rows, columns, signature.products)), -1).reshape(-1, 3)
            maps[name] = random.permutation(every).reshape(lanes, fragment.values, 3)
    return maps


def tile_maps(signature):
    """The maps of a plain warp-wide instruction: 8-row tiles, one a register, rows over groups of four lanes."""
    maps = {}
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
        maps[name] = labels
    return maps


@dataclass
class Simulated:
    """A Machine; `maps[mnemonic]` are its maps. `spoil` may damage a table before it is returned.

    A slot of A or B whose product is -1 is never read.

    `rulers[F]` are the (lane, field) of the metadata that rule each element of a sparse A, and
    `images[mnemonic, operand, swizzle, major]` the (row, col) of each element of an image, -1 where none is.
    """

    maps: dict
    info: DeviceInfo = INFO
    moves: tuple[str, ...] = ("ldmatrix", "stmatrix")
    spoil: object = None
    rulers: dict = field(default_factory=dict)
    images: dict = field(default_factory=dict)
    runs: list = field(default_factory=list)

    def open(self):
        pass

    def prepare(self, signatures):
        pass

    def table(self, signature):
        a, b, d = (self.maps[signature.mnemonic][x].reshape(-1, 3).tolist() for x in "ABD")
        home = {tuple(label): slot for slot, label in enumerate(d)}
        table = np.full((len(a), len(b)), NONE, np.uint16)
        partners: dict[tuple[int, int], list] = {}
        for slot, (k, n, product) in enumerate(b):
            if product >= 0:
                partners.setdefault((k, product), []).append((slot, n))
        for row, (m, k, product) in enumerate(a):
            for slot, n in partners.get((k, product), ()):
                table[row, slot] = home[m, n, product]
        return self.spoil(table) if self.spoil else table

    def begin(self, signature, a, b, c, fixed=None):
        words = self.run(signature, a, b, c, fixed)
        return lambda: words

    def hits(self, signature, several):
        return [self.one_hit(signature, coded) for coded in several]

    def one_hit(self, signature, coded):
        """D by its definition: for each chosen element of A, the sum over its k of every plane of B."""
        if signature.mnemonic not in self.maps:
            raise Unsupported(f"{signature.mnemonic} is not simulated")
        n, k_extent = signature.shape[1:]
        b, values = self.labels(signature, "B", coded.b), self.planes(signature, coded)
        used = b[:, 0] >= 0
        sums = np.zeros((len(values), k_extent, n))
        np.add.at(sums, (slice(None), b[used, 0], b[used, 1]), values[:, used])
        d_labels = self.maps[signature.mnemonic]["D"].reshape(-1, 3).tolist()
        home = {tuple(label[:2]): d for d, label in enumerate(d_labels)}
        counts, places, codes = [], [], []
        weights = coded.numbering.base ** np.arange(len(values) - 1)
        single, code = sums[0] == 1, np.tensordot(weights, sums[1:], 1)  # of every (k, n)

        @cache
        def columns_of(k):
            return [(c, code[k, c] if single[k, c] else -1) for c in np.flatnonzero(sums[0, k]).tolist()]

        for fixed in coded.fixed:
            a = self.stored_at(coded.form.signature, fixed)
            if coded.a is not None:
                a = self.remembered(signature, a, self.labels(signature, "A", coded.a))
            for m, k in a.reshape(-1, a.shape[-1])[coded.chosen][:, :2].tolist():
                columns = columns_of(k) if k >= 0 else []
                shown = sorted((home[m, c], number) for c, number in columns)
                shown = (shown + [(0, 0)] * coded.numbering.columns)[: coded.numbering.columns]
                counts.append(len(columns))
                places.append([d for d, _ in shown])
                codes.append([code for _, code in shown])
        return Hits(np.array(counts, np.uint32), np.array(places, np.uint16), np.array(codes, np.int32))

    def planes(self, signature, coded):
        """The numbers in the planes of B: [plane][slot]."""
        fragment = operands_as_words(signature)["B"][1]
        if coded.b is not None:
            fragment = replace(fragment, values=coded.b.size * 8 // fragment.bits, regs=coded.b.size // 4)
        return elements(fragment, coded.numbering.planes).reshape(len(coded.numbering.planes), -1)

    def labels(self, signature, operand, image):
        """(row, col) of every slot of an operand; of an image, as this machine's memory has it."""
        if image is None:
            return self.maps[signature.mnemonic][operand].reshape(-1, 3)[:, :2]
        return self.images[signature.mnemonic, operand, image.swizzle, image.major]

    def stored_at(self, signature, words):
        """The (row, k) of every element of A: of a sparse one where its lane's metadata put it."""
        maps = self.maps[signature.mnemonic]["A"]
        if signature.sparsity is None:
            return maps
        kept = signature.sparsity.kept
        per = len(next(iter(kept.values())))
        lane, field_ = np.moveaxis(self.rulers[signature.chosen["F"]], -1, 0)
        field_ = words[lane, 0].astype(np.int64) >> 4 * field_ & 15
        table = np.full((16, per), -1)
        for pattern, places in kept.items():
            table[pattern] = places
        stored = maps[..., 1]
        k = table[field_, stored % per] + signature.sparsity.columns * (stored // per)
        return np.stack([maps[..., 0], k, maps[..., 2]], axis=-1)

    def remembered(self, signature, stored_at, places):
        """The (row, k) of A's places in memory: each element has the place that it has in the registers."""
        stored = {tuple(x[:2]): s for s, x in enumerate(self.maps[signature.mnemonic]["A"].reshape(-1, 3).tolist())}
        stored_places = np.full(places.shape, -1)
        used = np.flatnonzero(places[:, 0] >= 0)
        stored_places[used] = stored_at.reshape(-1, 3)[[stored[tuple(x)] for x in places[used].tolist()], :2]
        return stored_places

    def run(self, signature, a, b, c, fixed=None):
        self.runs.append(signature.mnemonic)
        plain = plain_form(signature)
        as_words, maps = operands_as_words(plain), self.maps[signature.mnemonic]
        m, n, k = signature.shape
        whole = {}
        for name, words in (("A", a), ("B", b), ("C", c)):
            shape = {"A": (m, k), "B": (k, n), "C": (m, n)}[name]
            whole[name] = full = np.zeros((len(words), signature.products, *shape))
            numbers = elements(as_words[name][1], words)
            for trial in range(len(words)):
                sparse = name == "A" and fixed is not None
                labels = self.stored_at(plain, fixed[trial]) if sparse else maps[name]
                read = labels[..., 2] >= 0
                rows, columns, products = np.moveaxis(labels[read], -1, 0)
                full[trial, products, rows, columns] = numbers[trial][read]
        if "xor" in signature.qualifiers:
            differ = whole["A"][..., :, None, :] != np.swapaxes(whole["B"], -1, -2)[..., None, :, :]
            result = whole["C"] + differ.sum(-1)
        else:
            result = whole["C"] + whole["A"] @ whole["B"]
        rows, columns, products = np.moveaxis(maps["D"], -1, 0)
        return registers(as_words["D"][1], result[:, products, rows, columns])

    def move(self, signature, memory, rows, given):
        """Matrix q's row r is the one whose address lane 8q + r gave; lane 4r + t has its word t, or a column's."""
        name = signature.mnemonic.split(".")[0]
        if name not in self.moves:
            raise Unsupported(f"no {name}")
        memory, taken = memory.copy(), np.full(given.shape, 0xFFFFFFFF, np.uint32)
        halves = memory.view("<u2").reshape(len(rows), -1, 8)
        sources, results = np.ascontiguousarray(given).view("<u2"), taken.view("<u2")
        turned = ".trans" in signature.mnemonic
        for trial, lane, i in np.ndindex(*results.shape):
            q, y = divmod(i, 2)
            r, e = (2 * (lane % 4) + y, lane // 4) if turned else (lane // 4, 2 * (lane % 4) + y)
            if name == "movmatrix":
                results[trial, lane, i] = sources[trial, 4 * r + e // 2, e % 2]
            elif name == "ldmatrix":
                results[trial, lane, i] = halves[trial, rows[trial, 8 * q + r], e]
            else:
                halves[trial, rows[trial, 8 * q + r], e] = sources[trial, lane, i]
        return memory, taken

    def sass(self, signature):
        return "HMMA.TEST"


def can_run(signature):
    return runs_on(signature, INFO.sm)
