# SPDX-License-Identifier: Apache-2.0
"""Statements about loops, copies, products and memory accesses, executed as they are written."""

from __future__ import annotations

from itertools import product as points
from math import prod
from typing import Any

import numpy as np

from layouts import Layout, cosize, size
from layouts.bank_conflicts import wavefronts
from layouts.tensor import Tensor
from layouts.tensor import copy as copy_tensor
from layouts.tensor import gemm as gemm_tensor
from layouts.text import parse_int_tuple
from tests.ledger.expression import compute
from tests.ledger.on_layouts import read

Array = Any


def arithmetic(formula: str, is_: int) -> str:
    """The value of a formula of numbers."""
    true = compute(formula)
    return "" if true == is_ else f"{formula} = {true}, not {is_}"


def loop(loops: list[list[Any]], index: str, base: int, shape: str, stride: str) -> str:
    """A nest of loops, inner first as [name, start, "<" or "<=", end, step], visits base + (shape:stride) in order."""
    ranges = [range(start, end + (op == "<="), step) for _, start, op, end, step in loops]
    names = [name for name, *_ in loops]
    visited = [
        compute(index, **dict(zip(names, reversed(at), strict=True))) for at in points(*reversed(ranges))
    ]  # the last loop of the list is the outermost
    canonical = Layout(parse_int_tuple(shape), parse_int_tuple(stride))
    if size(canonical) != len(visited):
        return f"{len(visited)} iterations, not {size(canonical)}"
    wrong = [n for n, x in enumerate(visited) if base + canonical(n) != x]
    return f"iteration {wrong[0]}: {visited[wrong[0]]}, not {base + canonical(wrong[0])}" if wrong else ""


def copy(source: str, destination: str, means: str) -> str:
    """Copying one layout to another does what the word says, compared with numpy on memory that is large enough."""
    to, from_ = Layout.parse(destination), Layout.parse(source)
    data = np.arange(1, 1 + 2 * max(cosize(to), cosize(from_)))
    memory = np.zeros(len(data), dtype=np.int64)
    copy_tensor(Tensor(data, from_), Tensor(memory, to))
    wanted = np.zeros(len(data), dtype=np.int64)
    word, *numbers = means.split()
    _mean(word, [int(x) for x in numbers], data, wanted)
    wrong = np.flatnonzero(memory != wanted)
    return f"place {wrong[0]} holds {memory[wrong[0]]}, not {wanted[wrong[0]]}" if wrong.size else ""


def _mean(word: str, numbers: list[int], data: Array, wanted: Array) -> None:
    match word:
        case "array":
            wanted[: numbers[0]] = data[: numbers[0]]
        case "gather":
            wanted[: len(numbers)] = data[numbers]
        case "scatter":
            wanted[numbers] = data[: len(numbers)]
        case "constant":
            wanted[: numbers[0]] = data[0]
        case "transpose":
            count = numbers[0] * numbers[1]
            wanted[:count] = data[:count].reshape(numbers[1], numbers[0]).T.ravel()
        case _:
            raise ValueError(f"unknown meaning {word}")


def multiply(a: str, b: str, c: str, case: str, sizes: list[int]) -> str:
    """The three loops of a product over these layouts compute what the name says, compared with numpy."""
    A, B, C = map(Layout.parse, (a, b, c))
    reach = 4 * max(map(cosize, (A, B, C)))
    data = [np.arange(start, start + 7 * reach, 7) % 11 for start in (3, 5)]
    memory = np.zeros(reach, dtype=np.int64)
    gemm_tensor(Tensor(data[0], A), Tensor(data[1], B), Tensor(memory, C))
    wanted = np.zeros(reach, dtype=np.int64)
    named = {"CONV": _convolved, "GETT": _contracted}.get(case.partition(" ")[0], _multiplied)
    named(case.partition(" ")[2] if case[:4] in ("CONV", "GETT") else case, data, wanted, sizes)
    wrong = np.flatnonzero(memory != wanted)
    return f"place {wrong[0]} of C holds {memory[wrong[0]]}, not {wanted[wrong[0]]}" if wrong.size else ""


def _contracted(case: str, data: list[Array], wanted: Array, sizes: list[int]) -> None:
    """An einsum over packed tensors. The case names A, B and C by their axes, the fastest in memory first."""
    parts = [axes[::-1] for axes in case.split()]  # numpy's first axis is the slowest
    extents = dict(zip(sorted(set("".join(parts))), sizes, strict=True))
    shapes = [[extents[axis] for axis in axes] for axes in parts]
    views = [x[: prod(shape)].reshape(shape) for x, shape in zip(data, shapes[:2], strict=True)]
    wanted[: prod(shapes[2])] = np.einsum(f"{parts[0]},{parts[1]}->{parts[2]}", *views).ravel()


