# SPDX-License-Identifier: Apache-2.0
"""The claim of a comparison: which launch wrote one side last, and what the other side says that it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from verify.capture.contents import KINDS, Contents, TensorReading, count_bits, find_launch, follow, say_made
from verify.capture.expressions import NAMES, GivenArray, Writer
from verify.capture.masks import Names
from verify.capture.pieces import write_pieces
from verify.capture.places import Unchecked, ViewPlaces
from verify.kernel.claims.expression import elements, read_claim

APART = 256  # bytes before an array, so that none begins where its memory begins
NOTHING = "nothing"  # the array of a claim that says nothing of values


@dataclass(frozen=True)
class TestClaim:
    """A claim as `verify.kernel` reads one, and what a verdict on it rests on."""

    table: Mapping[str, Any]  # as `verify.kernel.claims` takes it
    text: str  # as it is printed
    target: str = ""  # the array that it is about; empty for safety alone
    unwritten: frozenset[str] = frozenset()  # arguments that the launch must not have written
    special: tuple[tuple[str, str], ...] = ()  # (array, why a wrong element may be right for this test's own data)
    parts: tuple[str, ...] = ()  # arguments that are parts of a larger tensor
    alias: Mapping[str, str] = field(default_factory=dict)  # argument -> its array
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()  # (file of the PTX, table) of launches that it rests on


def order_sides(contents: Contents, event: Mapping[str, Any]) -> tuple[int, TensorReading, TensorReading]:
    """Return (launch, what it wrote, the reference) of a comparison; raises Unchecked."""
    sides = [TensorReading.of(side) for side in event["sides"]]
    launches = [find_launch(contents, side) for side in sides]
    numbers = [number for number in launches if number is not None]
    if not numbers:
        raise Unchecked("no launch wrote either side")
    if len(numbers) == 2:
        return _choose(contents, sides, (numbers[0], numbers[1]))
    at = 0 if launches[0] is not None else 1
    return numbers[0], sides[at], sides[1 - at]


def _choose(
    contents: Contents, sides: Sequence[TensorReading], launches: tuple[int, int]
) -> tuple[int, TensorReading, TensorReading]:
    """Return which of two sides a launch wrote, if the other was given to launches that did not write it."""
    wrote = [
        bool(contents.written(launch) & _arguments(contents, side, launch))
        for side, launch in zip(sides, launches, strict=True)
    ]
    if all(wrote):
        raise Unchecked("the reference was computed by another kernel")
    if not any(wrote):
        raise Unchecked("no launch wrote either side")
    at = wrote.index(True)
    return launches[at], sides[at], sides[1 - at]


def _arguments(contents: Contents, side: TensorReading, launch: int) -> set[str]:
    return next(set(contents.table[number]["args"]) for number, *_ in contents.trace(side, launch)
                if contents.table[number]["kind"] == "after")  # fmt: skip


def build_claim(
    contents: Contents,
    variant: Mapping[str, Any],
    launch: int,
    sides: Sequence[tuple[TensorReading, TensorReading]],
    uses: Sequence[Mapping[str, Any]] = (),
) -> TestClaim:
    """Return the claim of one variant of a launch, after the program used some numbers; raises Unchecked."""
    refuse_problem(variant)
    given = list_arrays(variant)
    claim = claim_side(contents, (launch, variant), given, sides, uses)
    return replace(claim, parts=list_parts(given[0], variant))


def claim_side(
    contents: Contents,
    last: tuple[int, Mapping[str, Any]],
    given: tuple[list[GivenArray], dict[str, str]],
    sides: Sequence[tuple[TensorReading, TensorReading]],
    uses: Sequence[Mapping[str, Any]],
) -> TestClaim:
    """Return the claim that (what a launch wrote, the reference) are equal, over arrays; raises Unchecked.

    `last` is (number, variant) of the launch, `given` has the arrays, and the array of each of its arguments. Several
    `sides` are parts that make up what the launch wrote.
    """
    (launch, variant), (arrays, alias) = last, given
    writer, pieces = Writer(contents, launch, arrays), list[tuple[ViewPlaces, TensorReading, TensorReading]]()
    followed = [follow(contents, side, launch) for side, _ in sides]
    target = next((array for array in arrays if array.name in {alias.get(name) for name in followed[-1][0]}), None)
    if target is None:
        raise Unchecked("the launch isn't given what is compared")
    for (side, reference), (_, kind, places) in zip(sides, followed, strict=True):
        if reference.shape != side.shape:
            raise Unchecked(f"shapes differ, {side.shape} and {reference.shape}")
        pieces.append((places, side, read_as_written(contents, reference, kind, target.reading.dtype)))
    text = write_side(writer, target, *pieces[0]) if len(pieces) == 1 else write_pieces(writer, target, pieces)
    special = (*explain_special(contents, writer, target), *explain_uses(contents, writer.arrays, uses))
    table = make_table(variant, arrays, alias, writer.sizes, contents) | {
        "claim": text,
        "narrow": sorted(writer.narrow),
    }
    return TestClaim(table, text, target.name, frozenset(writer.unwritten), special, alias=alias)


def read_as_written(contents: Contents, reference: TensorReading, kind: str, wrote: str) -> TensorReading:
    """Return a reference in the type that a launch wrote, if the bytes of both sides are compared as another type.

    Raises Unchecked where one side's alone are.
    """
    if kind == wrote:
        return reference
    own = contents.table[contents.resolve(reference.content)].get("dtype")
    if reference.dtype != kind or own != wrote or count_bits(kind) != count_bits(wrote):
        raise Unchecked(f"what the launch wrote is of {wrote}, and is compared as {kind}")
    return replace(reference, dtype=wrote)


def write_side(
    writer: Writer, target: GivenArray, places: ViewPlaces, side: TensorReading, reference: TensorReading
) -> str:
    """Return the claim that all of an array, at some places, is a reference."""
    own = target.reading.places
    if places.distinct != len(places) or not places.has_same_set(own):
        raise Unchecked(f"a part of {target.name} is compared")
    reference = unview(writer.contents, reference)
    side = replace(side, shape=reference.shape)
    letters = NAMES.get(len(side.shape), "abcdefghi")
    indices: Names = tuple(letters[x] if extent > 1 else "" for x, extent in enumerate(side.shape))
    writer.sizes.update({name: extent for name, extent in zip(indices, side.shape, strict=True) if name})
    writer.home = next(filter(None, indices), "")
    shape, strides, offset = target.fit(places, side.shape)
    axes = [(shape[x], strides[x], name) for x, name in enumerate(indices) if name]
    return f"{writer._name(target, axes, offset)} = {writer.write(reference, indices)}"


def unview(contents: Contents, reference: TensorReading) -> TensorReading:
    """Return a reading of all that was computed in the shape in which it was: the same elements in the same order."""
    content = contents.table[contents.resolve(reference.content)]
    layout = content.get("layout") if content["kind"] == "op" else None
    if layout is None or list(reference.shape) == layout["shape"] or content["dtype"] != reference.dtype:
        return reference
    whole = replace(reference, offset=layout["offset"], shape=tuple(layout["shape"]), strides=tuple(layout["strides"]))
    return whole if whole.places.is_same(reference.places) else reference


def claim_text(contents: Contents, variant: Mapping[str, Any], text: str) -> TestClaim | None:
    """Return the claim that a test's author writes, on one variant of a launch; None if the launch lacks an array.

    Raises Unchecked for indices that don't fit the tensors.
    """
    refuse_problem(variant)
    target, value = read_claim(text)
    given = {tensor["arg"] for tensor in variant["tensors"]}
    used = [target, *elements(value)]
    if not {element.name for element in used} <= given:
        return None
    arrays, alias = list_arrays(variant)
    sizes: dict[str, int] = {}
    for element in used:
        array = next(known for known in arrays if known.name == alias[element.name])
        if array.name != element.name:
            raise Unchecked(f"{element.name} is the same tensor as {array.name}: the claim needs one name for it")
        shape = array.reading.shape
        if len(shape) != len(element.indices):
            raise Unchecked(
                f"{array.name} has {len(shape)} dimensions, the claim gives it {len(element.indices)} indices"
            )
        if not array.named:
            array.shape, array.strides, array.offset = shape, array.reading.strides, array.reading.offset
            own = element.indices
            plain = all(map(str.isidentifier, own)) and len(set(own)) == len(own)
            array.indices = own if plain else tuple(f"{array.name}{axis}" for axis in range(len(shape)))
            array.named = True
        for index, extent in zip(element.indices, shape, strict=True):
            if index.isidentifier() and sizes.setdefault(index, extent) != extent:
                raise Unchecked(f"the index {index} has {sizes[index]} values, and {extent} in {array.name}")
    table = make_table(variant, arrays, alias, sizes, contents) | {"claim": text}
    return TestClaim(table, text, target.name, parts=list_parts(arrays, variant), alias=alias)


def claim_safety(contents: Contents, variant: Mapping[str, Any]) -> TestClaim:
    """Return a claim that says nothing of values: its array is in no parameter, and equals itself."""
    refuse_problem(variant)
    arrays, alias = list_arrays(variant)
    table = claim_nothing(make_table(variant, arrays, alias, {}, contents))
    return TestClaim(table, "safety only", parts=list_parts(arrays, variant), alias=alias)


def claim_nothing(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a launch with a claim on an array that is in no parameter."""
    array = {"dims": ["1"], "type": "s32", "strides": [1], "offset": 0, "out": True}
    claim = f"{NOTHING}[i] = {NOTHING}[i]"
    return {**table, "arrays": {**table["arrays"], NOTHING: array}, "claim": claim}


