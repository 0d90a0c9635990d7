# SPDX-License-Identifier: Apache-2.0
"""The verdicts on the definitions of a checkout: of each layout as of an atom, and of the inline assembly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import layouts.atoms
from isa_tables.assembler import name_of
from isa_tables.semantics import meaning
from layouts.atoms import AnyAtom, AtomFileError
from layouts.atoms.reading import ReadAtom
from layouts.text import parse_shape_stride
from verify.atom.checker import AtomChecker
from verify.binding.atom import look_up
from verify.binding.completion import completed
from verify.core.repair import settle
from verify.core.verdict import (
    Check,
    Claim,
    Counterexample,
    Place,
    Property,
    Proposal,
    Scope,
    Verdict,
    finding,
    join,
    unchecked,
)  # fmt: skip
from verify.report import Case
from verify.scan import cplusplus
from verify.scan.assembly import Array, Function, offset_of
from verify.scan.declarations import Item
from verify.scan.entry import Operations, atom, issues_in_memory
from verify.scan.operands import find_faults, has_named_operands
from verify.scan.registers import compared, repaired
from verify.scan.tensor_memory import find_fault
from verify.scan.traits import Definition, Instance
from verify.scan.values import Named, Needs, Tv, Unread

READABLE = Property("readable", Scope.ATOM, says={"mma": "it can be read", "copy": "it can be read"})
REGISTERS = Property("asm_registers", Scope.INSTRUCTION, words="registers of the assembly")
DECLARED = Property("declared_registers", Scope.INSTRUCTION, words="declared registers")
MNEMONIC = Property("mnemonic", Scope.INSTRUCTION, required=frozenset({Check.ISA}))
TENSOR_MEMORY = Property("tensor_memory", Scope.INSTRUCTION, words="places in Tensor Memory")
IN_REGISTERS = "UNCHECKED: no operand is in registers"
VAL_ID = "ValID is not compared"  # besides: of a copy within memory that has one


@dataclass
class Scanner:
    """Decides definitions one by one; evidence on the same layout and formula is found once."""

    operations: Operations
    checker: AtomChecker
    command: str = "python -m verify.scan"  # with the options that find a counterexample again
    _functions: dict[Named, tuple[Function | None, list[list[str]]]] = field(default_factory=dict)

    def cases(self, definition: Definition) -> Iterator[Case]:
        """Yield the case of each instance of a definition, or that it cannot be read."""
        if definition.problem:
            yield unread(definition.name, definition.at or definition.place, definition.problem)
        for instance in definition.instances:
            yield self.case(definition, instance)

    def case(self, definition: Definition, instance: Instance) -> Case:
        """Return all verdicts on one instance, with repairs under which the whole instance is verified."""
        try:
            found, issued = self._function(instance.operation)
        except (Unread, Needs) as error:
            return unread(instance.name, definition.place, str(error))
        return _settled(lambda one: self._case(definition, instance, one, issued), found)

    def _case(
        self, definition: Definition, instance: Instance, found: Function | None, issued: list[list[str]]
    ) -> Case:
        name, place = instance.name, definition.place
        if definition.sort == "copy" and issues_in_memory(issued):
            listed = tuple((part, str(one.layout)) for part, one in instance.operands.items())
            expect = IN_REGISTERS if instance.val_id is None else f"{IN_REGISTERS}; {VAL_ID}"
            verdicts = (*self._assembly(name, found, issued), _open(name, expect.partition(": ")[2]))
            refuted = self._mnemonics(name, found, issued, rejected_only=True)
            return Case(name, (*refuted, *verdicts), layouts=listed, expect=expect, place=place)
        try:
            permuted = found.permuted if found is not None and definition.sort == "copy" else None
        except ValueError:
            problem = "what copy() does with its registers after the instruction cannot be read"
            return self._unread(name, place, problem, found, issued)
        try:
            entry = atom(name, place.file, instance, issued, permuted)
            case = self.checker.case(entry, partial(_edit, name, place.file, instance, issued, permuted))
        except AtomFileError as error:
            return self._unread(name, place, error.problem, found, issued)
        verdicts = tuple(self._placed(verdict, instance, found, place) for verdict in case.verdicts)
        known = self._known(name, entry) if any(verdict.status.refuted for verdict in verdicts) else ""
        strays = self._strays(name, found)
        others = (*self._assembly(name, found, issued), *self._val_id(name, instance, found))
        return replace(
            case, verdicts=(*strays, *verdicts, *others), known_defect=known, place=place,
            drawn_by=f"{self._replay(name)} --format html", issues_nothing=case.issues_nothing and not strays,
        )  # fmt: skip

    def _val_id(self, name: str, instance: Instance, found: Function | None) -> Iterator[Verdict]:
        """Yield the verdict on ValID, which gives each bit of a tile its address in Tensor Memory."""
        if instance.val_id is None:
            return
        place, evidence = instance.operands["Src"].place, unchecked(Check.ISA, VAL_ID)
        main = [one for asm in found.asms for one in asm.main] if found else []
        instruction = look_up(main[0].mnemonic).instruction if len(main) == 1 else None
        if isinstance(instance.val_id, str):
            evidence = unchecked(Check.ISA, f"ValID is not read: {instance.val_id}")
        else:
            place = instance.val_id.place
            if instruction is not None and (moved := instruction.operands.get("R")) is not None:
                bits, wrong = find_fault(instance.val_id.layout, moved, main[0].text)
                wrong = wrong and wrong._replace(replay=self._replay(instance.name))
                evidence = finding(Check.ISA, wrong, "exhaustive", bits)
        claim = Claim(name, "", TENSOR_MEMORY, "ValID gives each bit its address in Tensor Memory")
        yield join(claim, [evidence])._replace(place=place)

    def _unread(self, name: str, place: Place, problem: str, found: Function | None, issued: list[list[str]]) -> Case:
        """Return the case of an instance whose layouts can't be compared: its assembly still is."""
        refuted = self._mnemonics(name, found, issued, rejected_only=True)
        verdicts = (*refuted, *self._assembly(name, found, issued), *unread(name, place, problem).verdicts)
        return Case(name, verdicts, place=place)

    def alone(self, struct: Item) -> Iterator[Case]:
        """Yield the case of an operation that no definition has traits of, if it has inline assembly."""
        found = self.operations.alone(struct)
        if found is not None and found.asms and (case := self._alone(struct, found)) is not None:
            yield _settled(lambda one: self._alone(struct, one) or case, found)

    def _alone(self, struct: Item, found: Function) -> Case | None:
        issued = found.issued
        verdicts = [*self._assembly(struct.name, found, issued), *self._mnemonics(struct.name, found, issued)]
        if not verdicts:
            return None
        unknown = [one.reason for one in verdicts if one.reason]
        known = bool(issued) and not any(asm.unread for asm in found.asms) and not self._strays(struct.name, found)
        expect = f"UNCHECKED: {unknown[0]}" if unknown and known else ""
        return Case(struct.name, tuple(verdicts), expect=expect, place=verdicts[0].place)

    def _mnemonics(
        self, name: str, found: Function | None, issued: list[list[str]], rejected_only: bool = False
    ) -> list[Verdict]:
        """Return a verdict on each mnemonic, at its own place: whether it is one of the ISA."""
        verdicts = self._strays(name, found)
        for mnemonic in dict.fromkeys(one for names in issued for one in names):
            named = look_up(mnemonic)
            rejected = named.rejected or _nameless(mnemonic)
            if found is not None and (rejected or not rejected_only):
                verdicts.append(self._of_mnemonic(name, found, mnemonic, rejected, named.unknown))
        return verdicts

    def _strays(self, name: str, found: Function | None) -> list[Verdict]:
        """Return a verdict on each instruction that neither computes with matrices nor has a meaning in the tables."""
        every = [one for asm in found.asms for one in asm.instructions if not one.is_main] if found else []
        verdicts = []
        for mnemonic in dict.fromkeys(one.mnemonic for one in every if meaning(one.mnemonic) is None):
            if found is not None:
                unknown = f"{mnemonic} is not read"
                verdicts.append(self._of_mnemonic(name, found, mnemonic, _nameless(mnemonic), unknown))
        return verdicts

    def _of_mnemonic(self, name: str, found: Function, mnemonic: str, rejected: str, unknown: str) -> Verdict:
        wrong = Counterexample({}, rejected, replay=self._replay(name)) if rejected else None
        open_ = unchecked(Check.ISA, unknown) if unknown else None
        evidence = finding(Check.ISA, wrong, "looked up", 1) if wrong or open_ is None else open_
        claim = Claim(name, "", MNEMONIC, f"{mnemonic} is an instruction of the ISA")
        return join(claim, [evidence])._replace(place=found.header.place(offset_of(found, mnemonic)))

    def _function(self, operation: Named) -> tuple[Function | None, list[list[str]]]:
        if operation not in self._functions:
            self._functions[operation] = self.operations.of(operation), self.operations.issued(operation)
        return self._functions[operation]

    def _assembly(self, name: str, found: Function | None, issued: list[list[str]]) -> list[Verdict]:
        """Return the verdicts on the registers of the inline assembly; none where there is no assembly."""
        if found is None or not found.asms or not issued:
            return []
        wrong = list(find_faults(found))
        place = found.header.place(wrong[0][0] if wrong else offset_of(found, issued[0][0]))
        also = tuple(fault for _, fault in wrong[1:])
        counterexample = Counterexample({}, wrong[0][1], damage=also, replay=self._replay(name)) if wrong else None
        points = sum(len(asm.operands) for asm in found.asms)
        evidence = finding(Check.ISA, counterexample, "operand by operand", points, "text of the header")
        if not wrong and any(has_named_operands(asm) for asm in found.asms):
            evidence = unchecked(Check.ISA, "operands that have names, or modifiers such as %w0, are not read")
        claim = Claim(name, "asm", REGISTERS, "each register of the assembly is used once, in order")
        verdict = join(claim, [evidence])._replace(place=place)
        return [verdict] if wrong else [verdict, *self._declared(name, found)]

    def _declared(self, name: str, found: Function) -> Iterator[Verdict]:
        """Yield the verdict on the arrays of registers that an operation declares; none where none can be compared."""
        seen, wrong = compared(found)
        if not seen:
            return
        first = wrong[0] if wrong else None
        also = tuple(f"{one.place}: {one.text}" for one in wrong[1:])
        better = repaired(found, wrong)
        proposals = (Proposal(better[0], partial(_with_arrays, better[1])),) if better else ()
        counterexample = (
            Counterexample({}, first.text, damage=also, proposals=proposals, replay=self._replay(name))
            if first else None
        )  # fmt: skip
        evidence = finding(Check.ISA, counterexample, "array by array", len(seen), "text of the header")
        listed = ", ".join(f"{one.part}Registers" for one in seen)
        claim = Claim(name, "asm", DECLARED, f"each array is what {found.name}() and its assembly take: {listed}")
        place = first.place if first else seen[0].place
        yield join(claim, [evidence])._replace(place=place)

    def _placed(self, verdict: Verdict, instance: Instance, found: Function | None, place: Place) -> Verdict:
        """Return the verdict with its place, the repair as C++ and the command that finds it again."""
        part = verdict.claim.part
        if part in instance.operands:
            place = instance.operands[part].place
        elif verdict.claim.prop.scope == Scope.INSTRUCTION and found is not None and (said := re.search(
            r"\S+\.\S+$", verdict.claim.text
        )):  # fmt: skip
            place = found.header.place(offset_of(found, said[0]))
        wrong = verdict.counterexample
        if wrong is None:
            return verdict._replace(place=place)
        wrong = wrong._replace(repair=as_cplusplus(part, wrong.repair), replay=self._replay(instance.name))
        return verdict._replace(counterexample=wrong, place=place)

    def _replay(self, name: str) -> str:
        return f"{self.command} --only '{name}'"

    def _known(self, name: str, entry: ReadAtom) -> str:
        """Return the known defect of the same atom; empty where none is known."""
        for known in self._defects.get(name.partition("<")[0], ()):
            if "<" in known.name or (known.ptx == entry.ptx and dict(known.operands) == dict(entry.operands)):
                return known.known_defect or ""
        return ""

    @cached_property
    def _defects(self) -> dict[str, list[AnyAtom]]:
        found: dict[str, list[AnyAtom]] = {}
        for one in layouts.atoms.registry().values():
            if one.known_defect:
                found.setdefault(one.name.partition("<")[0], []).append(one)
        return found


