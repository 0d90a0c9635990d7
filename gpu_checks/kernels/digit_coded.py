# SPDX-License-Identifier: Apache-2.0
"""The text of kernels for instructions with metadata or with operands in shared memory.

`coded_i_f` issues form f of the instructions of family i, which share all but N: one is chosen when it is launched,
for compiling a kernel takes far longer than the few lines in which the instructions of a family differ. It sets one
element of A to one, all else to zero, and issues the instruction on several fillings of B, its planes. On the first,
all ones, D shows how many elements of B each of its elements gets: it must be 1 or 0. The others hold the number of
B's slot in digits, so that D reads out which one it was. This is the table of all one-hot pairs under the premise
that D sums its products; it needs one run a digit, not one a pair.

`run_i` issues the i-th instruction in its first form on given words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from gpu_checks.kernels.assembly import READ, is_warpgroup, issue, issue_in_memory
from gpu_checks.kernels.forms import BAD, MULTIPLIED, InstructionForm, fits, forms
from gpu_checks.kernels.mma import shape
from gpu_checks.kernels.packing import encode_one, words_per_lane
from gpu_checks.kernels.smem_matrix import ALIGNMENT, MAJORS, windows
from gpu_checks.kernels.templates import beside

if TYPE_CHECKING:
    from isa_tables.signature import Signature


class At(IntEnum):
    """The places of a kernel's first argument, `numbers`; a descriptor has two, its low word first."""

    PLANES = 0
    ITEMS = 1
    A_SLOTS = 2
    LIMIT = 3
    BASE = 4
    B_WORDS = 5
    A_DESCRIPTOR = 6
    B_DESCRIPTOR = 8
    MEMBER = 10  # of the family
    D_VALUES = 11
    B_AT = 12  # where B's images begin in `block`, in words
    B_STRIDE = 13  # and how far apart they lie
    RESIDENT = 14  # how many of them there is room for: all planes, or one


_PLACES = {at.name.lower(): int(at) for at in At}
ZERO = "0"
_CUDA = beside(__file__)


def families(signatures: Sequence[Signature]) -> list[list[Signature]]:
    """Return the instructions that these kernels can issue, those together that differ in N alone, as they appear."""
    by_family: dict[str, list[Signature]] = {}
    for signature in signatures:
        if fits(signature):
            by_family.setdefault(family_of(signature), []).append(signature)
    return list(by_family.values())


def family_of(signature: Signature) -> str:
    """Return the mnemonic without N, where a warpgroup issues the instruction: only then is D in memory."""
    return (
        signature.mnemonic.replace(f"n{signature.shape[1]}k", "nNk") if is_warpgroup(signature) else signature.mnemonic
    )


def family_text(family: Sequence[Signature], index: int) -> str:
    """Return the kernels of all forms of a family; form f's end in _index_f."""
    written = []
    for number, members in enumerate(zip(*map(forms, family), strict=True)):
        most = max(members, key=lambda form: form.signature.shape[1]).signature
        fixed = "\n    ".join(_spell_fixed_words(most, "(item / a_slots)"))
        facts = _facts(members, most, ZERO, most.lanes)
        facts |= {"index": f"{index}_{number}", "fixed": fixed, "a_hot": _a_hot(most), "shared": ""}
        if most.operands["A"].space == "smem":
            facts["shared"] = f"{_spell_shared_words(most, 'A')}\n  {_CUDA['one_at'].template}"
        if most.operands["B"].space == "smem":
            facts["b_plane"] = _CUDA["b_resident"].substitute(_PLACES, lanes=most.lanes)
        written.append(_CUDA["form"].substitute(facts, **_PLACES, alignment=ALIGNMENT))
    return "".join(written)


def text(signature: Signature, index: int) -> str:
    """Return the kernel that issues the instruction in its first form on given words."""
    form = forms(signature)[0]
    s, sizes = form.signature, _sizes(form.signature)
    facts = _facts([form], s, f"c_words[trial * {sizes['c_words']} + w]", 1)
    facts |= {"index": index, "words": sizes["d_words"], "fixed": "\n  ".join(_spell_fixed_words(s, "plane"))}
    return _CUDA["run"].substitute(facts, a_words=_load(s, "A", "a_words", "plane"))


