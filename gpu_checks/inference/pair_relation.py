# SPDX-License-Identifier: Apache-2.0
"""From the observed table to classes: which elements of A, B and D share a row, a column, a k.

The table T has the D slot that the one-hot pair (a, b) contributed to, if any: a and b *interact* when there is one.
Everything here is defined on T alone, without a formula of the instruction:

    product   connected components of the graph on A, B and D slots with edges a - b, a - T[a,b] for each interaction
    m of a    the set {T[a,b] : b} of D slots that a contributes to      (a row of D)
    n of b    the set {T[a,b] : a} of D slots that b contributes to      (a column of D)
    k of a    the set {b : a and b interact}
    m of d    the m of all a that contribute to d;  n of d the n of all b that do;  k of b the k of all its a

Equal sets are one class. Classes are numbered inside their product in order of first appearance, slots in
order: products and k over A, m over A, n over B; D and B get the same numbers. For T of a matrix product
D[m,n] += A[m,k] * B[k,n] these are its rows, columns and k-slices, up to their names: whenever k(a) = k(b)
in one product, T[a,b] is the one d with m(d) = m(a) and n(d) = n(b), and no other pair interacts. `rebuild`
computes that, and `classes` compares it with T, which shows that the classes are complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gpu_checks.arrays import np
from gpu_checks.kernels.mma import MANY, NONE, WRONG, spare
from gpu_checks.model import COLUMN, CONTRACTED, PRODUCT, ROW, Labels, SlotClasses, Table
from isa_tables.signature import Signature

if TYPE_CHECKING:
    import numpy.typing as npt

Slots: TypeAlias = "npt.NDArray[np.int64]"


def classes(signature: Signature, table: Table) -> SlotClasses:
    """Return the classes of a table; `notes` say what isn't a matrix product, and nothing is raised for it."""
    counts = {name: signature.lanes * signature.operands[name].values for name in "ABD"}
    a, b = np.nonzero(table < counts["D"])
    d = table[a, b].astype(np.int64)
    product = _components(counts, a, b, d)
    labels = {name: np.full((size, 4), -1, np.int64) for name, size in counts.items()}
    for name in "ABD":
        labels[name][:, PRODUCT] = product[name]
    labels["A"][:, ROW] = _number(_sets(a, d, counts["A"], counts["D"]), product["A"])
    labels["B"][:, COLUMN] = _number(_sets(b, d, counts["B"], counts["D"]), product["B"])
    labels["A"][:, CONTRACTED] = _number(_sets(a, b, counts["A"], counts["B"]), product["A"])
    ambiguous: list[str] = []
    for axis, source, slots, target, targets in (
        (ROW, "A", a, "D", d),
        (COLUMN, "B", b, "D", d),
        (CONTRACTED, "A", a, "B", b),
    ):
        labels[target][:, axis], several = _inherit(labels[source][slots, axis], targets, counts[target])
        name = ("row", "column", "k")[axis]
        ambiguous += [f"{_slot(signature, target, int(s))} has more than one {name} class" for s in several]
    different = int(np.count_nonzero(rebuild(labels) != table))
    differences = [f"{different} of {table.size} pairs are not those of the classes"] if different else []
    odd, unused = _odd_pairs(signature, table, counts["D"]), _unused_slots(signature, product)
    notes = [*odd, *differences, *unused, *_unread(signature, labels), *_extents(signature, labels), *ambiguous]
    shaped = {name: flat.reshape(signature.lanes, -1, 4) for name, flat in labels.items()}
    return SlotClasses(shaped, table.size, digest(table), _shorten(notes))


def rebuild(operands: Mapping[str, Labels]) -> Table:
    """Return the table that the labels of A, B and D imply: `NONE` wherever no D element is named."""
    a, b, d = (operands[name].reshape(-1, 4) for name in "ABD")
    # One element of D is named by (product, row, column). Labels that are out of order may name more than there are.
    limits = [1 + max(int(part[:, axis].max(initial=0)) for part in (a, b, d)) for axis in range(4)]
    home = np.full((limits[PRODUCT], limits[ROW], limits[COLUMN]), NONE, np.uint16)
    named = np.flatnonzero((d[:, [ROW, COLUMN, PRODUCT]] >= 0).all(axis=1))
    home[d[named, PRODUCT], d[named, ROW], d[named, COLUMN]] = named
    table = np.full((len(a), len(b)), NONE, np.uint16)
    live = (b[:, [COLUMN, CONTRACTED, PRODUCT]] >= 0).all(axis=1)
    for product, k in {(int(p), int(k)) for p, k in a[:, [PRODUCT, CONTRACTED]] if p >= 0 and k >= 0}:
        rows = np.flatnonzero((a[:, CONTRACTED] == k) & (a[:, PRODUCT] == product) & (a[:, ROW] >= 0))
        columns = np.flatnonzero((b[:, CONTRACTED] == k) & (b[:, PRODUCT] == product) & live)
        table[np.ix_(rows, columns)] = home[product][np.ix_(a[rows, ROW], b[columns, COLUMN])]
    return table


def digest(table: Table) -> str:
    """SHA-256 of the packed table: little-endian 16-bit numbers, one row per A slot."""
    return hashlib.sha256(np.ascontiguousarray(table, "<u2").tobytes()).hexdigest()


