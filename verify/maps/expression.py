# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic as a map: texts such as `lane/4 + 8*(i/2)`, evaluated at every point of their coordinates.

C and Python give many texts different values: `lane & 3 == 0`, `//`, `/`, a negative `%`, chained comparisons. So the
language is given, and so is whether the coordinates are int or unsigned; else a text is evaluated in every way that
accepts it, and rejected where two of them differ.

`IndexFunction`   texts with their coordinates: `map` evaluates them, `written_out` shows one point
`ExpressionMap`   the texts in one language as a map, with its two evaluations
`InputCoordinates`     the inputs, and the names that a text may use for them

>>> lane_and_i = InputCoordinates((Axis("lane", 32), Axis("value", 4)), {
...     "lane": DeclaredName(lambda lane, value: lane), "i": DeclaredName(lambda lane, value: value)})
>>> rows = IndexFunction({"m": "lane/4 + 8*(i/2)", "n": "lane%4*2 + i%2"}, (Axis("m", 16), Axis("n", 8)), lane_and_i)
>>> rows.map(language="c")(5, 3), rows.written_out((5, 3), "c")
((9, 3), 'm: 5/4 + 8*(3/2) = 9, n: 5%4*2 + 3%2 = 3')
>>> rows.map()
Traceback (most recent call last):
verify.maps.map.MapError: m at lane 0, value 1: C gives 0, Python 4.0: state the language
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from itertools import chain
from math import prod
from typing import Any, NamedTuple, TypeAlias

from verify.core.verdict import Counterexample
from verify.maps import c_meaning, python_meaning
from verify.maps.c_meaning import INT, UNSIGNED, Type, Undefined
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import NOWHERE, Array, Axis, Map, MapError, MapOrigin, Point, contradict, grid, has_arrays, inside
from verify.maps.syntax import PYTHON, C, parse
from verify.maps.tree import Code, ExpressionError, Name, Tree, nodes

LANGUAGES = {C: "C", PYTHON: "Python"}
SIGNS = {"int": INT, "unsigned": UNSIGNED}
COMPARED = 6  # points of a map that are computed alone too
GOLDEN = 0x9E3779B1  # odd: its multiples spread over the points
MAX_WORK = 2_400_000  # operations of all readings: less than a second
Function: TypeAlias = Callable[[Mapping[str, Any]], Any]


class DeclaredName(NamedTuple):
    """A name for a function of the input coordinates; in C it is `type`, or as given where that is None."""

    value: Callable[..., int]
    type: Type | None = None


@dataclass(frozen=True)
class InputCoordinates:
    """The input coordinates of a text, and the names that it may use; `missing` says why other names are unknown."""

    inputs: tuple[Axis, ...]
    names: Mapping[str, DeclaredName]
    missing: Mapping[str, str] = field(default_factory=dict)


class Reading(NamedTuple):
    """One way to read a text: its language, and in C the type of its coordinates."""

    language: str
    type: str

    def __str__(self) -> str:
        return LANGUAGES[self.language]


class Text(NamedTuple):
    """A text, read: the names that it declares, and its value, for an output or for a name of `let`."""

    output: str  # the name of the output; empty for a name of `let`
    name: str  # of the output or of `let`
    names: tuple[str, ...]  # coordinates and names of `let` that it uses
    declared: Sequence[tuple[str, Function]]  # names that it declares itself, in their order
    value: Function  # of the values of all these names
    remarks: tuple[str, ...] = ()  # calls that C and CUDA C++ read differently


