# SPDX-License-Identifier: Apache-2.0
"""The windows of addresses: no array lies where shared, local or parameter memory does, however many there are."""

from __future__ import annotations

import pytest

from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

TEXT = """.version 8.8
.target sm_90
.address_size 64
.entry k(PARAMETERS)
{
.reg .b64 %a; .reg .b64 %c; .reg .b64 %o; .reg .b32 %i; .reg .b32 %r;
ld.param.u64 %a,[p0]; ld.param.u64 %c,[pLAST]; mov.u32 %i,%tid.x;
mul.wide.u32 %o,%i,4; add.u64 %a,%a,%o; add.u64 %c,%c,%o;
ld.b32 %r,[%a]; st.b32 [%c],%r;
ret;
}"""


def copy_with_arrays(count: int, claim: str) -> LaunchOutcome:
    """Check a kernel with so many arrays, which copies the first one to the last by generic addresses."""
    names = [f"A{number}" for number in range(count)]
    arrays = {name: {"dims": "i", "type": "f32"} for name in names} | {
        names[-1]: {"dims": "i", "type": "f32", "out": True}
    }
    parameters = ", ".join(f".param .u64 p{number}" for number in range(count))
    text = TEXT.replace("PARAMETERS", parameters).replace("LAST", str(count - 1))
    table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "claim": f"{names[-1]}[i] = {claim}", "params": names,
             "arrays": arrays}  # fmt: skip
    (outcome,) = check(text, claim_of(table), seed=1)
    return outcome


@pytest.mark.parametrize("count", [2, 200, 201, 202, 203, 300])
def test_a_kernel_may_have_hundreds_of_arrays(count: int) -> None:
    assert copy_with_arrays(count, "A0[i]").status == "VERIFIED"
    assert copy_with_arrays(count, "2*A0[i]").status == "REFUTED"
