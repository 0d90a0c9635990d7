# SPDX-License-Identifier: Apache-2.0
"""The definitions of traits among some headers, and the layouts of each, at the instances that the headers name.

A template is read at each specialization of its operation; where its layouts need the value of a parameter, at values
that the static assertions allow: all if they are few, else the smallest and the largest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from re import sub
from typing import Any

from verify.core.verdict import Place
from verify.scan import expressions
from verify.scan.assembly import conditions
from verify.scan.declarations import Item, assertions
from verify.scan.evaluation import Evaluator, Frame, match, symbols
from verify.scan.expressions import SyntaxProblem
from verify.scan.program import Namespace, Program
from verify.scan.text import ReadError
from verify.scan.values import Needs, TemplateParameter, Tv, TypeName, Unread, free, layout, number, show_value

TRAITS = {"MMA_Traits": "mma", "Copy_Traits": "copy"}
LAYOUTS = {
    "mma": ("ALayout", "BLayout", "CLayout"),
    "copy": ("SrcLayout", "DstLayout", "RefLayout"),
}
EXTRA = ("ELayout", "SFALayout", "SFBLayout")
# the names of types before CUTLASS 3.5
OLDER = {f"Element{part}{kind}": f"{kind}Type{part}" for part in "ABCD" for kind in ("Val", "Frg")}
TYPES = ("ValTypeD", "ValTypeA", "ValTypeB", "ValTypeC", "ValTypeSF", "ValTypeSFA", "FrgTypeA", "FrgTypeB", "FrgTypeC")
EXTENTS = (1, 2, 4, *range(8, 513, 8))  # values that are tried for a number
UNLIMITED = (128, 256)  # values of a number that no assertion limits
FEW = 4  # values that are all taken
WIDTHS = (
    "half_t",
    "tfloat32_t",
    "float_e4m3_t",
    "float_e2m1_t",
    "int8_t",
    "float",
    "float_ue8m0_t",
    "uint128_t",
    "int32_t",
)
TRIED = 4096  # choices of types
MOST = 64  # instances of one definition


@dataclass(frozen=True, slots=True)
class OperandTrait:
    """The layout of one operand, with the place of its declaration."""

    layout: Tv
    place: Place


@dataclass(frozen=True)
class Instance:
    """A definition with values for those template parameters that its layouts need."""

    name: str  # of the operation, as the definition names it
    operands: Mapping[str, OperandTrait]  # A, B, C, ... or Src, Dst, Ref
    thr: Tv  # logical thread -> lane
    shape: tuple[int, ...]  # M, N, K; empty for a copy
    types: Mapping[str, Any]  # ValTypeA, FrgTypeA, ...: those that can be evaluated
    operation: TypeName  # what is multiplied or copied by
    values: Mapping[str, Any] = field(default_factory=dict)  # the values of parameters
    val_id: OperandTrait | str | None = None  # of a copy with Tensor Memory: bit -> address, or why it can't be read


@dataclass(frozen=True)
class Definition:
    """One specialization of MMA_Traits or Copy_Traits, with its instances, or why it cannot be read."""

    item: Item  # the struct
    sort: str  # mma or copy
    name: str  # of its operation, as it is written
    instances: tuple[Instance, ...]  # none where it cannot be read
    problem: str = ""  # empty where it is read
    at: Place | None = None  # of the problem, where it is another than that of the definition

    @cached_property
    def place(self) -> Place:
        """Where it is written."""
        return self.item.header.place(self.item.at)


class TraitsReader:
    """Reads the definitions of a program."""

    def __init__(self, program: Program) -> None:
        self.evaluator = Evaluator(program)
        self.program = program
        self._assertions: dict[Item, list[str]] = {}

    def definitions(self) -> Iterator[Definition]:
        """Every definition, in the order of the headers; the two templates that only reject are left out."""
        for item, space in self.program.structs(*TRAITS):
            if item.arguments is not None:
                yield self.definition(item, space)

    def definition(self, item: Item, space: Namespace) -> Definition:
        """One definition with its instances."""
        sort, written = TRAITS[item.name], " ".join((item.arguments or "").split())
        try:
            instances = tuple(islice(self._instances(item, space), MOST + 1))
        except (Unread, Needs, SyntaxProblem) as error:
            return Definition(item, sort, written, (), str(error))
        except ReadError as error:
            return Definition(item, sort, written, (), error.problem, error.place)
        if not instances:
            return Definition(item, sort, written, (), "no instance of it is named, and its assertions allow none")
        if len(instances) > MOST:
            return Definition(item, sort, written, (), f"more than {MOST} instances")
        return Definition(item, sort, written, instances)

    def _instances(self, item: Item, space: Namespace) -> Iterator[Instance]:
        for values in self._starts(item, space):
            yield from self._complete(item, space, values)

    def _starts(self, item: Item, space: Namespace) -> Iterator[dict[str, Any]]:
        """Values of the parameters by the specializations of the operation; all without a value where it has none."""
        unset = symbols(item)
        pattern = self._pattern(item, space, unset)
        operation = pattern[0] if pattern else None
        if (
            not isinstance(operation, TypeName)
            or operation.struct is None
            or not any(True for _ in free(operation.arguments))
        ):
            yield unset
            return
        struct = operation.struct
        home = self.program.spaces.get(struct)
        listed = [item for item in home.declared[struct.name] if item.arguments is not None] if home else []
        if not listed or home is None:
            yield unset
            return
        for special in listed:
            special_pattern = self.evaluator.pattern(special, home)
            if special_pattern is not None and (chosen := match(operation.arguments, special_pattern)) is not None:
                yield {**unset, **chosen}

    def _pattern(self, item: Item, space: Namespace, values: Mapping[str, Any]) -> tuple[Any, ...]:
        trees = expressions.arguments(item.arguments or "")
        return self.evaluator.arguments(trees, Frame(values, space, item.header))

    def _complete(self, item: Item, space: Namespace, values: dict[str, Any]) -> Iterator[Instance]:
        """Yield the instances for some values of parameters: more values are chosen where one is needed."""
        try:
            yield self._read_instance(item, space, values)
            return
        except Needs as error:
            need, symbol = error, error.symbol
        name = next((name for name, value in values.items() if value == symbol), None)
        if name is None or symbol.pack:
            raise Needs(symbol)
        allowed = [value for value in _candidates(need) if self._allows(item, space, {**values, name: value}, name)]
        if symbol.typed:
            allowed = allowed[:1]
        elif len(allowed) == len(EXTENTS):
            allowed = [*UNLIMITED]
        elif len(allowed) > FEW:
            allowed = [allowed[0], allowed[-1]]
        if not allowed:
            raise Needs(symbol)
        for chosen in allowed:
            yield from self._complete(
                item, space, {name: chosen if value == symbol else value for name, value in values.items()}
            )

    def fill_types(self, item: Item, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of an instance, with types that its assertions allow for the parameters that are left."""
        filled = {**symbols(item), **values}
        space = self.program.spaces[item]
        left = [
            name
            for name, value in filled.items()
            if isinstance(value, TemplateParameter) and value.typed and not value.pack
        ]
        for types in islice(product(map(TypeName, WIDTHS), repeat=len(left)), TRIED) if left else ():
            tried = {**filled, **dict(zip(left, types, strict=True))}
            if self._allows(item, space, tried, left[0]):
                return tried
        return filled

    def _allows(self, item: Item, space: Namespace, values: Mapping[str, Any], name: str) -> bool:
        """Whether no static assertion of the definition, or of its operation, is false with the value of a name."""
        frames = [Frame(values, space, item.header, item)]
        pattern = self._pattern(item, space, values)
        if pattern and isinstance(pattern[0], TypeName) and pattern[0].struct is not None:
            with suppress(Needs, Unread):  # what cannot be made has no assertion that is false
                frames.append(self.evaluator.instantiate(pattern[0]))
        chosen = values[name]
        return all(self._true(text, frame, chosen) for frame in frames for text in self._list_assertions(frame.struct))

    def _list_assertions(self, struct: Item | None) -> list[str]:
        if struct is None or struct.body is None:
            return []
        if struct not in self._assertions:
            self._assertions[struct] = list(assertions(struct.header, *struct.body))
        return self._assertions[struct]

    def _true(self, text: str, frame: Frame, chosen: Any) -> bool:
        """Whether a condition is not false; one that cannot be evaluated is not.

        Types of which it needs the width are taken to be the chosen one: A and B often must have one width.
        """
        for _ in range(4):
            try:
                return bool(number(self.evaluator.text(text, frame)))
            except Unread:
                return True
            except Needs as need:
                if not need.width or not isinstance(chosen, TypeName):
                    return True
                values = {name: chosen if value == need.symbol else value for name, value in frame.values.items()}
                frame = replace(frame, values=values)
        return True

    def _read_instance(self, item: Item, space: Namespace, values: dict[str, Any]) -> Instance:
        """Return the instance for some values.

        Raises Needs where one more is needed, Unread for what cannot be read.
        """
        sort = TRAITS[item.name]
        frame = Frame(values, space, item.header, item)
        pattern = self._pattern(item, space, values)
        if not pattern or not isinstance(pattern[0], TypeName):
            raise Unread("the operation is not a type")
        operands = {
            name.removesuffix("Layout"): operand
            for name in (*LAYOUTS[sort], *(EXTRA if sort == "mma" else ()))
            if (operand := self._operand(name, frame, required=name not in EXTRA)) is not None
        }
        thr = self._operand("ThrID", frame)
        shape = self._value("Shape_MNK", frame)[0] if sort == "mma" else ()
        self._require_choice(pattern[0])
        if (
            thr is None
            or not isinstance(shape, tuple)
            or not all(isinstance(extent, int | TemplateParameter) for extent in shape)
        ):
            raise Unread("its shape isn't a tuple of three numbers")
        layout(shape)
        return Instance(
            _write_instance(item, values), operands, thr.layout, shape, self._types(frame), pattern[0],
            {name: value for name, value in values.items() if not isinstance(value, TemplateParameter)},
            self._val_id(frame) if sort == "copy" else None,
        )  # fmt: skip

    def _val_id(self, frame: Frame) -> OperandTrait | str | None:
        try:
            return self._operand("ValID", frame, required=False)
        except (Needs, Unread) as error:
            return str(error)

    def _require_choice(self, operation: TypeName) -> None:
        """Raise Needs where the value of a number decides which instruction the operation issues."""
        if operation.struct is None:
            return
        try:
            frame = self.evaluator.instantiate(operation)
        except (Needs, Unread):
            return
        for text in conditions(frame.struct) if frame.struct is not None else ():
            try:
                number(self.evaluator.text(text, frame))
            except Unread:
                continue
            except Needs as need:
                if not need.symbol.typed:
                    raise

    def _operand(self, name: str, frame: Frame, required: bool = True) -> OperandTrait | None:
        try:
            value, declared = self._value(name, frame)
        except Unread as error:
            if not required and str(error).startswith("no member"):
                return None
            raise
        if isinstance(value, TemplateParameter):
            raise Needs(value)
        if not isinstance(value, Tv):
            raise Unread(f"{name} is {show_value(value):.60}, no layout")
        return OperandTrait(value, declared.header.place(declared.at))

    def _value(self, name: str, frame: Frame) -> tuple[Any, Item]:
        """Return the value of a member, and its declaration."""
        if frame.struct is None:
            raise Unread("no struct")
        member = self.evaluator.find_member(frame.struct, frame, name)
        if member is None:
            raise Unread(f"no member {name}")
        return self.evaluator.evaluate_item(member[0], member[1], None, frame), member[0]

    def _types(self, frame: Frame) -> dict[str, Any]:
        types: dict[str, Any] = {}
        for name, meant in {**OLDER, **dict(zip(TYPES, TYPES, strict=True))}.items():
            try:
                types[meant] = self._value(name, frame)[0]
            except (Unread, Needs):
                continue
        return types


def _candidates(need: Needs) -> tuple[Any, ...]:
    """Return the values that are tried for a parameter: numbers, or types of different widths."""
    if need.width:
        return tuple(map(TypeName, WIDTHS))
    return (128,) if need.symbol.typed else EXTENTS  # a type that is a number: of bits


def _write_instance(item: Item, values: Mapping[str, Any]) -> str:
    """Return the name of the operation as the definition has it, with the values of its parameters."""
    text = " ".join((item.arguments or "").split())
    head, opened, rest = text.partition("<")
    chosen = {name: value for name, value in values.items() if not isinstance(value, TemplateParameter)}
    if not opened:
        return text if not chosen else f"{text} [{', '.join(f'{k} = {show_value(v)}' for k, v in chosen.items())}]"
    if not chosen:
        return head

    return head + "<" + sub(r"[A-Za-z_]\w*", lambda match: show_value(chosen.get(match[0], match[0])), rest)