@dataclass(frozen=True)
class IndexFunction:
    """An expression for each output coordinate, with names that `let` defines for all of them."""

    texts: Mapping[str, str]  # output -> its expression
    outputs: tuple[Axis, ...]
    coordinates: InputCoordinates
    let: Mapping[str, str] = field(default_factory=dict)  # name -> its expression, in their order
    origin: MapOrigin = NOWHERE

    def map(self, language: str = "", type: str = "") -> FragmentMap:
        """Return the map of the texts in a language, their coordinates int or unsigned; in all ways if not given.

        Raises ExpressionError for a text that is none, MapError for what is undefined at a point or differs there.
        """
        inputs = self.coordinates.inputs
        points = list(grid(inputs))
        imaged = [(reading, self._images(points, texts)) for reading, texts in self._readable(language, type)]
        (_, images), *rest = imaged
        if any(theirs != images for _, theirs in rest) or not _whole(images):
            for at, point in enumerate(points):
                self._check_same(point, [(reading, its[at]) for reading, its in imaged])
        return FragmentMap(
            inputs,
            self.outputs,
            {at: (image,) for at, image in zip(points, images, strict=True) if not isinstance(image, Undefined)},
            self.origin
            if self.origin != NOWHERE
            else MapOrigin("; ".join(f"{k} = {v}" for k, v in self.texts.items())),
            misread=ExpressionMap(self, language, type).compare(images),
        )

    def evaluate_points(self, points: Sequence[Point], language: str = "", type: str = "") -> list[Point | Undefined]:
        """Return the images of points, computed together, in the first way in which the texts can be read."""
        _, texts = next(self._readable(language, type))
        return self._images(points, texts)

    def _readable(self, language: str, type: str) -> Iterator[tuple[Reading, list[Text]]]:
        """Return the ways in which the texts can be read, with their functions; raise ExpressionError for none.

        Without a given language `//` begins a comment in C, so that a text with it differs from Python's.
        """
        errors: list[ExpressionError] = []
        ways = readings(language, type)
        for reading in ways:
            try:
                texts = list(self._read_texts(reading, not language, len(ways)))
            except ExpressionError as error:
                errors.append(error)
                continue
            yield reading, texts
        if len(errors) == len(ways):
            raise max(errors, key=lambda error: error.offset)

    def _check_same(self, point: Point, imaged: Sequence[tuple[Reading, Point | Undefined]]) -> None:
        """Raise MapError where the readings differ at a point, or where all leave it undefined."""
        first, image = imaged[0]
        differing = [(reading, its) for reading, its in imaged if _differ(image, its)]
        contrary = max(differing, key=lambda each: each[0].language != first.language, default=None)
        where = ", ".join(f"{axis.word} {c}" for axis, c in zip(self.coordinates.inputs, point, strict=True))
        if contrary is not None:
            (reading, its), state = contrary, "the language"
            names = [str(first), str(reading)]
            if first.language == reading.language:
                names, state = [f"C with {side.type} coordinates" for side in (first, reading)], "int or unsigned"
            axis, values = self._differing(image, its)
            raise MapError(f"{axis} at {where}: {names[0]} gives {values[0]}, {names[1]} {values[1]}: state {state}")
        if isinstance(image, Undefined):
            raise MapError(f"{where}: {image}")
        if any(isinstance(c, float) for c in image):
            raise MapError(f"{where}: {image} is not whole: in Python / gives a float, write //")

    def _differing(self, left: Point | Undefined, right: Point | Undefined) -> tuple[str, tuple[object, object]]:
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return ", ".join(self.texts), (_spell_value(left), _spell_value(right))
        place = next(i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a != b)
        return self.outputs[place].name, (left[place], right[place])

    def _read_texts(self, reading: Reading, comments: bool, ways: int) -> Iterator[Text]:
        """Yield the functions of all texts in their order, in one of some ways to read them; raise ExpressionError."""
        types = {name: coordinate.type or SIGNS[reading.type] for name, coordinate in self.coordinates.names.items()}
        work = 0
        defined = [("", name, text) for name, text in self.let.items()]
        for output, name, text in [*defined, *((axis.name, axis.name, self.texts[axis.name]) for axis in self.outputs)]:
            code, local = parse(text, reading.language, comments), dict(types)
            work += code.nodes
            declared = []
            for declaration in code.declarations:
                if reading.language == C and declaration.name in local:
                    raise ExpressionError(f"{declaration.name!r} is declared twice", text, declaration.value.start)
                local[declaration.name], value = self._value(declaration.value, declaration.type, code, local)
                declared.append((declaration.name, value))
            type_, value = self._value(code.result, "", code, local)
            trees = [*(declaration.value for declaration in code.declarations), code.result]
            used = {node.name for tree in trees for node in nodes(tree) if isinstance(node, Name)}
            if not output and name in types:
                raise ExpressionError(f"{name!r} is a coordinate or defined before: give it another name", text, 0)
            remarks = [
                remark
                for tree in trees
                if reading.language == C
                for remark in c_meaning.remarks(tree, local, code.text)
            ]
            yield Text(output, name, tuple(used & types.keys()), declared, value, tuple(remarks))
            if not output:
                types[name] = type_
        points = prod(axis.extent for axis in self.coordinates.inputs)
        if work * points * ways > MAX_WORK:
            in_each = f" in each of {ways} ways to read them" if ways > 1 else ""
            hint = ": give the language and the type" if ways > 1 and work * points <= MAX_WORK else ""
            raise MapError(f"{work} operations at {points} points{in_each}: more than {MAX_WORK}{hint}")

    def _value(self, tree: Tree, given: str, code: Code, types: Mapping[str, Type]) -> tuple[Type, Function]:
        """Return the type of an expression, or the given one, and its value in it; Python's numbers have no type."""
        self._check_names(tree, types, code.text)
        if code.language == PYTHON:
            return INT, python_meaning.meaning(tree, types, code.text)
        type_, value = c_meaning.meaning(tree, types, code.text)
        if not given:
            return type_, value
        wanted = c_meaning.TYPES[given]
        return wanted, lambda values: wanted.wrap(value(values))

    def _check_names(self, tree: Tree, known: Mapping[str, object], text: str) -> None:
        for node in nodes(tree):
            if isinstance(node, Name) and node.name not in known:
                why = self.coordinates.missing.get(node.name) or _suggest_names(node.name, known)
                raise ExpressionError(f"unknown name {node.name!r}: {why}", text, node.start)

    def _images(self, points: Sequence[Point], texts: Sequence[Text]) -> list[Point | Undefined]:
        """Return the image of each point, or what is undefined there; where several texts are, of the first of them."""
        columns: dict[str, list[Any]] = {}
        images, defined = [], []
        for text in texts:
            for name in text.names:
                if name not in columns:
                    variable = self.coordinates.names[name].value
                    columns[name] = [variable(*point) for point in points]
            column = _column(text, columns, len(points))
            if text.output:
                images.append([int(value) if value is True or value is False else value for value in column])
            else:
                columns[text.name] = column
                defined.append(column)
        rows: list[Any] = list(zip(*images, strict=True)) if images else [()] * len(points)
        every = [*defined, *images]
        if any(Undefined in set(map(type, column)) for column in every):
            for at, values in enumerate(zip(*every, strict=True)):
                rows[at] = next((value for value in values if isinstance(value, Undefined)), rows[at])
        return rows

    def _at(self, point: Point, texts: Sequence[Text]) -> Point | Undefined:
        """Return the image of a point, or what is undefined there."""
        return self._images([point], texts)[0]

    def evaluator(self, language: str = "", type: str = "") -> Callable[[Point], Point | Undefined]:
        """Return the image of a point in the first way in which the texts can be read; raise ExpressionError."""
        _, texts = next(self._readable(language, type))
        return lambda point: self._at(point, texts)

    def remarks(self, language: str = "", type: str = "") -> tuple[str, ...]:
        """Return the warnings about calls that C and CUDA C++ read differently, each once."""
        remarks = [remark for _, texts in self._readable(language, type) for text in texts for remark in text.remarks]
        return tuple(dict.fromkeys(remarks))

    def recompute(self, point: Point, language: str = "", type: str = "") -> Point | Undefined:
        """Return the image of a point by other texts: those with its values in place of the names, parsed anew."""
        reading, _ = next(self._readable(language, type))
        values = {}
        for name, coordinate in self.coordinates.names.items():
            unsigned = reading.language == C and (coordinate.type or SIGNS[reading.type]) == UNSIGNED
            values[name] = f"{coordinate.value(*point)}u" if unsigned else str(coordinate.value(*point))

        def fill(text: str) -> str:
            return substitute(parse(text, reading.language, comments=not language), values, whole=True)

        let = {name: fill(text) for name, text in self.let.items()}
        texts = {name: fill(text) for name, text in self.texts.items()}
        filled = IndexFunction(texts, self.outputs, InputCoordinates((), {}), let)
        return filled._at((), list(filled._read_texts(reading, not language, 1)))

    def written_out(self, point: Point, language: str = "", type: str = "") -> str:
        """Each text with the values of its coordinates in place of their names, and its value."""
        numbers = {name: coordinate.value(*point) for name, coordinate in self.coordinates.names.items()}
        values = {name: f"({number})" if number < 0 else str(number) for name, number in numbers.items()}
        reading, texts = next(self._readable(language, type))
        image = self._at(point, texts)
        if isinstance(image, Undefined):
            return str(image)
        codes = [parse(self.texts[axis.name], reading.language, comments=True) for axis in self.outputs]
        shown = zip(self.outputs, codes, image, strict=True)
        return ", ".join(f"{axis.name}: {substitute(code, values)} = {value}" for axis, code, value in shown)


