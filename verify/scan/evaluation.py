# SPDX-License-Identifier: Apache-2.0
"""The evaluation of C++ types and constants among the declarations of some headers.

Names are looked up as C++ does: template parameters, members and bases, namespaces from the inside out; a
specialization is chosen by its arguments. CuTe's own templates (`Layout`, `Shape`, `Int`, `sizeof_bits`, ...) are
known. What is beyond that raises Unread.

`Evaluator`   evaluates texts and trees
`Frame`       where a name is looked up
`match`     the parameters of a specialization, by its arguments
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.scan import cute, expressions
from verify.scan.declarations import Item, items
from verify.scan.expressions import SyntaxProblem, Tree
from verify.scan.program import COMMON, Namespace, Param, Program, parameters, split
from verify.scan.text import Header
from verify.scan.values import Needs, TemplateParameter, TypeName, Unread, bits, number, show_value

DEEPEST = 40  # templates in templates
STATIC = re.compile(r"_(\d+)")
OPERATORS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<<": operator.lshift,
}  # fmt: skip
LARGEST = 1 << 40
SHIFTS = range(40)  # bits by which a number may be shifted


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a name is looked up: the parameters with their values, the struct around it, the namespace, the header."""

    values: Mapping[str, Any]
    space: Namespace
    header: Header
    struct: Item | None = None
    outer: Frame | None = None  # of a struct inside a struct


