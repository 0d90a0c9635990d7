# SPDX-License-Identifier: Apache-2.0
"""The verdicts on the definitions of a checkout: of each layout as of an atom, and of the inline assembly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import layouts.atoms
from layouts.atoms import AnyAtom, AtomFileError
from layouts.atoms.reading import ReadAtom
from layouts.text import parse_shape_stride
from verify.atom.checker import AtomChecker
from verify.binding.completion import complete_atom
from verify.core.verdict import Check, Place, Scope, Verdict
from verify.core.verified_repair import settle
from verify.report import Case, Expectation
from verify.scan import cplusplus
from verify.scan.assembly import AssemblyFunction, offset_of
from verify.scan.declarations import Item
from verify.scan.entry import Operations, atom, issues_in_memory
from verify.scan.properties import (
    DECLARED,
    READABLE,
    VAL_ID,
    OperationChecker,
    ScannedOperation,
    list_mnemonics,
    list_strays,
)
from verify.scan.traits import Definition, Instance
from verify.scan.values import Needs, Tv, TypeName, Unread

IN_REGISTERS = "UNCHECKED: no operand is in registers"
OF_SOURCE = OperationChecker(frozenset({Check.ISA}))  # whichever checks are requested of the layouts


@dataclass
class Scanner:
    """Decides definitions one by one; evidence on the same layout and formula is found once."""

    operations: Operations
    checker: AtomChecker
    command: str = "lanecheck scan"  # with the options that find a counterexample again
    _functions: dict[TypeName, tuple[AssemblyFunction | None, list[list[str]]]] = field(default_factory=dict)

    def cases(self, definition: Definition) -> Iterator[Case]:
        """Yield the case of each instance of a definition, or that it cannot be read."""
        if definition.problem:
            yield unread(definition.name, definition.at or definition.place, definition.problem)
        for instance in definition.instances:
            yield self.case(definition, instance)

    def case(self, definition: Definition, instance: Instance) -> Case:
        """Return all verdicts on one instance, with repairs under which the whole instance is verified."""
        try:
            assembly, issued = self._function(instance.operation)
        except (Unread, Needs) as error:
            return unread(instance.name, definition.place, str(error))
        return _verify_repairs(lambda mended: self._case(definition, instance, mended, issued), assembly)

    def _case(
        self, definition: Definition, instance: Instance, assembly: AssemblyFunction | None, issued: list[list[str]]
    ) -> Case:
        name, place = instance.name, definition.place
        operation = ScannedOperation(name, place, assembly, instance, self._replay(name))
        if definition.sort == "copy" and issues_in_memory(issued):
            listed = tuple((part, str(operand.layout)) for part, operand in instance.operands.items())
            why = IN_REGISTERS if instance.val_id is None else f"{IN_REGISTERS}; {VAL_ID}"
            verdicts = (*_refuse(operation, issued), *OF_SOURCE.check_assembly(operation, issued))
            opened = _open(name, place, why.partition(": ")[2])
            return Case(name, (*verdicts, opened), listed, expects=Expectation(unchecked=why), place=place)
        try:
            permuted = assembly.byte_order if assembly is not None and definition.sort == "copy" else None
        except ValueError:
            return _unread(
                operation, "what copy() does with its registers after the instruction cannot be read", issued
            )
        try:
            entry = atom(name, place.file, instance, issued, permuted)
            case = self.checker.case(entry, partial(_edit, name, place.file, instance, issued, permuted))
        except AtomFileError as error:
            return _unread(operation, error.problem, issued)
        verdicts = tuple(self._place(verdict, instance, assembly, place) for verdict in case.verdicts)
        known = self._find_known_defect(name, entry) if any(verdict.status.refuted for verdict in verdicts) else ""
        strays = OF_SOURCE.check_mnemonics(operation, list_strays(assembly))
        of_source = (*OF_SOURCE.check_assembly(operation, issued), *OF_SOURCE.check_val_id(operation))
        issues_nothing = case.expects.issues_nothing and not strays
        return replace(
            case, verdicts=(*strays, *verdicts, *of_source), place=place,
            drawn_by=f"{self._replay(name)} --format html",
            expects=replace(case.expects, known_defect=known, issues_nothing=issues_nothing),
        )  # fmt: skip

    def alone(self, struct: Item) -> Iterator[Case]:
        """Yield the case of an operation that no definition has traits of, if it has inline assembly."""
        assembly = self.operations.alone(struct)
        if assembly is not None and assembly.asms and (case := self._alone(struct, assembly)) is not None:
            yield _verify_repairs(lambda mended: self._alone(struct, mended) or case, assembly)

    def _alone(self, struct: Item, assembly: AssemblyFunction) -> Case | None:
        issued = assembly.mnemonics
        operation = ScannedOperation(
            struct.name, struct.header.place(struct.at), assembly, replay=self._replay(struct.name)
        )
        strays = list_strays(assembly)
        verdicts = OF_SOURCE.check_assembly(operation, issued)
        verdicts += OF_SOURCE.check_mnemonics(operation, [*strays, *list_mnemonics(issued)])
        if not verdicts:
            return None
        unknown = [verdict.reason for verdict in verdicts if verdict.reason]
        known = bool(issued) and not any(asm.unread for asm in assembly.asms) and not strays
        expects = Expectation(unchecked=f"UNCHECKED: {unknown[0]}" if unknown and known else "")
        return Case(struct.name, tuple(verdicts), expects=expects, place=verdicts[0].place)

    def _function(self, operation: TypeName) -> tuple[AssemblyFunction | None, list[list[str]]]:
        if operation not in self._functions:
            self._functions[operation] = self.operations.of(operation), self.operations.list_mnemonics(operation)
        return self._functions[operation]

    def _place(self, verdict: Verdict, instance: Instance, assembly: AssemblyFunction | None, place: Place) -> Verdict:
        """Return the verdict with its place, the repair as C++ and the command that finds it again."""
        part = verdict.claim.part
        if part in instance.operands:
            place = instance.operands[part].place
        elif verdict.claim.prop.scope == Scope.INSTRUCTION and assembly is not None and (said := re.search(
            r"\S+\.\S+$", verdict.claim.text
        )):  # fmt: skip
            place = assembly.header.place(offset_of(assembly, said[0]))
        wrong = verdict.counterexample
        if wrong is None:
            return verdict._replace(place=place)
        wrong = wrong._replace(repair=as_cplusplus(part, wrong.repair), replay=self._replay(instance.name))
        return verdict._replace(counterexample=wrong, place=place)

    def _replay(self, name: str) -> str:
        return f"{self.command} --only '{name}'"

    def _find_known_defect(self, name: str, entry: ReadAtom) -> str:
        """Return the known defect of the same atom; empty where none is known."""
        for known in self._defects.get(name.partition("<")[0], ()):
            if "<" in known.name or (known.ptx == entry.ptx and dict(known.operands) == dict(entry.operands)):
                return known.known_defect or ""
        return ""

    @cached_property
    def _defects(self) -> dict[str, list[AnyAtom]]:
        defects: dict[str, list[AnyAtom]] = {}
        for registered in layouts.atoms.registry().values():
            if registered.known_defect:
                defects.setdefault(registered.name.partition("<")[0], []).append(registered)
        return defects


def _verify_repairs(make: Callable[[Any], Case], assembly: AssemblyFunction | None) -> Case:
    """Return the case of a function, its repairs verified: with them nothing is refuted or unknown."""

    def is_mended(mended: AssemblyFunction) -> bool:
        case = make(mended)
        arrays = [verdict for verdict in case.verdicts if verdict.claim.prop == DECLARED]
        return case.status in ("VERIFIED", "UNCHECKED") and all(verdict.status.confirmed for verdict in arrays)

    case = make(assembly)
    return replace(case, verdicts=tuple(settle(case.verdicts, assembly, is_mended)))


def as_cplusplus(part: str, repair: str) -> str:
    """Return repairs with their layouts as the C++ text of the trait.

    >>> as_cplusplus("B", "one stride: ((4,8),8):((64,1),8)      256 of 256 agree (now 64)")
    'using BLayout = Layout<Shape<Shape<_4,_8>,_8>, Stride<Stride<_64,_1>,_8>>;      256 of 256 agree (now 64)'
    >>> as_cplusplus("bits", 'in Ref, as Src: (32,8):(8,1)')
    'using RefLayout = Layout<Shape<_32,_8>, Stride<_8,_1>>;'
    """
    return "; or ".join(_as_cplusplus(part, text) for text in repair.split("; or "))


def _as_cplusplus(part: str, repair: str) -> str:
    match = re.fullmatch(r"(?:in (\w+), )?[^:=]*: (\S+:\S+)(?:\s{2,}(.*))?", repair)
    text = cplusplus.declare_layout(match[1] or part, match[2]) if match else ""
    if match is None and (threads := re.fullmatch(r'give thr = "(.*)"', repair)):
        return cplusplus.declare_layout("thr", threads[1])
    if not text or match is None:
        return repair
    return f"{text}      {match[3]}" if match[3] else text


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
    edited = atom(name, file, replace(instance, operands=operands, thr=thr), issued, permuted)
    return complete_atom(edited)


def unread(name: str, place: Place, problem: str) -> Case:
    """Return the case of something that cannot be read."""
    operation = ScannedOperation(name, place, about="it can be read", problem=f"not read: {problem}")
    return Case(name, (OF_SOURCE.verdict(READABLE, operation, None),), place=place)


def _unread(operation: ScannedOperation, problem: str, issued: list[list[str]]) -> Case:
    """Return the case of an instance whose layouts can't be compared: its assembly still is."""
    verdicts = (*_refuse(operation, issued), *OF_SOURCE.check_assembly(operation, issued))
    lost = unread(operation.name, operation.place, problem)
    return replace(lost, verdicts=(*verdicts, *lost.verdicts))


def _refuse(operation: ScannedOperation, issued: list[list[str]]) -> list[Verdict]:
    """Return the verdicts on what has no meaning, and on the mnemonics that the ISA lacks."""
    rejected = [mnemonic for mnemonic in list_mnemonics(issued) if mnemonic.rejected]
    return OF_SOURCE.check_mnemonics(operation, [*list_strays(operation.function), *rejected])


def _open(name: str, place: Place, why: str) -> Verdict:
    operation = ScannedOperation(name, place, about="its layouts are the instruction's", problem=why)
    return OF_SOURCE.verdict(READABLE, operation, None)
