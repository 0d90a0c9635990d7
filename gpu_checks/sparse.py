# SPDX-License-Identifier: Apache-2.0
"""mma.sp: the relation under every pattern of metadata, and which lane's metadata rules which element of A.

A field is four bits of a lane's metadata. With one pattern in every field the relation is taken as for a dense
instruction; a stored element of A keeps its row and changes its k. Then the fields are told apart: each has a
number, and in one configuration for each binary digit of it (and one for the inverse digit) a field holds one of
two patterns, so that the k of an element spells the number of the field that rules it. Last, all fields are
drawn at random from the patterns, and every element must stand where its field says. All this is done for
every selector F.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu_checks.coded import Form, forms, slots
from gpu_checks.machine import Machine
from gpu_checks.meetings import Meetings, digest, label
from gpu_checks.packing import Words
from gpu_checks.spelled import Spelling, meet, spell
from gpu_checks.values import CONTRACTED, Labels, Metadata
from isa_tables.signature import Signature

FIELDS, FIELD = 8, 4  # fields in a lane's metadata, bits in a field
RANDOM = 16  # configurations of random fields
_EVERY = 0x11111111  # one in every field


@dataclass(frozen=True, slots=True)
class Sparse:
    """What was seen of one sparse instruction."""

    operands: Mapping[str, Labels]  # A (its k under the first pattern), B, D
    metadata: Metadata
    hash: str
    pairs: int
    notes: tuple[str, ...]


def patterns(signature: Signature) -> tuple[int, ...]:
    """The patterns of a field that the tables call meaningful."""
    return tuple(signature.sparsity.kept) if signature.sparsity else ()


def look(machine: Machine, signature: Signature, seed: int) -> Sparse:
    """Probe every pattern under every selector. Raises Refused or DeviceFault as the machine does."""
    every = forms(signature)
    values = patterns(signature)
    sizes = {"A": slots(every[0], "A", None), "B": slots(every[0], "B", None)}
    sizes["D"] = (signature.lanes, signature.operands["D"].values)
    uniform = np.array(values, np.uint32)[:, None, None] * np.full((1, signature.lanes, 1), _EVERY, np.uint32)
    spelling = spell(every[0], None)
    seen = {form: meet(machine, form, None, None, spelling, uniform) for form in every}
    tables = seen[every[0]][0]
    found = label({name: lanes * count for name, (lanes, count) in sizes.items()}, tables)
    notes = [*dict.fromkeys(note for _, said in seen.values() for note in said), *found.notes]
    different = [f for f in every if digest(seen[f][0]) != digest(tables)]
    notes += [f"selector {f.signature.chosen.get('F')} gives another relation" for f in different]
    ways, k_of_b = np.stack(found.kept), found.labels["B"][:, CONTRACTED]
    rulers = {}
    for form in every:
        ruler, said = _ruler(machine, form, spelling, ways, k_of_b, seed)
        rulers[int(form.signature.chosen.get("F", 0))] = ruler.reshape(*sizes["A"], 2)
        notes += said
    kept = {value: k.reshape(sizes["A"]) for value, k in zip(values, found.kept, strict=True)}
    return Sparse(
        operands={name: flat.reshape(*sizes[name], 4) for name, flat in found.labels.items()},
        metadata=Metadata(kept, rulers, RANDOM),
        hash=digest(tables),
        pairs=len(found.labels["A"]) * len(found.labels["B"]),
        notes=tuple(notes),
    )


def _ruler(
    machine: Machine, form: Form, spelling: Spelling, ways: Labels, k_of_b: Labels, seed: int
) -> tuple[Labels, list[str]]:
    """[A slot] -> (lane, field) that rules it under this selector, and what did not fit."""
    lanes = form.signature.lanes
    apart = _apart(ways)
    number = np.arange(lanes * FIELDS).reshape(lanes, FIELDS)
    digits = range(int(number.max()).bit_length())
    chosen = np.stack([number >> digit & 1 for digit in digits] + [1 - (number >> digit & 1) for digit in digits])
    values = np.array(patterns(form.signature))
    drawn = np.random.default_rng(seed).integers(0, len(values), (RANDOM, lanes, FIELDS))
    fields = np.concatenate([values[np.array(apart)[chosen]], values[drawn]])
    tables, said = meet(machine, form, None, None, spelling, words_of(fields))
    k = np.stack([_k_of(table, k_of_b, ways.shape[1]) for table in tables])
    ones = k[: len(chosen)] == ways[apart[1]]
    zeros = k[: len(chosen)] == ways[apart[0]]
    half = len(digits)
    spelled = sum((ones[digit] << digit for digit in digits), np.zeros(ways.shape[1], np.int64))
    clean = (ones ^ zeros).all(axis=0) & (ones[:half] == zeros[half:]).all(axis=0)
    ruler = np.where(clean, spelled, -1)
    predicted = ways[drawn.reshape(RANDOM, -1)[:, ruler], np.arange(ways.shape[1])]
    wrong = int((predicted != k[len(chosen) :])[:, clean].sum())
    notes = list(said)
    notes += [f"{int((~clean).sum())} elements of A are not ruled by one field"] if not clean.all() else []
    notes += [f"{wrong} elements of A stand elsewhere under random metadata than their field says"] if wrong else []
    lane, field = np.divmod(ruler, FIELDS)
    return np.stack([np.where(clean, lane, -1), np.where(clean, field, -1)], axis=-1), notes


def _apart(ways: Labels) -> tuple[int, int]:
    """Two patterns that put every element of A at different k."""
    for first in range(len(ways)):
        for second in range(first + 1, len(ways)):
            if (ways[first] != ways[second]).all():
                return first, second
    return 0, len(ways) - 1


def words_of(fields: Labels) -> Words:
    """Metadata words [configuration][lane][1] from fields [configuration][lane][field]."""
    words: Words = (fields << (FIELD * np.arange(FIELDS))).sum(axis=-1).astype(np.uint32)[..., None]
    return words


def _k_of(table: Meetings, k_of_b: Labels, size: int) -> Labels:
    """The k of each element of A by the elements of B that it meets, -1 where they have none or several."""
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1, np.int64)
    np.minimum.at(low, table.a, k_of_b[table.b])
    np.maximum.at(high, table.a, k_of_b[table.b])
    return np.where(low == high, high, -1)
