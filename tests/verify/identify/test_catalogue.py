# SPDX-License-Identifier: Apache-2.0
"""The shipped list of maps is of the shipped tables, and another is never used."""

import json
from pathlib import Path

import pytest

import isa_tables
from layouts.arrays import np
from verify.identify import catalogue


def test_the_file_is_of_the_shipped_tables() -> None:
    """Else: `python -m verify.identify.catalogue`."""
    assert json.loads(catalogue.FILE.read_bytes())["tables"] == catalogue.digest()


@pytest.mark.slow
def test_the_file_is_what_the_tables_give() -> None:
    made = catalogue.made()
    assert catalogue.text(made) == catalogue.FILE.read_text(encoding="utf-8")
    assert list(catalogue.groups()) == made


def test_a_file_of_other_tables_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "catalogue.json"
    data = json.loads(catalogue.FILE.read_bytes())
    other.write_text(json.dumps(data | {"tables": "0" * 64}), encoding="utf-8")
    monkeypatch.setattr(catalogue, "FILE", other)
    monkeypatch.setattr(catalogue, "made", list)
    assert catalogue.groups() == []
    other.write_text("{", encoding="utf-8")
    assert catalogue.groups() == []


def test_the_members_of_a_group_have_its_map() -> None:
    """Another member than the one that is evaluated: of each group of two sizes."""
    seen = 0
    for group in catalogue.groups():
        if (group.lanes, group.values) not in ((32, 4), (32, 2)):
            continue
        points, holds = group.points()
        member = group.members[-1]
        operand = isa_tables.instruction(member.mnemonics[-1], **dict(member.select)).operands[member.operand]
        lane = np.arange(group.lanes)
        again = np.stack(operand.locate(lane[:, None], np.arange(group.values)[None, :]), axis=-1)
        again = again[..., ::-1] if group.swapped else again
        assert (again == points)[holds].all()
        assert (np.broadcast_to(operand.holds(lane), lane.shape) == holds).all()
        seen += 1
    assert seen > 20


def test_each_metadata_selector_has_its_own_map() -> None:
    sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    found = {
        member.select: group
        for group in catalogue.groups()
        for member in group.members
        if member.operand == "E" and sparse in member.mnemonics
    }
    assert {dict(select)["F"] for select in found} == {0, 1, 2, 3}
