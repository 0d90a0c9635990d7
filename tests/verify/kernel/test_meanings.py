# SPDX-License-Identifier: Apache-2.0
"""Each modifier and operand of an opcode changes what is interpreted, or its row says why it changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from isa_tables.semantics import Row, rows
from tests.verify.kernel.forms import Form, others
from tests.verify.kernel.states import effect

STATES = [(False, False), (True, True)]  # plain bits in every thread; data in half of the warps
# Forms whose effect these states do not show, and why: the pattern of the form's text -> the reason.
NOT_SHOWN = {
    r"[.]uni\b": "a requirement, which is checked where threads part",
    r"cluster[.]arrive[.]relaxed": "it changes what a later wait orders",
    r"redux.*add[.]s32|^shr[.]u16|^setp[.]eq[.][us]16": "the same function of bits",
    r"^(add|sub|mad)c.*[.]s(32|64)": "the low bits and the carry of signed numbers are those of unsigned ones",
    r"^madc[.]hi": "the carry that it takes in has no meaning in these states",
    r"^set[.]eq[.](u32[.][us]16|s32[.])": "the same function of bits",
    r"^slct[.](ftz[.])?[us](16|32|64)": "bits of one width are moved alike",
    r"^slct[.]ftz": "of these numbers none is flushed to another sign",
    r"^cvt[.](u8[.][us](8|16)|[us]16[.]u8)": "the same function of these bits",
    r"^cvta": "a global address is a generic one",
    r"^(ld|st)[.](param[.])?[us]8|^selp[.][us]16": "bits of one width are moved alike where nothing is extended",
    r"^ld[.](weak|volatile|relaxed|acquire)": "a strong load differs where another thread writes",
    r"^ld[.]nc": "it differs where the grid has written",
    r"^red[.]relaxed[.]cta": "it differs where several CTAs add",
    r"^(add|sub|mul|fma|mad)[.]rn\b": "what it is without, but for a sum that may be fused with a product",
    r"^mad[.]": "what fma is",
    r"^div[.]full": "both are approximations, and data are divided exactly",
    r"^cvt.*([.]sat|[.]ftz|[.]r[zmp]|[.]rn[.]f16[.]f16)": "of these numbers none is clamped, flushed or rounded",
    r"^wgmma[.]mma_async": "an operand that says what is so without it",
    r"^wgmma[.]commit_group": "there is nothing to commit",
    r"^tcgen05[.](ld|st|wait)": "no Tensor Memory is allocated",
    r"^fence[.]proxy": "nothing was written before",
}


def differences(one: Form, other: Form) -> Iterator[bool | None]:
    """Yield, for each state, whether two forms have different effects; None if the first has no meaning there."""
    for data, masked in STATES:
        made = effect(one, data, masked)
        yield made != effect(other, data, masked) if made else None


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{at} {row.spelling}") for at, row in enumerate(rows())])
def test_every_modifier_and_operand_has_an_effect_or_a_reason(row: Row) -> None:
    faults = []
    for one, other in others(row):
        found = set(differences(one, other))
        free = one.change in row.no_effect or any(one.change in row.words.get(name, ()) for name in row.no_effect)
        if free and True in found:
            faults.append(f"{one.text} differs from {other.text}")
        shown = True in found or not any(re.search(pattern, one.text) for pattern in NOT_SHOWN)
        if not free and shown and True not in found and False in found:
            faults.append(f"{one.text} is {other.text}")
    assert not faults, "\n".join(faults)
