# SPDX-License-Identifier: Apache-2.0
"""Maps that are no atom's, bound to an instruction: what it says of their extents, owners and lanes."""

import pytest

import isa_tables
from layouts import Layout
from tests.verify.maps.test_keys import TILE
from verify.binding.bound import BoundMaps, bind_maps
from verify.maps.strided import StridedMap

MMA = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
C = "((4,8),(2,2)):((32,1),(16,8))"


def bind_c(threads: str = "32:1") -> BoundMaps:
    return bind_maps("C alone", MMA, threads, {"C": (C, StridedMap(Layout.parse(C), TILE), "")})


def test_extents_owners_and_lanes_are_those_of_the_instruction() -> None:
    bound = bind_c()
    (part,) = bound.parts
    assert (part.name, part.extent, bound.expect_extents(part), bound.multiplicity(part)) == ("C", (16, 8), (32, 4), 1)
    assert (bound.lanes, bound.threads, bound.rep_size, bound.shape, bound.is_copy) == (32, 32, 1, (16, 8, 16), False)
    assert bound.views == (bound,) and bound.seen_by(MMA) is bound and bound.instruction is MMA


def test_replicas_share_the_owners() -> None:
    bound = bind_c("8:1")  # four replicas, each of eight logical threads
    assert (bound.threads, bound.rep_size) == (8, 4)
    assert bound.thr_fault == ""


@pytest.mark.parametrize("threads", ["32:2", "33:1", "(4,8):(8,8)"])
def test_threads_that_do_not_number_the_lanes_are_kept_as_a_fault(threads: str) -> None:
    bound = bind_c(threads)
    assert bound.thr is None and bound.thr_fault
    with pytest.raises(TypeError, match="is not well formed"):
        _ = bound.numbering