def _sizes(signature: Signature) -> dict[str, int]:
    result = signature.operands["D"]
    return {"d_words": words_per_lane(result), "c_words": words_per_lane(signature.operands.get("C", result))}


def _facts(members: Sequence[InstructionForm], most: Signature, c: str, stride: int) -> dict[str, object]:
    """Return the values of a form's template, for one instruction or several, of which `most` has the largest matrices.

    `c` is what word w of C is, `stride` the distance of the words of D.
    """
    shared = [name for name in "AB" if most.operands[name].space == "smem"]
    arguments = ", ".join(name.lower() for name in most.operands if name != "D")
    around = {**_sizes(most), "c": c, "stride": stride, "arguments": arguments, "member": int(At.MEMBER)}
    cases = [_CUDA["case"].substitute(number=number, arguments=arguments) for number in range(len(members))]
    product = _CUDA["product_in_memory" if is_warpgroup(most) else "product_in_registers"]
    before = "" if c == ZERO else _CUDA["before"].substitute(around) + "\n      "
    return {
        "issue": "".join(_member(form, number, c, stride) for number, form in enumerate(members)),
        "read": READ[most.operands["D"].type],
        "lanes": most.lanes,
        "masks": -(-most.operands["D"].values // 32),
        "columns": most.shape[1],
        "bad": BAD,
        "product": product.substitute(
            around,
            before=before,
            ready=_CUDA["ready_shared" if shared else "ready"].template,
            cases="\n        ".join(cases),
        ),
        "shared": "\n  ".join(_spell_shared_words(most, name) for name in shared),
        "b_plane": _b_plane(most),
    }


def _member(form: InstructionForm, number: int, c: str, stride: int) -> str:
    s = form.signature
    issued = issue_in_memory(s, form.asm, stride, c == ZERO) if is_warpgroup(s) else issue(s, form.asm)
    return _CUDA["member"].substitute(number=number, mnemonic=s.mnemonic, issue=issued)


def _load(signature: Signature, name: str, source: str, index: str) -> str:
    words = words_per_lane(signature.operands[name])
    facts = {"name": name.lower(), "words": words, "source": source, "index": index, "lanes": signature.lanes}
    return _CUDA["registers"].substitute(facts, stride=words, offset=0)


def _spell_fixed_words(signature: Signature, index: str) -> Iterator[str]:
    """Metadata and scale factors of one item; a lane's words of all of them are consecutive."""
    names = [name for name in signature.operands if name not in MULTIPLIED]
    sizes = [words_per_lane(signature.operands[name]) for name in names]
    facts = {"source": "fixed", "index": index, "lanes": signature.lanes, "stride": sum(sizes)}
    for place, (name, words) in enumerate(zip(names, sizes, strict=True)):
        yield _CUDA["registers"].substitute(facts, name=name.lower(), words=words, offset=sum(sizes[:place]))


def _spell_shared_words(signature: Signature, name: str) -> str:
    fragment = signature.operands[name]
    words = max(window.size for window in windows(name, fragment, MAJORS)) // 4
    at = int(At.A_DESCRIPTOR if name == "A" else At.B_DESCRIPTOR)
    return _CUDA["shared"].substitute(name=name.lower(), words=words, at=at, lanes=signature.lanes, alignment=ALIGNMENT)


def _a_hot(signature: Signature) -> str:
    fragment = signature.operands["A"]
    if fragment.space == "smem":
        return _CUDA["a_hot_shared"].substitute(bits=fragment.bits, one=hex(encode_one(fragment)))
    return _CUDA["a_hot"].substitute(
        words=words_per_lane(fragment), shape=shape(fragment), one=hex(encode_one(fragment))
    )


def _b_plane(signature: Signature) -> str:
    if signature.operands["B"].space == "smem":
        return _CUDA["b_shared"].substitute(b_total=int(At.B_WORDS), lanes=signature.lanes)
    return _load(signature, "B", "planes", "plane")