class Evaluator:
    """Evaluates among the declarations of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._members: dict[Item, dict[str, Item]] = {}
        self._specializations: dict[tuple[Namespace, str], dict[str, list[tuple[Item, tuple[Any, ...]]]]] = {}
        self._cache: dict[Any, Any] = {}
        self._depth = 0

    def text(self, text: str, frame: Frame) -> Any:
        """Return the value of a type or constant as it is written. Raises Needs and Unread."""
        try:
            tree = expressions.parse(text)
        except SyntaxProblem as error:
            raise Unread(f"{' '.join(text.split()):.60}: {error}") from error
        return self.tree(tree, frame)

    def tree(self, tree: Tree, frame: Frame) -> Any:
        """Return the value of a tree. Raises Needs and Unread."""
        self._depth += 1
        try:
            if self._depth > DEEPEST * 8:
                raise Unread("templates nested too deeply")
            value: Any = getattr(self, f"_{tree[0]}")(tree, frame)
            return value
        except RecursionError as error:
            raise Unread("templates nested too deeply") from error
        finally:
            self._depth -= 1

    def _number(self, tree: Tree, frame: Frame) -> int:
        return int(tree[1])

    def _condition(self, tree: Tree, frame: Frame) -> Any:
        return self.tree(tree[2] if number(self.tree(tree[1], frame)) else tree[3], frame)

    def _unary(self, tree: Tree, frame: Frame) -> int:
        value = number(self.tree(tree[2], frame))
        return {"!": int(not value), "-": -value, "+": value, "~": ~value}[tree[1]]

    def _logical(self, tree: Tree, frame: Frame) -> int:
        """`&&` and `||`, and `&` and `|` of conditions, which either operand may decide alone."""
        deciding = int(tree[1][0] == "|")
        needed: Needs | None = None
        for part in tree[2:]:
            try:
                value = number(self.tree(part, frame))
                if len(tree[1]) == 1 and value not in (0, 1):
                    raise Unread(f"a bitwise {tree[1]} of numbers")
                if bool(value) == deciding:
                    return deciding
            except Needs as need:
                needed = needed or need
        if needed is not None:
            raise needed
        return 1 - deciding

    def _binary(self, tree: Tree, frame: Frame) -> int:
        if tree[1] in ("&&", "||", "&", "|"):
            return self._logical(tree, frame)
        sign, (left, right) = tree[1], (self.tree(part, frame) for part in tree[2:])
        if (
            sign in ("==", "!=")
            and not isinstance(left, int | TemplateParameter)
            and not isinstance(right, int | TemplateParameter)
        ):
            return int((left == right) is (sign == "=="))
        left, right = number(left), number(right)
        if sign in ("/", "%"):
            if right == 0:
                raise Unread("a division by zero")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            value = quotient if sign == "/" else left - quotient * right
        elif sign == "<<" and (left < 0 or right not in SHIFTS):
            raise Unread(f"{left} << {right}")
        else:
            value = int(OPERATORS[sign](left, right))
        if abs(value) > LARGEST:
            raise Unread(f"a number above {LARGEST}")
        return value

    def _pointer(self, tree: Tree, frame: Frame) -> Any:
        return self.tree(tree[1], frame)

    def _pack(self, tree: Tree, frame: Frame) -> Any:
        return self.tree(tree[1], frame)

    def _array(self, tree: Tree, frame: Frame) -> TypeName:
        return TypeName("array", (self.tree(tree[1], frame), number(self.tree(tree[2], frame))))

    def _decltype(self, tree: Tree, frame: Frame) -> Any:
        return self.tree(tree[1], frame)

    def _sizeof(self, tree: Tree, frame: Frame) -> int:
        return bits(self.tree(tree[1], frame)) // 8

    def _braces(self, tree: Tree, frame: Frame) -> Any:
        if tree[2]:
            raise Unread("an object that is made of arguments")
        return self.tree(tree[1], frame)

    def _call(self, tree: Tree, frame: Frame) -> Any:
        name = tree[1][1][-1][0] if tree[1][0] == "name" else ""
        return cute.call(name, [self.tree(argument, frame) for argument in tree[2]])

    def _member(self, tree: Tree, frame: Frame) -> Any:
        return self.member(self.tree(tree[1], frame), tree[2][0], tree[2][1], frame)

    def _name(self, tree: Tree, frame: Frame) -> Any:
        path: Sequence[tuple[str, tuple[Tree, ...] | None]] = tree[1]
        while len(path) > 1 and path[0][1] is None and path[0][0] in COMMON:
            if self.program.find(path[0][0], frame.space, None) is not None:
                break
            path = path[1:]
        name, given = path[0]
        value = self.lookup(name, given, frame)
        for at, (segment, inner) in enumerate(path[1:], 1):
            if isinstance(value, Namespace):
                meaning = self.program.within(segment, value, frame.header)
                if meaning is None and value.path[-1] in COMMON:
                    value = self.builtin(segment, inner, frame)
                    continue
                if meaning is None:
                    return TypeName("::".join(word for word, _ in path[: at + 1]))
                value = (
                    meaning
                    if isinstance(meaning, Namespace)
                    else self.evaluate_declarations(segment, meaning, inner, frame)
                )
            else:
                value = self.member(value, segment, inner, frame)
        if isinstance(value, Namespace):
            raise Unread(f"{name} is a namespace")
        return value

    def lookup(self, name: str, given: tuple[Tree, ...] | None, frame: Frame) -> Any:
        """Return what a name without a path means."""
        at: Frame | None = frame
        while at is not None:
            if name in at.values:
                return at.values[name]
            if at.struct is not None:
                member = self.find_member(at.struct, at, name)
                if member is not None:
                    return self.evaluate_item(member[0], member[1], given, frame)
            at = at.outer
        declared = self.program.find(name, frame.space, frame.header)
        if isinstance(declared, Namespace):
            return declared
        if declared is None:
            return self.builtin(name, given, frame)
        return self.evaluate_declarations(name, declared, given, frame)

    def evaluate_declarations(
        self, name: str, meaning: tuple[list[Item], Namespace], given: tuple[Tree, ...] | None, frame: Frame
    ) -> Any:
        """Return the value of declarations of a namespace."""
        declared, space = meaning
        first = declared[0]
        if space.path[-1:] == ("cute",) and (name in cute.OWN or STATIC.fullmatch(name)):
            return self.builtin(name, given, frame)
        if first.kind == "struct":
            arguments = self.arguments(given, frame)
            return TypeName(name, self.fill_defaults(declared, space, arguments), first)
        if len(declared) > 1 and len({" ".join(item.text.split()) for item in declared}) > 1:
            places = " and ".join(str(item.header.place(item.at)) for item in declared[:2])
            raise Unread(f"{name} is defined differently at {places}")
        return self.evaluate_item(first, Frame({}, space, first.header), given, frame)

    def fill_defaults(self, declared: list[Item], space: Namespace, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of a template, with the defaults of its first declaration."""
        primary = next((item for item in declared if item.arguments is None), None)
        if primary is None or primary.params is None:
            return given
        listed = parameters(primary.params)
        if len(given) >= len(listed):
            return given
        values = dict(zip((param.name for param in listed), given, strict=False))
        for param in listed[len(given) :]:
            if not param.default:
                break
            values[param.name] = self.text(param.default, Frame(values, space, primary.header))
        return tuple(values.values())

    def arguments(self, given: tuple[Tree, ...] | None, frame: Frame) -> tuple[Any, ...]:
        """Return the values of template arguments, packs spread out."""
        values: list[Any] = []
        for tree in given or ():
            value = self.tree(tree, frame)
            if tree[0] == "pack" and isinstance(value, tuple):
                values += value
            else:
                values.append(value)
        return tuple(values)

    def evaluate_item(self, item: Item, home: Frame, given: tuple[Tree, ...] | None, frame: Frame) -> Any:
        """Return the value of a declaration at its home, with template arguments from a frame."""
        if item.kind == "using":
            return self.text(item.name, home)
        if item.kind == "struct":
            return TypeName(item.name, self.arguments(given, frame), item)
        values = dict(home.values)
        if item.params is not None:
            values |= self.bind_parameters(parameters(item.params), self.arguments(given, frame), home)
        try:
            return self.text(item.text, Frame(values, home.space, item.header, home.struct, home.outer))
        except Unread as error:
            if item.kind == "constant" or given is not None or item.params is None:
                raise
            raise Unread(f"{item.name}: {error}") from error

    def bind_parameters(self, listed: Sequence[Param], given: tuple[Any, ...], home: Frame) -> dict[str, Any]:
        """Template parameters by name, defaults filled in."""
        values: dict[str, Any] = {}
        for at, param in enumerate(listed):
            if param.pack:
                values[param.name] = given[at:]
            elif at < len(given):
                values[param.name] = given[at]
            elif param.default:
                values[param.name] = self.text(param.default, Frame({**home.values, **values}, home.space, home.header))
            else:
                raise Unread(f"no argument for the template parameter {param.name}")
        return values

    def member(self, value: Any, name: str, given: tuple[Tree, ...] | None, frame: Frame) -> Any:
        """Return a member of a type."""
        if name == "value" and isinstance(value, int | TemplateParameter):
            return value
        if name == "type" and not (isinstance(value, TypeName) and value.struct is not None):
            return value
        if isinstance(value, TemplateParameter):
            raise Needs(value)
        if not isinstance(value, TypeName) or value.struct is None:
            return TypeName(f"{show_value(value)}::{name}")
        key = (value, name) if given is None else None
        if key in self._cache:
            return self._cache[key]
        home = self.instantiate(value)
        member = self.find_member(home.struct, home, name) if home.struct is not None else None
        if member is None:
            raise Unread(f"{show_value(value):.60} has no member {name}")
        result = self.evaluate_item(member[0], member[1], given, frame)
        if key is not None:
            self._cache[key] = result
        return result

    def find_member(self, struct: Item, frame: Frame, name: str) -> tuple[Item, Frame] | None:
        """Return a member of a struct or of one of its bases, with the frame that it is written in."""
        own = self.members(struct)
        if name in own:
            return own[name], frame
        if not struct.bases:
            return None
        outside = Frame(frame.values, frame.space, frame.header, None, frame.outer)
        for base in bases(struct.bases):
            try:
                value = self.text(base, outside)
            except Unread:
                continue
            if isinstance(value, TypeName) and value.struct is not None and value.struct is not struct:
                home = self.instantiate(value)
                inherited = self.find_member(home.struct, home, name) if home.struct is not None else None
                if inherited is not None:
                    return inherited
        return None

    def members(self, struct: Item) -> dict[str, Item]:
        """Return the declarations in the body of a struct, by name."""
        if struct not in self._members:
            own: dict[str, Item] = {}
            for item in items(struct.header, *struct.body) if struct.body else ():
                if item.name in own and own[item.name].text.split() != item.text.split():
                    raise Unread(f"{item.name} is defined twice, under different conditions")
                own[item.name] = item
            self._members[struct] = own
        return self._members[struct]

    def instantiate(self, value: TypeName) -> Frame:
        """Return the frame inside a struct: the specialization that its arguments choose. Raises Needs and Unread."""
        struct = value.struct
        if struct is None:
            raise Unread(f"{show_value(value):.60} is not among the headers")
        space = self.program.spaces.get(struct)
        if space is None:  # a struct in a struct
            return Frame({}, self.program.root, struct.header, struct)
        chosen: tuple[Item, Mapping[str, Any]] | None = None
        for item, pattern in self.specializations(space, struct.name, value):
            values = match(pattern, value.arguments)
            if values is not None and (chosen is None or len(values) < len(chosen[1])):
                chosen = item, values
        if chosen is None:
            primary = next((item for item in space.declared[struct.name] if item.arguments is None), None)
            if primary is None:
                raise Unread(f"no definition of {show_value(value):.80}")
            home = Frame({}, space, primary.header)
            listed = parameters(primary.params or "")
            chosen = primary, self.bind_parameters(listed, value.arguments, home) if listed else {}
        return Frame(chosen[1], space, chosen[0].header, chosen[0])

    def specializations(self, space: Namespace, name: str, value: TypeName) -> Iterator[tuple[Item, tuple[Any, ...]]]:
        """Yield the specializations of a template that may fit a value, with their patterns."""
        key = (space, name)
        if key not in self._specializations:
            by_head: dict[str, list[tuple[Item, tuple[Any, ...]]]] = {}
            self._specializations[key] = by_head
            for item in space.declared.get(name, ()):
                if item.arguments is not None and (pattern := self.pattern(item, space)) is not None:
                    by_head.setdefault(_head(pattern), []).append((item, pattern))
        listed = self._specializations[key]
        yield from listed.get(_head(value.arguments), ())
        yield from listed.get("", ())

    def pattern(self, item: Item, space: Namespace) -> tuple[Any, ...] | None:
        """Return the arguments of a specialization, its parameters as symbols; None where they cannot be read."""
        try:
            trees = expressions.arguments(item.arguments or "")
            return self.arguments(trees, Frame(symbols(item), space, item.header))
        except (Unread, Needs, SyntaxProblem):
            return None

    def builtin(self, name: str, given: tuple[Tree, ...] | None, frame: Frame) -> Any:
        """CuTe's own templates and numbers; any other name is a type of that name."""
        if given is None:
            static = STATIC.fullmatch(name)
            return int(static[1]) if static else TypeName(name)
        if name in ("conditional_t", "conditional") and len(given) == 3:
            return self.tree(given[1] if number(self.tree(given[0], frame)) else given[2], frame)
        return cute.template(name, self.arguments(given, frame))