def refuse_problem(variant: Mapping[str, Any]) -> None:
    """Raise Unchecked for a launch that no claim describes."""
    if variant["problem"]:
        raise Unchecked(variant["problem"])


def list_arrays(variant: Mapping[str, Any]) -> tuple[list[GivenArray], dict[str, str]]:
    """Return the arrays of a launch, and for each argument the name of its array; raises Unchecked."""
    arrays: list[GivenArray] = []
    alias: dict[str, str] = {}
    for tensor in variant["tensors"]:
        reading = TensorReading.of(tensor)
        if reading.dtype not in KINDS and reading.dtype != "bool":
            raise Unchecked(f"{tensor['arg']} is of type {reading.dtype}")
        places = reading.places
        if not len(places):
            raise Unchecked(f"{tensor['arg']} has no elements")
        same = [known for known in arrays if known.reading.content == reading.content]
        equal = next((known for known in same if known.reading == reading), None)
        if equal is not None:
            alias[tensor["arg"]] = equal.name
            continue
        for known in same:
            if known.reading.dtype != reading.dtype or known.reading.places.meets(places):
                raise Unchecked(f"{known.name} and {tensor['arg']} are different views of one tensor")
        arrays.append(GivenArray(tensor["arg"], reading))
        alias[tensor["arg"]] = tensor["arg"]
    return arrays, alias