class ExpressionMap(Map):
    """The map of texts in a language, in the first way in which they can be read.

    `block` computes each text once for all points with the same values of its names. `at` puts the numbers of one point
    in place of the names and parses that anew. Both have one meaning of each operator, which is compared with compiled
    C and with Python in tests/verify/maps/test_every_operation.py.
    """

    def __init__(self, function: IndexFunction, language: str = "", type: str = "") -> None:
        self.function, self.language, self.type = function, language, type
        self.inputs, self.outputs = function.coordinates.inputs, function.outputs
        self.origin = function.origin

    @cached_property
    def searchable(self) -> bool:  # type: ignore[override]
        """Whether numpy is here, which is loaded for blocks alone."""
        return has_arrays()

    @property
    def key(self) -> Hashable:
        """The texts, the language and the type, the axes, and the names with the functions that they stand for."""
        names = tuple(
            (name, coordinate.type, coordinate.value) for name, coordinate in self.function.coordinates.names.items()
        )
        texts = tuple(self.function.texts.items()), tuple(self.function.let.items())
        return type(self).__name__, texts, self.language, self.type, names, self.inputs, self.outputs

    def at(self, *point: int) -> tuple[Point, ...]:
        """Return the image of a point; none if it is undefined there."""
        if not inside(point, self.inputs):
            return ()
        image = self.function.recompute(point, self.language, self.type)
        return () if isinstance(image, Undefined) else (image,)

    def block(self, start: int, stop: int) -> tuple[Array, ...]:
        """Return the coordinates of a block. Raise MapError for an image that is undefined or not whole."""
        import numpy as np

        points = [self.point(number) for number in range(start, stop)]
        images = self.function.evaluate_points(points, self.language, self.type)
        if not _whole(images):
            raise MapError(f"{self.origin}: an image is undefined, or not whole")
        return tuple(np.array(images, dtype=np.int64).reshape(len(points), len(self.outputs)).T)

    def mismatch(self) -> Counterexample | None:
        """Return one of a few points that all points together and one alone have otherwise."""
        return self.compare(self.function.evaluate_points(list(grid(self.inputs)), self.language, self.type))

    def compare(self, images: Sequence[Point | Undefined]) -> Counterexample | None:
        """Return one of a few points whose image, among those of all points, isn't that of the point alone."""
        count = len(images)
        for place in sorted({0, count - 1, *(k * GOLDEN % count for k in range(1, COMPARED))}):
            point, among = self.point(place), images[place]
            try:
                alone = self.function.recompute(point, self.language, self.type)
            except ExpressionError:  # a text near the longest, which numbers in place of names make longer
                continue
            if not (isinstance(alone, Undefined) or isinstance(among, Undefined)) and alone != among:
                return contradict(self, point, alone, among)
        return None