def _settled(make: Callable[[Any], Case], found: Function | None) -> Case:
    """Return the case of a function, its repairs verified: with them nothing is refuted or unknown."""

    def is_mended(one: Function) -> bool:
        case = make(one)
        arrays = [verdict for verdict in case.verdicts if verdict.claim.prop is DECLARED]
        return case.status in ("VERIFIED", "UNCHECKED") and all(one.status.confirmed for one in arrays)

    case = make(found)
    return replace(case, verdicts=tuple(settle(case.verdicts, found, is_mended)))


def _with_arrays(arrays: tuple[Array, ...], found: Function) -> Function:
    return replace(found, arrays=arrays)


def as_cplusplus(part: str, repair: str) -> str:
    """Return repairs with their layouts as the C++ text of the trait.

    >>> as_cplusplus("B", "one stride: ((4,8),8):((64,1),8)      256 of 256 agree (now 64)")
    'using BLayout = Layout<Shape<Shape<_4,_8>,_8>, Stride<Stride<_64,_1>,_8>>;      256 of 256 agree (now 64)'
    >>> as_cplusplus("bits", 'in Ref, as Src: (32,8):(8,1)')
    'using RefLayout = Layout<Shape<_32,_8>, Stride<_8,_1>>;'
    """
    return "; or ".join(_as_cplusplus(part, one) for one in repair.split("; or "))