def _multiplied(case: str, data: list[Array], wanted: Array, sizes: list[int]) -> None:
    """BLAS's product: letters give the order of A (M x K) and B (K x N) in memory, N column-major, T row-major."""
    letters, _, output = case.partition(" ")
    m, n, k, lda, ldb, ldc = sizes
    left = _matrix(data[0], m, k, lda, letters[0])
    right = _matrix(data[1], k, n, ldb, letters[1])
    product = left @ right
    for i, j in np.ndindex(m, n):
        wanted[i * ldc + j if output == "row" else i + j * ldc] = product[i, j]


def _matrix(data: Array, rows: int, columns: int, leading: int, letter: str) -> Array:
    count = columns if letter == "N" else rows
    lines = data[: count * leading].reshape(count, leading)
    return lines.T[:rows] if letter == "N" else lines[:, :columns]


def _convolved(case: str, data: list[Array], wanted: Array, sizes: list[int]) -> None:
    """Direct convolution, stride 1 and no padding: filters K x C x T x R x S over images N x C x (Z+T-1) x ..."""
    K, C, T, R, S, N, Z, P, Q = sizes
    D, H, W = Z + T - 1, P + R - 1, Q + S - 1
    filters = data[0][: K * C * T * R * S].reshape(S, R, T, C, K)
    images = data[1][: N * C * D * H * W].reshape(W, H, D, C, N)
    for at, (q, p, z, n, f) in enumerate(np.ndindex(Q, P, Z, N, K)):
        window = images[q : q + S, p : p + R, z : z + T, :, n]
        wanted[at] = (window * filters[..., f]).sum()


def lines(layout: str, threads: int, value: int, bytes_each: int, line: int, touched: int) -> str:
    """How many lines of memory the threads touch together with one of their values, from (thread, value) offsets."""
    parsed = Layout.parse(layout)
    true = len({parsed(t, value) * bytes_each // line for t in range(threads)})
    return "" if true == touched else f"{threads} threads touch {true} lines of {line} bytes, not {touched}"


def span(layout: str, threads: int, bytes_each: int, is_: int) -> str:
    """The bytes from the first to the last of the threads, each of which some thread has."""
    parsed = Layout.parse(layout)
    places = sorted(parsed(t, v) for t in range(threads) for v in range(size(parsed[1])))
    if places != list(range(places[0], places[0] + len(places))):
        return "the threads leave gaps"
    return "" if len(places) * bytes_each == is_ else f"{len(places) * bytes_each} bytes, not {is_}"


def bank_conflicts(
    layout: str, threads: int, ways: int, bytes_each: int = 4, bits: int = 32, swizzle: list[int] | None = None
) -> str:
    """The most wavefronts of a phase of shared memory when each thread accesses so many bits from its first value."""
    parsed = read(layout, swizzle)
    taken = wavefronts([bytes_each * parsed(t, 0) for t in range(threads)], bits)
    if taken.degree == ways:
        return ""
    pair = taken.conflict
    where = f": threads {pair.lanes[0]} and {pair.lanes[1]} in bank {pair.bank}" if pair else ""
    return f"{taken.degree} ways{where}"


def vector(layout: str, bits_each: int, bits: int) -> str:
    """The widest access to a thread's consecutive elements, of those that the layout keeps together from index 0."""
    parsed = Layout.parse(layout)
    run = next((i for i in range(size(parsed)) if parsed(i) != parsed(0) + i), size(parsed))
    return "" if run * bits_each == bits else f"{run * bits_each} bits, not {bits}"


def runs(layout: str, count: int, length: int) -> str:
    """The values of a layout are so many separate runs of this length in memory."""
    places = sorted({Layout.parse(layout)(i) for i in range(size(Layout.parse(layout)))})
    starts = [x for x in places if x - 1 not in places]
    if len(starts) == count and len(places) == count * length:
        return ""
    gap = f", the second {starts[1] - starts[0]} after the first" if len(starts) > 1 else ""
    return f"{len(starts)} runs of {len(places) // len(starts)} elements{gap}"


def permutation(of: int, formula: str) -> str:
    """A formula of x permutes 0 .. of-1."""
    images = [compute(formula, x=x) for x in range(of)]
    missing = sorted(set(range(of)) - set(images))
    return f"nothing goes to {missing[0]}" if missing else ""


def placed(formula: str, across: int, rows: list[str], lanes: str) -> str:
    """Lane x, named by a formula of x, goes to cell number formula(x), cells counted row after row."""
    at = {compute(formula, x=x): compute(lanes, x=x) for x in range(across * len(rows))}
    true = [" ".join(str(at.get(i * across + j)) for j in range(across)) for i in range(len(rows))]
    wrong = [i for i, row in enumerate(true) if row != rows[i]]
    return f"row {wrong[0]} is {true[wrong[0]]}" if wrong else ""


KINDS = {
    check.__name__: check
    for check in (
        arithmetic, loop, copy, multiply, lines, span, bank_conflicts, vector, runs, permutation, placed,
    )
}  # fmt: skip
