# SPDX-License-Identifier: Apache-2.0
"""A tiling's kernel carried out in numpy: its own index expressions, and instructions as in the PTX ISA.

Nothing here reads a layout of the tiling. What is taken from the kernel's text are the expressions of its index
functions, the flags of the instruction and the fields of the descriptors.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np

from gpu_checks.tilings.kernel import kernel
from isa_tables import instruction
from layouts import Layout

POISON = 10**9
FUNCTION = re.compile(r"constexpr int (\w+)\(([^)]*)\) \{ return (.*); \}")
FIELDS = re.compile(r"u64 (\w+)_descriptor.*\n  return 0x([0-9a-f]+)ull")

ORIGIN = re.compile(r"&(\w)_matrix\[(.*) \+ \w_global\(x\)\]")
PLACE = re.compile(r"place = (.*) \+ \w_global")
COPIED = re.compile(r", (.*) \? \(const void\*\)&(\w)_matrix\[.* : &nothing\);")
STORED = re.compile(r"  if \((.*)\) (?:result|atomicAdd)")


def swizzle(bits, base, shift, x):
    """Bit base + i of the result is that bit of x, exclusive or bit base + i + shift."""
    for i in range(bits):
        x = x ^ (x >> base + i + shift & 1) << base + i
    return x


class Text:
    """The index functions and descriptors of a kernel."""

    def __init__(self, text):
        self.codes, self.descriptors = {}, {name: int(fields, 16) for name, fields in FIELDS.findall(text)}
        for name, parameters, expression in FUNCTION.findall(text):
            python = re.sub(r"swizzle<(\d+), (\d+), (\d+)>\(", r"swizzle(\1, \2, \3, ", expression).replace("/", "//")
            self.codes[name] = re.findall(r"int (\w+)", parameters), compile(python, name, "eval")
        self.origins = dict(ORIGIN.findall(text))
        self.origins["result"] = PLACE.search(text)[1]
        self.predicates = {name: condition for condition, name in COPIED.findall(text)}
        if stored := STORED.search(text):
            self.predicates["result"] = stored[1]
        spaces = re.findall(r"namespace (\w+) \{(.*?)\n\}", text, re.DOTALL)
        flags = {space: re.search(r", p(?:, 1, 1)?((?:, [01])*);", body) for space, body in spaces}
        self.transposed = {space: re.findall("[01]", match[1]) for space, match in flags.items() if match}

    def __call__(self, name, *arguments):
        names, code = self.codes[name]
        shape = np.broadcast_shapes(*map(np.shape, arguments))
        return np.broadcast_to(eval(code, {"swizzle": swizzle}, dict(zip(names, arguments, strict=True))), shape)

    def inside(self, name, x, tile):
        """Where element x of the tile is inside the matrix; everywhere when the text has no predicate."""
        predicates = self.predicates.get(name, "0 < 1").replace("/", "//").split(" && ")
        return np.all(
            [np.broadcast_to(eval(predicate, {"x": x}, tile), np.shape(x)) for predicate in predicates], axis=0
        )


def block(tiling, matrices, block_x, block_y):
    """The kernel's results of one CTA, a block of the whole; from A (m, k), B (n, k) and V (n, k) as integers."""
    memory = {}
    for name, (feed, _, _) in tiling.feeds.items():
        memory[name] = np.ravel(matrices[name] if feed.major == "K" else matrices[name].T)
    whole = np.zeros(tiling.extents["C"], np.int64)
    Cta(tiling, memory, {"x": block_x, "y": block_y}).run(whole.reshape(-1))
    return whole