def _as_cplusplus(part: str, repair: str) -> str:
    found = re.fullmatch(r"(?:in (\w+), )?[^:=]*: (\S+:\S+)(?:\s{2,}(.*))?", repair)
    text = cplusplus.declared(found[1] or part, found[2]) if found else ""
    if found is None and (threads := re.fullmatch(r'give thr = "(.*)"', repair)):
        return cplusplus.declared("thr", threads[1])
    if not text or found is None:
        return repair
    return f"{text}      {found[3]}" if found[3] else text


def _edit(
    name: str,
    file: str,
    instance: Instance,
    issued: list[list[str]],
    permuted: tuple[int, ...] | None,
    keys: Mapping[str, Any],
) -> AnyAtom | None:
    """Return the atom of a trait with other layouts; None for what follows from other text than its layouts."""
    operands, thr = dict(instance.operands), instance.thr
    for key, text in keys.items():
        if key == "thr":
            thr = Tv(*parse_shape_stride(text))
        elif key in operands:
            operands[key] = replace(operands[key], layout=Tv(*parse_shape_stride(text)))
        else:
            return None
    found = atom(name, file, replace(instance, operands=operands, thr=thr), issued, permuted)
    return completed(found)


def unread(name: str, place: Place, problem: str) -> Case:
    """Return the case of something that cannot be read."""
    claim = Claim(name, "", READABLE, "it can be read")
    verdict = join(claim, [unchecked(Check.ISA, f"not read: {problem}")])._replace(place=place)
    return Case(name, (verdict,), place=place)


def _nameless(mnemonic: str) -> str:
    """Say that PTX has no instruction of a mnemonic's name; empty if it has one."""
    return "" if name_of(mnemonic) else f"{mnemonic[:200]!r}: PTX has no instruction of this name"


def _open(name: str, why: str) -> Verdict:
    return join(Claim(name, "", READABLE, "its layouts are the instruction's"), [unchecked(Check.ISA, why)])