def list_parts(arrays: Sequence[GivenArray], variant: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the arrays that are parts of a larger tensor: memory beyond them may be there."""
    sizes = {tensor["arg"]: tensor["elements"] for tensor in variant["tensors"]}
    return tuple(array.name for array in arrays if array.reading.places.distinct < sizes[array.name])


def make_table(
    variant: Mapping[str, Any],
    arrays: Sequence[GivenArray],
    alias: Mapping[str, str],
    sizes: dict[str, int],
    contents: Contents,
) -> dict[str, Any]:
    """Return the table of a claim without its text."""
    tables: dict[str, Any] = {}
    params = [_name_array(param, alias) for param in variant["params"]]
    for number, array in enumerate(arrays):
        if not array.named:
            kept = [(x, y) for x, y in zip(array.reading.shape, array.reading.strides, strict=True) if x > 1 and y]
            array.shape, array.strides = tuple(x for x, _ in kept), tuple(y for _, y in kept)
            array.offset = array.reading.offset
        dims = list(array.indices) or [f"{array.name}{axis}" for axis in range(len(array.shape))]
        sizes.update(zip(dims, array.shape, strict=True))
        if min((*array.strides, 0)) < 0:
            raise Unchecked(f"{array.name} has a negative stride")
        kind = KINDS.get(array.reading.dtype, "u8")
        size = count_bits(array.reading.dtype) // 8
        kind = "tf32" if is_tf32(contents, array.reading) else kind
        first = array.offset - array.reading.offset  # places of the claim begin at the argument's first element
        table = {
            "dims": dims or ["1"], "type": kind, "strides": list(array.strides) or [1], "out": True,
            "offset": APART * (number + 1) // size + array.reading.offset % (APART // size),
        }  # fmt: skip
        if first:
            raise Unchecked(f"the reference begins elsewhere in {array.name} than the kernel's pointer")
        if array.reading.dtype == "bool":
            table["range"] = [0, 1]
        if is_zero(contents, array.reading.content):
            table["zero"] = True
        tables[array.name] = table
    if variant["scratch"]:
        ctas = int(np.prod(variant["grid"]))
        tables["scratch"] = {"dims": [str(ctas * variant["scratch"])], "type": "u8", "scratch": True}
        params.append("scratch")
    return {
        "kernel": variant["entry"], "grid": list(variant["grid"]), "block": variant["block"], "smem": variant["smem"],
        "sizes": sizes, "params": params, "arrays": tables,
    }  # fmt: skip


def _name_array(given: Any, alias: Mapping[str, str]) -> Any:
    """Return a parameter with the array of the claim in place of an argument."""
    if not isinstance(given, dict):
        return given
    if "map" in given:
        return {**given, "map": alias[given["map"]]}
    return alias[given["tensor"]] if "tensor" in given else given


def is_zero(contents: Contents, number: int) -> bool:
    """Return whether a content is zeros."""
    row = contents.operation(contents.resolve(number))
    return row is not None and row.constant == "0"


def is_tf32(contents: Contents, reading: TensorReading) -> bool:
    """Return whether a tensor's numbers are of tf32: a mask took what a float32 has more from their bits."""
    for number, dtype, _ in contents.trace(reading):
        row, content = contents.operation(number), contents.table[number]
        masked = dtype == "float32" and content.get("dtype") in ("int32", "uint32")
        if masked and row is not None and row.relation == "and":
            return any(type(argument) is int and argument & 0x1FFF == 0 for argument in content["args"])
    return False


def explain_special(contents: Contents, writer: Writer, target: GivenArray) -> Iterator[tuple[str, str]]:
    """Yield (array, why) for data that the kernel is given and that are not any data, in words."""
    roots: dict[int, str] = {}
    for array in writer.arrays:
        number = contents.resolve(array.reading.content, writer.launch)
        if is_zero(contents, number):
            continue
        if not contents.is_free(number) and array is not target:
            yield array.name, f"{array.name} is {say_made(contents.table[number])}, which any data isn't"
        for source in contents.closure(number):
            if roots.setdefault(source, array.name) != array.name:
                yield array.name, f"{array.name} and {roots[source]} are made of the same data"
                break


def explain_uses(
    contents: Contents, arrays: Sequence[GivenArray], uses: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield (array, why) for the kernel's data of which the program read numbers: its reference may be of these."""
    roots = {
        source: array.name for array in arrays for source in contents.closure(contents.resolve(array.reading.content))
    }
    for use in uses:
        name = next((roots[source] for source in contents.closure(use["content"]) if source in roots), "")
        if name:
            how = f"{use['how']}, {use['at']}"
            yield name, f"the test reads a number that {name} gives ({how}), and may use it as a constant"
