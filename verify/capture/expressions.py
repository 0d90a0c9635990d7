# SPDX-License-Identifier: Apache-2.0
"""A recorded expression of torch as a claim's text, `sum_k a[m,k]*b[k,n]`: a `Writer` of `GivenArray`s, by `NAMES`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from verify.capture import masks, moments
from verify.capture.contents import KINDS, Contents, TensorReading, is_exact, read_operand, refuse_type, say_made
from verify.capture.gradients import LEAF, write_gradient
from verify.capture.integers import bound_integers
from verify.capture.masks import Names, write_number
from verify.capture.parts import locate_part, write_joined
from verify.capture.places import Unchecked, ViewPlaces
from verify.capture.table import TorchOperation

SUMMED = "klpqrstuvwxyz"
MOMENTS = ("sum", "mean", "variance")
READ = set("a dim keepdim dtype _stacklevel unbiased correction".split())  # of reductions: read, or they change nothing
NAMES = {0: "i", 1: "i", 2: "mn", 3: "bmn", 4: "bhmn", 5: "abhmn"}


@dataclass
class GivenArray:
    """An array of the launch that the claim has, as an argument gives it."""

    name: str  # of the argument
    reading: TensorReading  # of the argument, as the launch was given it
    shape: tuple[int, ...] = ()  # as the claim's indices go through it; set when the claim first names it
    strides: tuple[int, ...] = ()  # in elements
    offset: int = 0  # of the first element in the storage
    indices: Names = ()  # of the claim, where it first names the array
    named: bool = False  # whether the claim names it

    def fit(self, places: ViewPlaces, shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Return (shape, strides, offset) of places in the storage, without indices of extent 1; raises Unchecked."""
        view = places.fit(shape)
        if view is None:
            raise Unchecked(f"the reference reads {self.name} in an order that no strides describe")
        return view