def _components(counts: Mapping[str, int], a: Slots, b: Slots, d: Slots) -> dict[str, Slots]:
    """Product of each slot, numbered by first appearance over A; -1 for slots without interactions."""
    first_b, first_d = counts["A"], counts["A"] + counts["B"]
    size = first_d + counts["D"]
    edges = np.concatenate([np.stack([a, b + first_b]), np.stack([a, d + first_d])], axis=1)
    # Every slot takes the least root among its neighbours, and paths are halved, until nothing changes. This is done on
    # whole arrays, because there is an edge for every pair of slots that interacts.
    root = np.arange(size)
    while edges.size:
        lowest = np.minimum(root[edges[0]], root[edges[1]])
        before = root.copy()
        np.minimum.at(root, edges[0], lowest)
        np.minimum.at(root, edges[1], lowest)
        root = root[root]
        if np.array_equal(root, before):
            break
    # The least slot of a component lies in A, since the slots of A come first and each edge has one.
    used = np.zeros(size, bool)
    used[edges.reshape(-1)] = True
    names = {int(r): i for i, r in enumerate(dict.fromkeys(root[:first_b][used[:first_b]].tolist()))}
    products = np.array([names[int(r)] if u else -1 for r, u in zip(root, used, strict=True)], np.int64)
    return {"A": products[:first_b], "B": products[first_b:first_d], "D": products[first_d:]}


def _sets(slots: Slots, targets: Slots, size: int, width: int) -> list[bytes]:
    """For every slot the set of its target slots, as bytes that are equal when the sets are."""
    # Bits packed into bytes: a set is compared and hashed as one key, and there are thousands of each width.
    member = np.zeros((size, width), bool)
    member[slots, targets] = True
    return [row.tobytes() for row in np.packbits(member, axis=1)]


def _number(sets: Sequence[bytes], product: Slots) -> Slots:
    """Return numbers of equal sets inside each product in order of first appearance; -1 without a product."""
    names: dict[int, dict[bytes, int]] = {}
    numbers = []
    for key, home in zip(sets, product.tolist(), strict=True):
        inside = names.setdefault(home, {})
        numbers.append(inside.setdefault(key, len(inside)) if home >= 0 else -1)
    return np.array(numbers, np.int64)


def _inherit(labels: Slots, targets: Slots, size: int) -> tuple[Slots, Slots]:
    """Return the one label of each target, and the targets with more than one (left at -1)."""
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1, np.int64)
    np.minimum.at(low, targets, labels)
    np.maximum.at(high, targets, labels)
    # If the least and the greatest label of a target are one, all are: no list of them is needed.
    ambiguous = np.flatnonzero((high >= 0) & (low != high))
    high[ambiguous] = -1
    return high, ambiguous


def _slot(signature: Signature, name: str, slot: int) -> str:
    lane, value = divmod(slot, signature.operands[name].values)
    return f"{name} lane {lane} value {value}"


def _odd_pairs(signature: Signature, table: Table, d_slots: int) -> list[str]:
    odd = (table >= d_slots) & (table != NONE)
    if not odd.any():
        return []
    meanings = {
        MANY: "changed several D elements",
        WRONG: "changed a D element by something other than one product",
    }
    codes, counts = np.unique(table[odd], return_counts=True)
    lines = []
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        a, b = np.argwhere(table == code)[0].tolist()
        what = meanings.get(code, f"gave the unexpected code {code}")
        first = f"{_slot(signature, 'A', a)} with {_slot(signature, 'B', b)}"
        lines.append(f"{count} pairs {what}, the first {first}")
    return lines


def _unused_slots(signature: Signature, product: Mapping[str, Slots]) -> list[str]:
    """Slots that take part in no product, except those of an operand of which lanes hold copies."""
    return [
        f"{_slot(signature, name, int(slot))} takes part in no product"
        for name in "ABD"
        if name not in spare(signature)
        for slot in np.flatnonzero(product[name] < 0)
    ]


def _unread(signature: Signature, labels: Mapping[str, Labels]) -> list[str]:
    """Return notes on operands of which lanes hold copies: how many elements are read from no copy."""
    notes = []
    for name in spare(signature):
        read = labels[name][labels[name][:, PRODUCT] >= 0]
        axis = ROW if name == "A" else COLUMN
        rows, columns = signature.operands[name].extent
        missing = rows * columns * signature.products - len(np.unique(read[:, [PRODUCT, axis, CONTRACTED]], axis=0))
        notes += [f"{missing} elements of {name} are read from no copy"] if missing else []
    return notes


def _extents(signature: Signature, labels: Mapping[str, Labels]) -> list[str]:
    """Compare the number of classes with the shape: the only use of the shape here, and it renames nothing."""
    products = len(set(labels["A"][:, PRODUCT].tolist()) - {-1})
    notes = [] if products == signature.products else [f"{products} products, not {signature.products}"]
    m, n, k = signature.shape
    for name, axis, axis_name, extent in (
        ("A", ROW, "row", m),
        ("B", COLUMN, "column", n),
        ("A", CONTRACTED, "k", k),
    ):
        for home in range(products):
            chosen = labels[name][labels[name][:, PRODUCT] == home, axis]
            if (classes := len(set(chosen.tolist()))) != extent:
                notes.append(f"product {home} has {classes} {axis_name} classes, not {extent}")
    return notes


def _shorten(notes: Sequence[str], limit: int = 20) -> tuple[str, ...]:
    extra = [f"and {len(notes) - limit} more"] if len(notes) > limit else []
    return (*notes[:limit], *extra)
