# SPDX-License-Identifier: Apache-2.0
"""The check `isa` of a mnemonic: whether an atom's extents, threads and types are those of the instruction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod

import isa_tables
from verify.binding.atom import BoundAtom, NamedInstruction, count_contracted
from verify.binding.completion import EXTRA, fragment_of
from verify.binding.operand import BoundOperand
from verify.core.digits import lane_of
from verify.core.verdict import Check, Evidence, leave_unchecked
from verify.core.wording import owners
from verify.evidence import isa


def fits(subject: BoundAtom, named: NamedInstruction) -> Evidence:
    """Return the evidence on one mnemonic: the ISA has it, with its extents, its types and one product per replica."""
    if named.unknown:
        return leave_unchecked(Check.ISA, named.unknown)
    if named.instruction is None:
        return isa.form("looked up", named.rejected)
    faults = [*_faults(subject.seen_by(named.instruction)), *_element_faults(subject)]
    if not faults and not subject.mma.element:
        faults = [*again(subject, named, _faults, "product")]
    return isa.form("compared", *faults)


def again(
    subject: BoundAtom, named: NamedInstruction, faults: Callable[[BoundAtom], Iterable[str]], whole: str
) -> Iterator[str]:
    """Yield the fault that an instruction issued before makes the whole product or copy already.

    That is so if it has none of the `faults` that an instruction can have. Alternative mnemonics of one instruction
    are not issued.
    """
    issued = list(dict.fromkeys(subject.atom.ptx or ()))
    if named.mnemonic not in issued:
        return
    before = issued[: issued.index(named.mnemonic)]
    for earlier in subject.named:
        if earlier.mnemonic in before and earlier.instruction and not [*faults(subject.seen_by(earlier.instruction))]:
            done = f"{earlier.mnemonic} makes the whole {whole} already"
            yield f"{done}; write several mnemonics of one instruction as a nested list in `ptx`"


def _faults(subject: BoundAtom) -> Iterator[str]:
    signature = subject.instruction.signature
    atom = subject.mma
    m, n, k = atom.shape
    claimed, real = (m, n, k * count_contracted(atom)), signature.shape
    if claimed != real and not subject.shape_fault:
        yield "shape is {}, the instruction's is {}".format(*("x".join(map(str, shape)) for shape in (claimed, real)))
    yield from type_faults(subject)
    excess = [name for name in EXTRA if name in atom.operands and name not in signature.operands]
    yield from (f"the atom has an operand {name}, the instruction has none" for name in excess)
    for part in subject.parts:
        yield from _place_faults(subject, part, signature)
    yield from _product_faults(subject, subject.instruction)


def type_faults(subject: BoundAtom) -> Iterator[str]:
    """Yield the faults in the atom's types, as bound to one instruction."""
    types, signature = subject.mma.types, subject.instruction.signature
    shared = [operand for operand in types if operand in signature.types[0]]
    allowed = list(dict.fromkeys(tuple(row[operand] for operand in shared) for row in signature.types))
    ours = tuple(types[operand] for operand in shared)

    def together(words: Sequence[str]) -> str:
        return ", ".join(f"{operand} {word}" for operand, word in zip(shared, words, strict=True))

    if ours not in allowed:
        single = [dict.fromkeys(column) for column in zip(*allowed, strict=True)]
        alone = [
            f"{operand} is {claim}, the instruction's is {' or '.join(words)}"
            for operand, claim, words in zip(shared, ours, single, strict=True)
            if claim not in words
        ]
        distance = {words: sum(a != b for a, b in zip(ours, words, strict=True)) for words in allowed}
        near = [together(words) for words, count in distance.items() if count == min(distance.values())]
        pair = f"{together(ours)} do not go together in this instruction; nearest that do: {'; or '.join(near)}"
        yield from alone or [pair]
    if "C" not in signature.operands and types["C"] != types["D"]:
        yield f"C is {types['C']}, the instruction accumulates in D, which is {types['D']}"


def _place_faults(subject: BoundAtom, part: BoundOperand, signature: isa_tables.Signature) -> Iterator[str]:
    """Yield the faults in the space of an operand and in the number of owners of its elements."""
    name, atom = part.name, subject.mma
    fragment = fragment_of(signature, name)
    if fragment is None:
        return
    claimed = atom.space.get(name, "reg")
    if fragment.space != claimed:
        yield f"{name} is in {claimed}, the instruction's is in {fragment.space}"
    count = subject.multiplicity(part)
    if atom.copies.get(name, count) != count:
        yield f"each element of {name} has {owners(atom.copies[name])}, in the instruction {owners(count)}"


def _product_faults(subject: BoundAtom, instruction: isa_tables.Instruction) -> Iterator[str]:
    """Yield the fault that threads of one replica work for different products, where an instruction makes several."""
    if subject.thr is None or subject.rep is None or instruction.signature.products == 1:
        return
    lanes = [lane_of(subject.thr, t) for t in range(subject.threads)]
    for q in range(subject.rep_size):
        offset = lane_of(subject.rep, q)
        products = {lane + offset: int(instruction.product(lane + offset)) for lane in lanes}
        apart = next((lane for lane, product in products.items() if product != products[lanes[0] + offset]), None)
        if apart is not None:
            first = lanes[0] + offset
            yield f"lanes {first} and {apart} of one atom work for products {products[first]} and {products[apart]}"
            return


def _element_faults(subject: BoundAtom) -> Iterator[str]:
    """Yield the faults in elements of several numbers, such as a complex "2xf64", and in the count of their
    instructions.

    A x B of a and b components each takes at most a*b products, and at least as many as the accumulator has components.
    """
    counts = {}
    atom = subject.mma
    for operand, element in atom.element.items():
        match = re.fullmatch(r"([1-9]\d*)x(\w+)", element)
        if match is None or match[2] != atom.types.get(operand):
            yield f"an element of {operand} is {element}, its type {atom.types.get(operand)}"
            return
        counts[operand] = int(match[1])
    if not counts:
        text, n = max(Counter(atom.ptx or ()).items(), key=lambda counted: counted[1], default=("", 0))
        if n > 1:
            yield f"the atom issues {text} {n} times, its elements take it once"
        return
    if counts.get("C", 1) != counts.get("D", 1):
        yield f"an element of C has {counts.get('C', 1)} components, of D {counts.get('D', 1)}"
    issued, most = len(atom.ptx or ()), prod(counts.get(name, 1) for name in "AB")
    least = 1 if count_contracted(atom) > 1 else max(counts.values())
    if not least <= issued <= most:
        yield f"elements of {counts} components take {least} to {most} instructions, the atom issues {issued}"