@dataclass
class Writer:
    """What turns readings into text, for one launch."""

    contents: Contents  # of the test
    launch: int  # its number
    arrays: Sequence[GivenArray]  # that it was given
    sizes: dict[str, int] = field(default_factory=dict)  # extent of each index
    narrow: set[str] = field(default_factory=set)  # formats that the reference goes through
    unwritten: set[str] = field(default_factory=set)  # arguments of the launch that it must not have written
    made: int = 0  # indices
    home: str = ""  # an index of the claim's left side, by which an array of one element is named
    leaf: GivenArray | None = None  # the tensor of which a gradient is, while what it flows through is written

    def __post_init__(self) -> None:
        """Find which contents the launch was given, behind copies too."""
        self.given: dict[tuple[int, str], tuple[GivenArray, ViewPlaces, ViewPlaces]] = {}  # by content and type
        for array in self.arrays:
            own = array.reading.places
            for number, dtype, places in self.contents.trace(array.reading):
                self.given.setdefault((number, dtype), (array, places, own))

    def index(self, extent: int, summed: bool) -> str:
        """Return a new index."""
        letters = SUMMED if summed else "ijfgcdeo"
        name = letters[self.made % len(letters)] + (str(self.made // len(letters)) if self.made >= len(letters) else "")
        self.made += 1
        while name in self.sizes:
            name += "x"
        self.sizes[name] = extent
        return name

    def write(self, reading: TensorReading, names: Names, depth: int = 0) -> str:
        """Return the text of an element of a reading, whose indices have names."""
        leaf = self.leaf
        self.leaf = leaf if reading.grad else None  # a tensor that was detached is a constant
        try:
            return self._write(reading, names, depth)
        finally:
            self.leaf = leaf

    def write_leaf(self, reading: TensorReading, names: Names, leaf: TensorReading, depth: int) -> str:
        """Return the text of an element, in which a tensor has the name LEAF where a gradient flows to it."""
        array = GivenArray(LEAF, leaf, offset=leaf.offset, named=True)
        kept = [axis for axis, extent in enumerate(leaf.shape) if extent > 1]
        array.shape, array.strides = (tuple(per_axis[x] for x in kept) for per_axis in (leaf.shape, leaf.strides))
        before, self.leaf = self.leaf, array
        try:
            return self.write(reading, names, depth)
        finally:
            self.leaf = before

    def _find_leaf(self, reading: TensorReading, names: Names) -> str | None:
        """Return the element of the leaf that a reading is; empty if it is made of it, None if it has nothing of it."""
        if self.leaf is None:
            return None
        number, leaf = self._resolve(reading.content), self._resolve(self.leaf.reading.content)
        if number != leaf:
            return "" if leaf in self.contents.closure(number) else None
        refuse_type(self.contents.table[leaf], self.leaf.reading.dtype, reading.dtype)
        places = reading.places
        if not places.has_same_set(self.leaf.reading.places):
            raise Unchecked(f"a part of {say_made(self.contents.table[leaf])} has a gradient")
        shape, strides, offset = self.leaf.fit(places, reading.shape)
        axes = [(shape[x], strides[x], name) for x, name in enumerate(names) if name and strides[x]]
        return self._name(self.leaf, axes, offset)

    def _write(self, reading: TensorReading, names: Names, depth: int) -> str:
        if depth > 60:
            raise Unchecked("the reference is a longer expression than is read")
        element = self._find_leaf(reading, names)
        element = self._element(reading, names) if element is None else element
        if element:
            return element
        number = self._resolve(reading.content)
        content, row = self.contents.table[number], self.contents.operation(number)
        if content["kind"] == "after":
            raise Unchecked(f"the reference was computed by a kernel, launch {content['launch'] + 1} ({content['at']})")
        if content["kind"] == "unknown":
            raise Unchecked(f"what the reference rests on isn't known: {say_made(content)}")
        refuse_type(content, content.get("dtype", reading.dtype), reading.dtype)
        if row is None:
            raise Unchecked(f"the reference rests on {say_made(content)}, which is not in the table of operations")
        if row.random:
            raise Unchecked(f"the reference rests on {say_made(content)}, which the kernel isn't given")
        if row.constant:
            return self._constant(number, row)
        return self._apply(number, row, self._match(content, reading, names), depth)

    def _resolve(self, number: int) -> int:
        """Return the content behind launches; this launch is taken not to have written it, which is checked later."""
        while True:
            number = self.contents.resolve(number, self.launch)
            content = self.contents.table[number]
            if content["kind"] != "after" or content["launch"] != self.launch:
                return number
            self.unwritten |= set(content["args"])
            number = content["before"]

    def _element(self, reading: TensorReading, names: Names) -> str:
        """Return the element of an array that the launch was given; empty if the reading is of none."""
        traced = self.contents.trace(replace(reading, content=self._resolve(reading.content)), self.launch)
        keyed = (((self._resolve(number), dtype), places) for number, dtype, places in traced)
        source = next(((*self.given[key], places) for key, places in keyed if key in self.given), None)
        if source is None:
            return ""
        array, theirs, own, places = source
        there = places.relocate(theirs, own)
        if there is None:
            raise Unchecked(f"the reference reads elements of {array.name} that the kernel isn't given")
        if there.distinct != own.distinct:
            return self._name_part(array, there, reading.shape, names)
        kept = [axis for axis, name in enumerate(names) if name]
        shape, strides, offset = array.fit(there, reading.shape)
        if any(strides[axis] for axis in range(len(names)) if axis not in kept):
            raise Unchecked(f"{array.name} is broadcast in a way that is not read")
        return self._name(array, [(shape[x], strides[x], names[x]) for x in kept if strides[x]], offset)

    def _name_part(self, array: GivenArray, places: ViewPlaces, shape: Sequence[int], names: Names) -> str:
        """Return an element of a part of an array, which has its own indices."""
        if not array.named:
            kept = [(x, y) for x, y in zip(array.reading.shape, array.reading.strides, strict=True) if x > 1 and y]
            array.shape, array.strides = tuple(x for x, _ in kept), tuple(y for _, y in kept)
            array.indices = tuple(self.index(x, summed=False) for x, _ in kept)
            array.offset, array.named = array.reading.offset, True
        shape, strides, offset = array.fit(places, shape)
        axes = [(shape[x], strides[x], name) for x, name in enumerate(names) if name and strides[x]]
        own = list(zip(array.shape, array.strides, strict=True))
        indices = locate_part(own, offset - array.offset, axes)
        if indices is None:
            raise Unchecked(f"the reference reads a part of {array.name} that no indices describe")
        return self._choose_elements(f"{array.name}[{{}}]", indices, array.shape)

    def _choose_elements(self, text: str, indices: Sequence[str | int], shape: Sequence[int]) -> str:
        """Return a text with indices, some of which are numbers: it is summed over all others, which are taken as 0."""
        words = [index if isinstance(index, str) else self.index(extent, summed=True)
                 for index, extent in zip(indices, shape, strict=True)]  # fmt: skip
        text = text.format(",".join(words))
        for word, index in zip(words, indices, strict=True):
            text = text if isinstance(index, str) else f"(sum_{word} where({word} == {index}, {text}, 0))"
        return text

    def _name(self, array: GivenArray, axes: Sequence[tuple[int, int, str]], offset: int) -> str:
        """Return an element of an array, in the order of indices in which the claim first named it."""
        if not array.named:
            array.shape, array.strides = tuple(axis[0] for axis in axes), tuple(axis[1] for axis in axes)
            array.indices = tuple(axis[2] for axis in axes)
            array.offset, array.named = offset, True
        left = list(axes)
        names = []
        for wanted in zip(array.shape, array.strides, strict=True):
            match = next((axis for axis in left if axis[:2] == wanted), None)
            if match is None:
                break
            left.remove(match)
            names.append(match[2])
        if left or len(names) < len(array.shape) or offset != array.offset:
            raise Unchecked(f"the reference reads {array.name} in two shapes")
        if not names:
            names = [f"{self.home}*0" if self.home else "i"]
            self.sizes.setdefault("i", 1)
        return f"{array.name}[{','.join(names)}]"

    def _match(self, content: Mapping[str, Any], reading: TensorReading, names: Names) -> Names:
        """Return the indices of a content, where a reading of it has names: expressions, if it is a part."""
        layout = content["layout"]
        own = list(zip(layout["shape"], layout["strides"], strict=True))
        kept = [axis for axis in own if axis[0] > 1]
        axes = [
            axis
            for axis in zip(reading.shape, reading.strides, names, strict=True)
            if axis[0] > 1 and axis[1] and axis[2]
        ]
        indices = locate_part(kept, reading.offset - layout["offset"], axes)
        if indices is None or not all(isinstance(index, str) for index in indices):
            raise Unchecked(f"a view of {say_made(content)} that is not read")
        left = iter(map(str, indices))
        return tuple(next(left) if extent > 1 else "" for extent, _ in own)

    def find_content(self, reading: TensorReading, names: Names) -> tuple[Mapping[str, Any], Names]:
        """Return the content that a reading is of, with its number, and the names of the content's own indices."""
        number = self._resolve(reading.content)
        content = self.contents.table[number]
        refuse_type(content, content.get("dtype", reading.dtype), reading.dtype)
        own = self._match(content, reading, names) if content["kind"] == "op" else names
        return {**content, "number": number}, own

    def _constant(self, number: int, row: TorchOperation) -> str:
        if row.constant != "value":
            return row.constant
        return write_number(self.contents.arguments(number)["value"])

    def _apply(self, number: int, row: TorchOperation, names: Names, depth: int) -> str:
        """Return the text of an operation's result."""
        content = self.contents.table[number]
        self._note(content)
        given = {} if row.einsum or row.gradient else self.contents.arguments(number)
        option = next(
            (key for key in set(row.parameters) - READ if row.sum and given[key] != row.parameters[key]), None
        )
        if option is not None:
            raise Unchecked(f"{say_made(content)} has {option}")
        if self.leaf is not None and "where(" in row.text:
            raise Unchecked(f"{say_made(content)} has a derivative that jumps, and is torch's own where it does")
        common = content, given, names, depth
        ways: tuple[tuple[object, Callable[[], str]], ...] = (
            (row.cast, lambda: self._cast(content, given["a"], names, depth)),
            (row.product, lambda: self._product(*common)),
            (row.joins, lambda: write_joined(self, content, given, row.joins, names, depth)),
            (row.gradient, lambda: write_gradient(self, content, names, depth)),
            (row.einsum, lambda: moments.write_einsum(self, content, names, depth)),
            (row.norm, lambda: moments.write_norm(self, content, given, row.norm, names, depth)),
            (row.sum in MOMENTS, lambda: moments.write_sum(self, content, given, row.sum, names, depth)),
            (row.sum, lambda: self._softmax(content, given, row.sum, names, depth)),
            (row.attention, lambda: self._attention(*common)),
            (row.choice or row.triangle or row.range, lambda: self._mask(content, row, given, names, depth)),
            (not row.text, lambda: self._refuse(content)),
        )
        way = next((write for wanted, write in ways if wanted), None)
        return self._replace(row, *common) if way is None else way()

    @staticmethod
    def _refuse(content: Mapping[str, Any]) -> str:
        raise Unchecked(f"the reference rests on {say_made(content)}, which no text describes")

    def _replace(
        self, row: TorchOperation, content: Mapping[str, Any], given: Mapping[str, Any], names: Names, depth: int
    ) -> str:
        """Return a row's text with its parameters in place; one that it doesn't name must have its default."""
        words: dict[str, str] = {}
        for name, default in row.parameters.items():
            if re.search(rf"\b{name}\b", row.text):
                words[name] = self._operand(content, given[name], names, depth)
            elif given[name] != default and given[name] is not None:
                raise Unchecked(f"{say_made(content)} has {name} = {given[name]}")
        return self._fill(content, row.text, words)

    def _mask(
        self, content: Mapping[str, Any], row: TorchOperation, given: Mapping[str, Any], names: Names, depth: int
    ) -> str:
        """Return the text of a choice between two tensors, of a triangle, or of a range."""
        if row.triangle:
            return masks.write_triangle(self, content, given, row.triangle, names, depth)
        if row.range:
            return masks.write_range(content, given, names)
        condition = masks.write_condition(self, given["condition"], names, depth)
        texts = [self._operand(content, given[key], names, depth, masked=True) for key in "ab"]
        return f"where({condition}, {texts[0]}, {texts[1]})"

    @staticmethod
    def _fill(content: Mapping[str, Any], text: str, words: Mapping[str, str]) -> str:
        """Return a row's text with its parameters in place."""
        if words.get("alpha") == "1":
            text = text.replace("alpha * ", "")
        divided = re.fullmatch(r"([ab]) / ([ab])", text)
        if divided:
            top, below = words[divided[1]], words[divided[2]]
            if re.fullmatch(r"[\d.e+-]+", below) and float(below):
                return f"({top} / {below})"
            return f"({top} * rcp({below}))"
        filled = re.sub(rf"\b({'|'.join(words)})\b", lambda match: words[match[0]], text)
        return f"({filled})" if " " in filled and not re.fullmatch(r"\w+\(.*\)", text) else filled

    def _note(self, content: Mapping[str, Any]) -> None:
        """Note the type of a result of floats, to which torch rounds it."""
        kind = KINDS.get(content["dtype"], "")
        if not kind:
            raise Unchecked(f"{say_made(content)} is of type {content['dtype']}")
        if kind in ("f16", "bf16", "e4m3", "e5m2"):
            self.narrow.add(kind)
        if kind == "f32" and "rounds" in content:
            self.narrow.add(content["rounds"])

    def _operand(self, content: Mapping[str, Any], value: Any, names: Names, depth: int, masked: bool = False) -> str:
        """Return the text of an operand: a number, or a tensor that is broadcast to the result."""
        if masked and value == -math.inf:
            return "-inf"
        if isinstance(value, bool) or value is None:
            raise Unchecked(f"{say_made(content)} has the operand {value}")
        if isinstance(value, (int, float)):
            return write_number(value)
        reading = read_operand(content, value)
        self.check_kind(content, reading)
        padded = names[len(names) - len(reading.shape) :]
        return self.write(
            reading,
            tuple(name if extent > 1 else "" for name, extent in zip(padded, reading.shape, strict=True)),
            depth + 1,
        )

    def check_kind(self, content: Mapping[str, Any], reading: TensorReading) -> None:
        """Refuse integers that become floats inexactly, or the other way round, or that wrapped before they widen."""
        old, new = KINDS.get(reading.dtype, "?"), KINDS.get(content["dtype"], "?")
        if old[0] in "su" and new[0] in "su" and old != new and not is_exact(reading.dtype, content["dtype"]):
            raise Unchecked(f"{say_made(content)} mixes {reading.dtype} and {content['dtype']}")
        bound = bound_integers(self.contents, self._resolve(reading.content)) if new[0] == "s" else None
        whole = bound is not None and bound < 1 << int(new[1:]) - 1
        if (old[0] in "su") != (new[0] in "su") and not whole and not is_exact(reading.dtype, content["dtype"]):
            raise Unchecked(f"{say_made(content)} mixes {reading.dtype} and {content['dtype']}")
        number = self._resolve(reading.content)
        source = self.contents.operation(number) if (number, reading.dtype) not in self.given else None
        if old[0] in "su" and old != new and source is not None and (source.text or source.product or source.sum):
            raise Unchecked(f"{say_made(content)} widens {reading.dtype}, in which an earlier result may wrap")
        if old == "?" or new == "?":
            raise Unchecked(f"{say_made(content)} is of type {content['dtype']}, made of {reading.dtype}")

    def _cast(self, content: Mapping[str, Any], value: Any, names: Names, depth: int) -> str:
        """Return the text of a copy: the same numbers, in exact arithmetic."""
        reading = read_operand(content, value)
        if list(reading.shape) != content["layout"]["shape"]:
            raise Unchecked(f"{say_made(content)} gives another shape to what was computed")
        self.check_kind(content, reading)
        return self.write(reading, names, depth + 1)

    def _product(self, content: Mapping[str, Any], given: Mapping[str, Any], names: Names, depth: int) -> str:
        """Return the text of a product of matrices, as torch.matmul broadcasts them; of linear, with its bias."""
        a, b = (read_operand(content, given[key]) for key in "ab")
        for operand in (a, b):
            self.check_kind(content, operand)
        if "bias" in given:  # b of torch.nn.functional.linear has the index of the output first
            b = replace(b, shape=b.shape[::-1], strides=b.strides[::-1])
        if not a.shape or not b.shape or a.shape[-1] != b.shape[-2 if len(b.shape) > 1 else 0]:
            raise Unchecked(f"{say_made(content)} has shapes that are not read")
        text = self._contract(a, b, names, depth)
        if given.get("bias", "none") in ("none", None):
            return text
        return f"({text} + {self._operand(content, given['bias'], names, depth)})"

    def _contract(self, a: TensorReading, b: TensorReading, names: Names, depth: int) -> str:
        """Return the text of the sum of products over the last index of a and the last but one of b."""
        k = self.index(a.shape[-1], summed=True) if a.shape[-1] > 1 else ""
        own = list(names)
        last = own.pop() if len(b.shape) > 1 else None
        row = own.pop() if len(a.shape) > 1 else None
        texts = []
        for operand, inner in ((a, [row, k] if row is not None else [k]), (b, [k, last] if last is not None else [k])):
            outer = own[len(own) - (len(operand.shape) - len(inner)) :] if len(operand.shape) > len(inner) else []
            words = [name if extent > 1 else "" for name, extent in zip([*outer, *inner], operand.shape, strict=True)]
            texts.append(self.write(operand, tuple(words), depth + 1))
        product = f"{texts[0]} * {texts[1]}"
        return moments.sum_over(self, [k], product) if k else f"({product})"

    def _softmax(
        self, content: Mapping[str, Any], given: Mapping[str, Any], kind: str, names: Names, depth: int
    ) -> str:
        """Return the text of a softmax, or of a logarithm of a sum of exponentials, over one index."""
        reading = read_operand(content, given["a"])
        self.check_kind(content, reading)
        dim = given["dim"][0] if isinstance(given["dim"], list) and len(given["dim"]) == 1 else given["dim"]
        if not isinstance(dim, int) or not reading.shape:
            raise Unchecked(f"{say_made(content)} goes over indices that are not read")
        axis, words = dim % len(reading.shape), list(names)
        if kind == "logsumexp":
            if given["keepdim"] is True:
                del words[axis]
            words.insert(axis, self.index(reading.shape[axis], summed=True) if reading.shape[axis] > 1 else "")
        text, index = self.write(reading, tuple(words), depth + 1), words[axis]
        if index and not index.isidentifier():
            raise Unchecked(f"a part of {say_made(content)} along the index that it goes over")
        if not index:
            return {"softmax": "1", "log_softmax": "0"}.get(kind, text)
        if kind == "log_softmax":
            return f"({text} - logsumexp_{index}({text}))"
        return f"{kind}_{index}({text})"

    def _attention(self, content: Mapping[str, Any], given: Mapping[str, Any], names: Names, depth: int) -> str:
        """Return the text of torch's scaled_dot_product_attention: its mask begins at the first row and column."""
        options = {"attn_mask": ("none", None), "dropout_p": (0, 0.0), "enable_gqa": (False,)}
        for name, allowed in options.items():
            if given[name] not in allowed:
                raise Unchecked(f"{say_made(content)} has {name}")
        q, k, v = (read_operand(content, given[key]) for key in "qkv")
        if (
            {len(operand.shape) for operand in (q, k, v)} != {len(names)}
            or not names[-2]
            or q.shape[:-2] != k.shape[:-2]
        ):
            raise Unchecked(f"{say_made(content)} has shapes that are not read")
        for operand in (q, k, v):
            self.check_kind(content, operand)
        *outer, m, d = names
        n, inner = self.index(k.shape[-2], summed=True), self.index(q.shape[-1], summed=True)
        left, right = (self.write(operand, (*outer, row, inner), depth + 1) for operand, row in ((q, m), (k, n)))
        scale = q.shape[-1] ** -0.5 if given["scale"] in ("none", None) else given["scale"]
        score = f"{write_number(scale)} * sum_{inner} ({left} * {right})"
        if given["is_causal"] is True:
            score = f"where({m} >= {n}, {score}, -inf)"
        return f"sum_{n} (softmax_{n}({score}) * {self.write(v, (*outer, n, d), depth + 1)})"
