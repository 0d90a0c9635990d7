# SPDX-License-Identifier: Apache-2.0
"""Some CTAs of a launch: which ones, when they speak for themselves, and through which parameters a kernel writes."""

import pytest

from tests.verify.capture.logs import ADD
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.part import choose_ctas, find_exchange, list_stored


def test_corners_edges_and_eight_by_the_seed() -> None:
    chosen = choose_ctas((100, 50, 1), 3)
    assert len(chosen) == 16 and {0, 99, 4900, 4999} <= set(chosen)
    assert len([cta for cta in chosen if cta % 100 in (0, 99) or cta // 100 in (0, 49)]) >= 8
    assert choose_ctas((100, 50, 1), 3) == chosen != choose_ctas((100, 50, 1), 4)
    assert choose_ctas((1, 1, 1), 3) == (0,)
    assert len(choose_ctas((16384, 1, 1), 3)) == 10


@pytest.mark.parametrize(
    "text",
    [
        "atom.global.add.f32 %f3, [%rd7], %f3;",
        "red.relaxed.gpu.global.add.f32 [%rd7], %f3;",
        "ld.acquire.gpu.global.u32 %r5, [%rd7];",
        "st.volatile.global.u32 [%rd7], %r5;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd7], [%r5], 16;",
        "barrier.cluster.arrive;",
    ],
)
def test_ctas_may_exchange_data(text: str) -> None:
    assert find_exchange(parse_kernel(ADD, "add")) == ""
    assert find_exchange(parse_kernel(ADD.replace("  st.global.f32 [%rd7], %f3;", f"  {text}"), "add")).endswith(
        text[:60].rstrip(";")
    )


def test_what_stays_in_a_cta_is_no_exchange() -> None:
    for text in ("atom.shared.add.u32 %r5, [%r4], 1;", "ld.volatile.shared.u32 %r5, [%r4];"):
        assert find_exchange(parse_kernel(ADD.replace("DONE:", f"  {text}\nDONE:"), "add")) == ""


def test_the_parameters_of_stores() -> None:
    assert list_stored(parse_kernel(ADD, "add")) == {"out"}
    both = ADD.replace("add.s64 %rd7, %rd3, %rd4", "selp.b64 %rd7, %rd1, %rd3, %p1")
    assert list_stored(parse_kernel(both, "add")) == {"x", "out", "n"}
    scattered = ADD.replace("add.s64 %rd7, %rd3, %rd4", "ld.global.u64 %rd7, [%rd5]")
    assert "x" in list_stored(parse_kernel(scattered, "add"))
    copied = ADD.replace(
        "  st.global.f32 [%rd7], %f3;", "  cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r4], 16;"
    )
    assert list_stored(parse_kernel(copied, "add")) == {"x"}


def test_a_pointer_that_is_kept_in_local_memory_is_stored_through() -> None:
    kept = ADD.replace("add.s64 %rd7, %rd3, %rd4;", "st.local.u64 [%rd2], %rd1;\n  ld.local.u64 %rd7, [%rd2];")
    assert kept != ADD and "x" in list_stored(parse_kernel(kept, "add"))
