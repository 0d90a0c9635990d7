# SPDX-License-Identifier: Apache-2.0
"""From a table to classes, on tables of simulated instructions and on broken ones."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpu_checks.inference.pair_relation import classes, digest, rebuild
from isa_tables.signature import signature
from tests.gpu_checks.simulated import Simulated, random_maps
from tests.messages import OTHER_PRODUCT

NONE, MANY, WRONG = 0xFFFF, 0xFFFE, 0xFFFD
NAMES = [
    "dp4a.s32.s32",
    "dp2a.hi.u32.s32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
]
SMALL = signature("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64")


def observe(name, seed):
    s = signature(name)
    maps = random_maps(s, np.random.default_rng(seed))
    return s, maps, Simulated({s.mnemonic: maps}).table(s)


def sets_of(table, d_slots):
    """The definitions of gpu_checks.inference.pair_relation, one slot at a time."""
    of_a = [{int(d) for d in row if d < d_slots} for row in table]
    of_b = [{int(d) for d in column if d < d_slots} for column in table.T]
    partners = [{b for b, d in enumerate(row) if d < d_slots} for row in table]
    return of_a, of_b, partners


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_classes_are_the_rows_columns_and_slices_of_the_maps_up_to_their_names(name, seed):
    s, maps, table = observe(name, seed)
    relation = classes(s, table)
    assert relation.notes == ()
    for operand, axes in (("A", (0, 2)), ("B", (2, 1)), ("D", (0, 1))):
        labels = relation.operands[operand].reshape(-1, 4)
        true = maps[operand].reshape(-1, 3)
        # within a product, one name for one row and one row for one name
        for axis, column in zip(axes, (0, 1), strict=True):
            pairs = {
                (p, n, q, t)
                for (p, n), (q, t) in zip(labels[:, [3, axis]].tolist(), true[:, [2, column]].tolist(), strict=True)
            }
            assert len({(p, n) for p, n, _, _ in pairs}) == len({(q, t) for *_, q, t in pairs}) == len(pairs)
        unused = ({0, 1, 2} - set(axes)).pop()
        assert (labels[:, unused] == -1).all()


@pytest.mark.parametrize("name", NAMES[:4])
def test_classes_are_numbered_in_order_of_first_appearance(name):
    s, _, table = observe(name, 7)
    labels_of = {key: labels.reshape(-1, 4).tolist() for key, labels in classes(s, table).operands.items()}
    of_a, of_b, partners = sets_of(table, s.lanes * s.operands["D"].values)
    for operand, axis, sets in (("A", 0, of_a), ("B", 1, of_b), ("A", 2, partners)):
        seen: dict[int, list] = {}
        for label, key in zip(labels_of[operand], sets, strict=True):
            order = seen.setdefault(label[3], [])
            if key not in order:
                order.append(key)
            assert label[axis] == order.index(key)
    products = [label[3] for label in labels_of["A"]]
    assert list(dict.fromkeys(products)) == list(range(s.products))


@pytest.mark.parametrize("name", NAMES)
def test_classes_rebuild_the_table_and_its_hash(name):
    s, _, table = observe(name, 2)
    again = rebuild(classes(s, table).operands)
    assert again.dtype == np.uint16 and (again == table).all()
    packed = b"".join(int(d).to_bytes(2, "little") for d in table.reshape(-1))
    assert digest(again) == hashlib.sha256(packed).hexdigest()


@given(st.integers(0, 31), st.integers(0, 31), st.integers(0, 70) | st.sampled_from([NONE, MANY, WRONG]))
def test_one_wrong_pair_is_never_overlooked(a, b, code):
    s, _, table = observe(SMALL.mnemonic, 3)
    assume(table[a, b] != code)
    clean = digest(table)
    table[a, b] = code
    relation = classes(s, table)
    assert relation.notes
    assert digest(table) != clean


def test_a_broken_pair_is_reported_with_its_place():
    s, _, table = observe(SMALL.mnemonic, 4)
    table[5, 9], table[6, 9], table[7, 9] = MANY, WRONG, 500
    notes = classes(s, table).notes
    assert "1 pairs changed several D elements, the first A lane 5 value 0 with B lane 9 value 0" in notes
    wrong = f"1 pairs changed a D element by {OTHER_PRODUCT}"
    assert f"{wrong}, the first A lane 6 value 0 with B lane 9 value 0" in notes
    assert "1 pairs gave the unexpected code 500, the first A lane 7 value 0 with B lane 9 value 0" in notes


def test_elements_in_no_product_are_named():
    s, _, table = observe(SMALL.mnemonic, 5)
    unused = int(table[table < 64][0])
    table[3, :] = NONE
    table[:, 30] = NONE
    table[table == unused] = NONE
    relation = classes(s, table)
    assert "A lane 3 value 0 takes part in no product" in relation.notes
    assert "B lane 30 value 0 takes part in no product" in relation.notes
    assert f"D lane {unused // 2} value {unused % 2} takes part in no product" in relation.notes
    assert relation.operands["A"][3, 0].tolist() == [-1, -1, -1, -1]


@pytest.mark.parametrize("fill", [NONE, MANY, 0, 63])
def test_a_table_of_one_value_is_no_product_and_no_crash(fill):
    table = np.full((32, 32), fill, np.uint16)
    relation = classes(SMALL, table)
    assert relation.notes and len(relation.notes) <= 21
    assert {name: labels.shape for name, labels in relation.operands.items()} == {
        "A": (32, 1, 4),
        "B": (32, 1, 4),
        "D": (32, 2, 4),
    }


def test_noise_is_no_product_and_no_crash():
    random = np.random.default_rng(6)
    for _ in range(20):
        table = random.choice(np.r_[np.arange(64), NONE], (32, 32)).astype(np.uint16)
        assert classes(SMALL, table).notes


def test_two_products_where_one_is_declared_are_noticed():
    four = signature("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16")
    _, _, table = observe(four.mnemonic, 8)
    import dataclasses

    assert "4 products, not 1" in classes(dataclasses.replace(four, products=1), table).notes


def test_a_row_split_in_two_is_noticed_by_the_extents():
    # An instruction of 16 rows declared as one of 8: every class is there, one count is wrong.
    s, _, table = observe("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 1)
    import dataclasses

    small = dataclasses.replace(s, shape=(8, 8, 8))
    assert classes(small, table).notes == ("product 0 has 16 row classes, not 8",)