def _column(text: Text, columns: Mapping[str, list[Any]], points: int) -> list[Any]:
    """Return the value of a text at every point, or what is undefined there.

    It is computed once for all points with the same values of its names, where they are integers: 1 and 1.0 are
    not the same.
    """
    taken = [columns[name] for name in text.names]

    def value(key: tuple[Any, ...]) -> Any:
        local = dict(zip(text.names, key, strict=True))
        try:
            for name, declared in text.declared:
                local[name] = declared(local)
            return text.value(local)
        except Undefined as error:
            return error

    keys = list(zip(*taken, strict=True)) if taken else [()] * points
    if all({int}.issuperset(map(type, column)) for column in taken):
        known = {key: value(key) for key in dict.fromkeys(keys)}
        return list(map(known.__getitem__, keys))
    return [next((argument for argument in key if isinstance(argument, Undefined)), None) or value(key) for key in keys]


def _whole(images: Sequence[Point | Undefined]) -> bool:
    """Whether every image is one of integers."""
    return {tuple}.issuperset(map(type, images)) and {int}.issuperset(map(type, chain.from_iterable(images)))  # type: ignore[arg-type]


def readings(language: str, type: str) -> list[Reading]:
    """Return the ways to read a text: one if the language and, for C, the type of the coordinates are given.

    >>> [f"{reading.language} {reading.type}" for reading in readings("", "")]
    ['c int', 'c unsigned', 'python int']
    """
    types = [type] if type else list(SIGNS)
    in_c = [Reading(C, name) for name in types] if language != PYTHON else []
    return [*in_c, *([Reading(PYTHON, types[0])] if language != C else [])]


def substitute(code: Code, values: Mapping[str, str], whole: bool = False) -> str:
    """Put values in place of names that the last expression of a text, or the `whole` text, does not declare."""
    declared = {declaration.name for declaration in code.declarations}
    trees = [*(declaration.value for declaration in code.declarations), code.result] if whole else [code.result]
    pieces, at = [], 0 if whole else code.result.start
    for node in sorted((node for tree in trees for node in nodes(tree)), key=lambda node: node.start):
        if isinstance(node, Name) and node.name in values and node.name not in declared:
            pieces.append(code.text[at : node.start] + values[node.name])
            at = node.end
    rest = code.text[at:] if whole else code.text[at : code.result.end]
    return "".join([*pieces, rest]) if whole else " ".join("".join([*pieces, rest]).split())


def _suggest_names(name: str, known: Mapping[str, object]) -> str:
    """Which names are known, or the one that is probably meant."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known here are {', '.join(known)}"


def _differ(left: Point | Undefined, right: Point | Undefined) -> bool:
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        return isinstance(left, Undefined) != isinstance(right, Undefined)
    return left != right


def _spell_value(value: Point | Undefined) -> str:
    return f"an error ({value})" if isinstance(value, Undefined) else str(value)
