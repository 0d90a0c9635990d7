# SPDX-License-Identifier: Apache-2.0
"""Each modifier and operand of an opcode changes what is interpreted, or its row says why it changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from isa_tables.semantics import Row, meaning, rows
from tests.verify.kernel.forms import Form, choose_first, list_pairs
from tests.verify.kernel.states import effect
from tests.verify.kernel.test_unread import FLAGS

STATES = [(False, False), (True, True)]  # plain bits in every thread; data in half of the warps
# Forms whose effect these states do not show: why -> patterns of the forms' texts, each of which is needed.
NOT_SHOWN: Mapping[str, tuple[str, ...]] = {
    "a requirement, which is checked where threads part": (r"[.]uni\b",),
    "it differs where lanes of a warp come apart": (
        r"^barrier[.](sync|red)", r"^bar[.](sync|red[.]popc)[.]aligned",
    ),
    "it changes what a later wait orders": (r"cluster[.]arrive[.]relaxed",),
    "the same function of bits": (
        r"redux.*add[.]s32", r"^shr[.]u16", r"^cvt[.]u8[.][us](8|16)", r"^add[.]s16x2",
    ),
    "the low bits and the carry of signed numbers are those of unsigned ones": (
        r"^add(c|[.]cc).*[.]s(32|64)", r"^sub(c|[.]cc).*[.]s(32|64)", r"^mad(c|.*[.]cc).*[.]s(32|64)",
    ),
    "the carry that it takes in has no meaning in these states": (r"^madc[.]hi",),
    "bits of one width are moved alike": (r"^slct[.](ftz[.])?[us](16|32|64)", r"^selp[.][us]16"),
    "bits are moved alike where nothing is extended": (r"^ld[.](param[.])?[us]8", r"^st[.](param[.]|global[.])?[us]8"),
    "a global address is a generic one": (r"^cvta", r"^(red|atom)[.]global"),
    "it differs where the grid has written": (r"^ld[.]nc",),
    "it differs where another CTA or thread does the same": (
        r"^(red|atom)[.].*[.](relaxed|acquire|acq_rel|release)[.]",
        r"^(red|atom)[.](relaxed|acquire|acq_rel|release)[.]",
        r"^(red|atom)[.].*[.](gpu|cta|cluster|sys)[.]", r"^(red|atom)[.](gpu|cta|cluster|sys)[.]",
    ),
    "of opaque data no number is known, so all operations on them are alike": (
        r"^(red|atom)[.](min|max|add|inc|dec)[.][us]32",
        r"^(red|atom)[.]add[.](noftz[.])?b?f(16(x2)?|32|64)", r"^(red|atom)[.](or|xor|exch)[.]b32",
    ),
    "which metadata are legal differs, and these are with both": (r"^mma[.]sp::ordered_metadata",),
    "what it is without, but for a sum that may be fused with a product": (
        r"^add[.]rn\b", r"^sub[.]rn\b", r"^mul[.]rn\b",
    ),
    "what fma is": (r"^mad[.]r",),
    "both are approximations, and data are divided exactly": (r"^div[.]full",),
    "of these numbers none is clamped, flushed or rounded": (
        r"^cvt.*[.]sat", r"^cvt.*[.]rn[.]f16[.]f16",
    ),
    "an operand that says what is so without it": (r"^wgmma[.]mma_async",),
    "there is nothing to commit": (r"^wgmma[.]commit_group",),
    "nothing of Tensor Memory is under way": (r"^tcgen05[.]wait",),
    "the same cells are read, as there are no more columns": (r"^tcgen05[.]ld",),
    "nothing was written before": (r"^fence[.]proxy",),
}  # fmt: skip
LISTED = [pattern for patterns in NOT_SHOWN.values() for pattern in patterns]


def differences(changed: Form, plain: Form) -> Iterator[bool | None]:
    """Yield, for each state, whether two forms have different effects; None if the first has no meaning there."""
    for data, masked in STATES:
        made = effect(changed, data, masked)
        yield made != effect(plain, data, masked) if made else None


@cache
def is_unshown(row: Row, changed: Form, plain: Form) -> bool:
    """Whether no state shows that two forms differ, and nothing says that they are the same."""
    free = changed.change in row.no_effect or any(changed.change in row.words.get(name, ()) for name in row.no_effect)
    differs = set() if free else set(differences(changed, plain))
    return False in differs and True not in differs


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{at} {row.spelling}") for at, row in enumerate(rows())])
def test_every_modifier_and_operand_has_an_effect_or_a_reason(row: Row) -> None:
    faults = []
    for changed, plain in list_pairs(row):
        differs = set(differences(changed, plain))
        free = changed.change in row.no_effect or any(
            changed.change in row.words.get(name, ()) for name in row.no_effect
        )
        if free and True in differs:
            faults.append(f"{changed.text} differs from {plain.text}")
        if is_unshown(row, changed, plain) and not any(re.search(pattern, changed.text) for pattern in LISTED):
            faults.append(f"{changed.text} is {plain.text}")
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_each_pattern_of_what_is_not_shown_is_needed() -> None:
    """A form whose effect the states show by now does not belong on the list."""
    pairs = [(row, *pair) for row in rows() for pair in list_pairs(row)]
    matching = ({pattern: [each for each in pairs if re.search(pattern, each[1].text)] for pattern in LISTED}).items()
    assert [pattern for pattern, some in matching if not any(is_unshown(*each) for each in some)] == []


# Classes with a row none of whose forms has a meaning in these states: why, with a section of the ISA.
NEVER = {"map_publish": "9.7.13.16, it copies a tensor map that the kernel made before: test_tensor_maps has the pairs"}


@pytest.mark.slow
def test_the_rows_of_which_nothing_is_shown_are_listed() -> None:
    """A form without a meaning in these states passes the test above: that must not become so unseen."""
    never = set()
    for row in rows():
        forms = (choose_first(row), *(changed for changed, _ in list_pairs(row)))
        if not any(effect(form, *state) for form in forms for state in STATES):
            never.add(row.meaning)
    assert never == NEVER.keys()


HALVES, EIGHT, DOUBLE = (
    "{%r20, %r21, %r22, %r23}",
    "{%r20, %r21, %r22, %r23}, {%r30, %r31, %r32, %r33}, {%r40, %r41}, {%r50, %r51, %r52, %r53}",
    "{%d20, %d21}, {%d22}, {%d23}, {%d24, %d25}",
)
LOADED, DOUBLES = f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {HALVES}, [%r5]", "mma.sync.aligned.m8n8k4.row.col.f64"
# Flags of a row's last `*`: an instruction with it and one without.
FLAG_PAIRS = {
    "x1": (LOADED.replace("x4", "x1").replace(HALVES, "{%r20}"), LOADED),
    "x2": (LOADED.replace("x4", "x2").replace(HALVES, "{%r20, %r21}"), LOADED),
    "trans": (LOADED.replace(".x4", ".x4.trans"), LOADED),
    **{way: (f"{DOUBLES.replace('f64', way)}.f64.f64.f64.f64 {DOUBLE}", f"{DOUBLES}.f64.f64.f64 {DOUBLE}")
       for way in ("rz", "rm", "rp")},
}  # fmt: skip
SAME_FLAGS = {  # those that change nothing here: why, with a section of the ISA
    "rn": "9.7.14.5.14, the rounding that it has without",
    "shared::cta": "9.7.14.5.15, what .shared is",
    "kind::f8f6f4": "9.7.14.5.14, types that both have give the same",
    "satfinite": "9.7.14.5.14, it clamps what leaves the type, and these sums do not: test_clamps has some that do",
    "sp::ordered_metadata": "9.7.14.6.3, it says which metadata are legal",
}


def of_text(text: str) -> Form:
    """Return an instruction as a form."""
    opcode, _, operands = text.partition(" ")
    decoded = meaning(opcode)
    assert decoded is not None, text
    return Form(decoded.row, (opcode,), (operands,))


def test_each_flag_of_an_instruction_has_an_effect_or_a_reason() -> None:
    assert FLAGS == FLAG_PAIRS.keys() | SAME_FLAGS.keys()
    for flag, pair in FLAG_PAIRS.items():
        with_flag, without = (effect(of_text(text), False, False) for text in pair)
        assert with_flag and without and with_flag != without, flag
    assert all(re.match(r"9\.7\.\d+", why) for why in SAME_FLAGS.values())