class Cta:
    """One CTA: its threads' registers are arrays [thread, value], its shared memory one array for each operand."""

    def __init__(self, tiling, memory, block):
        self.tiling, self.text, self.memory = tiling, Text(kernel(tiling)), memory
        self.tile = {"blockIdx": SimpleNamespace(**block)}
        self.threads = np.arange(tiling.threads)[:, None]
        self.shared = {}
        products = {"first": tiling.product} | ({"second": tiling.reuse.product} if tiling.reuse else {})
        self.machines = {space: Instruction(product) for space, product in products.items()}

    def run(self, flat):
        if self.tiling.reuse:
            sums, name = self.chained(self.tiling.reuse), "D"
        else:
            sums, name = self.product(), "C"
        x = self.text(f"{name}_fragment", self.threads, np.arange(sums.shape[1]))
        at = self.text(f"{name}_global", x) + eval(self.text.origins["result"], {}, self.tile)
        inside = self.text.inside("result", x, self.tile)
        np.add.at(flat, at[inside], sums[inside])

    def chained(self, reuse):
        sums = None
        for walked in range(self.tiling.walked):
            self.tile["tile_n"] = walked
            weights = self.product()[:, self.text("P_reuse", np.arange(reuse.values.size))]
            self.copy("V")
            sums = self.multiply("second", reuse.product, weights, self.load("V"), ("P", "V"), sums)
        return sums

    def product(self):
        sums = None
        for step in range(self.tiling.tiles[2]):
            self.tile["tile_k"] = step
            self.copy("A")
            self.copy("B")
            sums = self.multiply("first", self.tiling.product, self.load("A"), self.load("B"), ("A", "B"), sums)
        return sums

    def copy(self, name):
        """Global to shared memory; what is not written stays poisoned."""
        copy = self.tiling.feeds[name][0].copy
        x = self.text(f"{name}_copy", np.arange(copy.modes[0].size)[:, None], np.arange(copy.modes[1].size))
        origin = eval(self.text.origins[name], {}, self.tile)
        self.shared[name] = np.full(48 * 1024, POISON)
        inside, at = self.text.inside(name, x, self.tile), origin + self.text(f"{name}_global", x)
        read = np.where(inside, self.memory[name][np.where(inside, at, 0)], 0)
        self.shared[name][self.text(f"{name}_shared", x)] = read

    def load(self, name):
        """The registers of an operand; None where the instruction reads shared memory."""
        feed, product, operand = self.tiling.feeds[name]
        if product.fragment(operand).space == "smem":
            return None
        distribution = getattr(product, operand)
        if feed.load is None:
            x = self.text(f"{name}_fragment", self.threads, np.arange(distribution.modes[1].size))
            return self.shared[name][self.text(f"{name}_shared", x)]
        return self.load_matrices(name, feed.load, distribution.modes[1].size)

    def load_matrices(self, name, load, values):
        """Register r of lane l gets row l // 4 of matrix r, elements 2 (l % 4) and one more; .trans: the columns."""
        count = int(re.search(r"\.x(\d)", load.mnemonic)[1])
        loaded = np.full((len(self.threads), values), POISON)
        lane = np.arange(32)
        for step in range(load.source.modes[1].size // 8):
            rows = self.text(f"{name}_shared", self.text(f"{name}_source", self.threads, 8 * step + np.arange(8)))
            matrices = self.shared[name][rows[:, :1] + np.arange(8)].reshape(-1, 4, 8, 8)
            for register in range(count):
                for half in range(2):
                    row, column = (
                        (2 * (lane % 4) + half, lane // 4)
                        if "trans" in load.mnemonic
                        else (lane // 4, 2 * (lane % 4) + half)
                    )
                    value = self.text(f"{name}_target", 2 * (count * step + register) + half)
                    loaded[:, value] = matrices[:, register, row, column].reshape(-1)
        return loaded

    def multiply(self, space, product, a, b, names, sums):
        """Every instruction of the tile, on all its groups of lanes at once."""
        m, n, k = product.steps
        machine = self.machines[space]
        if sums is None:
            sums = np.zeros((len(self.threads), m * n * machine.values("C")), np.int64)
        for step in np.ndindex(m, n, k):
            first = machine.operand(
                "A", a, step[0] + m * step[2], lambda at: self.matrix(space, names[0], product, "A", at)
            )
            second = machine.operand(
                "B", b, step[1] + n * step[2], lambda at: self.matrix(space, names[1], product, "B", at)
            )
            place = slice(
                (step[0] + m * step[1]) * machine.values("C"), (step[0] + m * step[1] + 1) * machine.values("C")
            )
            sums[:, place] += machine.distributed(first @ second)
        return sums

    def matrix(self, space, name, product, operand, number):
        """The instruction's tile in shared memory, by its descriptor: [warpgroup, mn, k]."""
        fragment, fields = product.fragment(operand), self.text.descriptors[name]
        rows, columns = fragment.extent if operand == "A" else fragment.extent[::-1]
        size = fragment.bits // 8
        first = self.text(f"{name}_fragment", np.arange(0, len(self.threads), 128), rows * columns * number)
        start = size * self.text(f"{name}_place", first)
        assert (start % 16 == 0).all()
        flags = self.text.transposed[space]
        major = "MN" if flags and flags[-1 if operand == "B" else 0] == "1" else "K"
        inside = canonical(fields, major, fragment.bits, rows, columns) * size
        bytes_ = start[:, None, None] + inside
        bits = {0: 0, 3: 1, 2: 2, 1: 3}[fields >> 62]
        return self.shared[name][swizzle(bits, 4, 3, bytes_) // size]


def canonical(fields, major, bits, rows, columns):
    """Element offsets [mn, k] that the ISA's canonical layouts give, before the swizzle."""
    t, w = 128 // bits, {0: 1, 3: 2, 2: 4, 1: 8}[fields >> 62]
    lbo, sbo = ((fields >> at & 0x3FFF) * t for at in (16, 32))
    if major == "K":
        step = lbo if w == 1 else t
        layout = Layout(((8, rows // 8), (t, columns // t)), ((w * t, sbo), (1, step)))
    elif w == 1:
        layout = Layout(((t, 1, rows // t), (8, columns // 8)), ((1, t, sbo), (t, lbo)))
    else:
        across = max(1, rows // (w * t))
        layout = Layout(((t, min(w, rows // t), across), (8, columns // 8)), ((1, t, lbo), (w * t, sbo)))
    return layout(np.arange(rows * columns)).reshape(columns, rows).T


class Instruction:
    """One instruction, its registers as the ISA tables place them; a scalar multiply-add has one of each."""

    def __init__(self, product):
        self.product, self.signature = product, product.signature
        isa = (
            None if product.mnemonic.startswith("fma") else instruction(product.mnemonic, **dict(self.signature.chosen))
        )
        lanes = self.signature.lanes
        self.places = {}
        for name in "ABC":
            fragment = product.fragment(name)
            if fragment.space == "smem":
                continue
            lane, value = np.arange(lanes)[:, None], np.arange(fragment.values)
            zero = np.zeros((lanes, fragment.values), int)
            if isa is None:
                self.places[name] = (zero, zero, zero)
                continue
            operand = isa.operands[name if name in isa.operands else "D"]
            row, column = operand.locate(lane + 0 * value, value + 0 * lane)
            self.places[name] = (isa.product(lane + 0 * value), row, column)

    def values(self, name):
        return self.product.fragment(name).values

    def operand(self, name, registers, number, matrix):
        """A [group, product, m, k] or B [group, product, k, n] of one instruction."""
        if registers is None:
            tile = matrix(number)[:, None]
            return tile if name == "A" else tile.transpose(0, 1, 3, 2)
        fragment, count = self.product.fragment(name), self.values(name)
        groups = registers[:, number * count : (number + 1) * count].reshape(-1, self.signature.lanes, count)
        values = np.full((len(groups), self.signature.products, *fragment.extent), POISON)
        values[:, *self.places[name]] = groups
        return values

    def distributed(self, made):
        """D as the lanes hold it: [thread, value]."""
        return made[:, *self.places["C"]].reshape(-1, self.values("C"))