def _head(arguments: tuple[Any, ...]) -> str:
    """Return the name of the first argument, by which specializations are found; empty for a parameter."""
    first = arguments[0] if arguments else None
    return first.name if isinstance(first, TypeName) else ""


def symbols(item: Item) -> dict[str, Any]:
    """Return the parameters of a template, each without a value."""
    listed = parameters(item.params or "")
    return {param.name: TemplateParameter(param.name, param.typed, param.pack) for param in listed}


def match(pattern: tuple[Any, ...], given: tuple[Any, ...]) -> dict[str, Any] | None:
    """Return the values of a pattern's symbols for which it is equal to given arguments; None where there are none.

    >>> match((TypeName("A", (TemplateParameter("N", False),)),), (TypeName("A", (8,)),)), match((8,), (16,))
    ({'N': 8}, None)
    """
    values: dict[str, Any] = {}
    return values if _match_part(pattern, given, values) else None


def _match_part(pattern: Any, given: Any, values: dict[str, Any]) -> bool:
    if isinstance(pattern, TemplateParameter):
        return bool(values.setdefault(pattern.name, given) == given)
    if isinstance(pattern, TypeName) and isinstance(given, TypeName):
        if pattern.name.rpartition("::")[2] != given.name.rpartition("::")[2]:
            return False
        if pattern.struct is not None and given.struct is not None and pattern.struct is not given.struct:
            return False
        return _match_part(pattern.arguments, given.arguments, values)
    if isinstance(pattern, tuple) and isinstance(given, tuple):
        if pattern and isinstance(pattern[-1], TemplateParameter) and pattern[-1].pack:
            values[pattern[-1].name] = given[len(pattern) - 1 :]
            pattern, given = pattern[:-1], given[: len(pattern) - 1]
        return len(pattern) == len(given) and all(
            _match_part(part, counterpart, values) for part, counterpart in zip(pattern, given, strict=True)
        )
    return bool(pattern == given)


def bases(text: str) -> Iterator[str]:
    """Yield the base classes of a struct."""
    for base in split(text):
        yield re.sub(r"\b(?:public|private|protected|virtual)\b", "", base).strip()
