# SPDX-License-Identifier: Apache-2.0
"""Every row of the table of operations, against torch on random tensors."""

import importlib
import importlib.util
import random
import re
from typing import Any

import numpy as np
import pytest

from verify.capture.contents import Contents, TensorReading
from verify.capture.expressions import GivenArray, Writer
from verify.capture.places import ViewPlaces
from verify.capture.table import REQUIRED, TorchOperation, read_table
from verify.kernel.claims.expression import Apply, Below, ClaimNumber, Element, Scalar, Sum, read_claim

ABSENT = [name for name in ("torch",) if importlib.util.find_spec(name) is None]
needs_torch = pytest.mark.skipif(bool(ABSENT), reason="torch is not installed: pip install torch==2.13.0 (CPU build)")
EVERY = [(name, row) for row in read_table() for name in row.names]
# those of numpy are in test_arrays.py, of masks and norms in test_masks.py, of parts and gradients in their own files
ROWS = [(name, row) for name, row in EVERY if name.startswith("torch.")]
COMPUTED = [
    (name, row)
    for name, row in ROWS
    if not (
        row.relation or row.choice or row.triangle or row.range or row.norm or row.einsum or row.joins or row.gradient
    )
]
SHAPE = (6, 7)
NAME = re.compile(r"[A-Za-z_]\w*")  # in an index


def apply(name: str, parts: list[Any]) -> Any:
    """The value of a function of a claim, or of an operation, by numbers."""
    return {
        "+": np.add, "-": np.subtract, "*": np.multiply, "relu": lambda a: np.maximum(a, 0), "abs": np.abs,
        "max": np.maximum, "min": np.minimum, "where": lambda a, b, x, y: np.where(a > b, x, y), "ex2": np.exp2,
        "sqrt": np.sqrt, "rsqrt": lambda a: 1 / np.sqrt(a), "rcp": lambda a: 1 / a, "sin": np.sin, "cos": np.cos,
        "tanh": np.tanh, "lg2": np.log2,
    }[name](*parts)  # fmt: skip


def take_places(value: Any, indices: tuple[str, ...], sizes: dict[str, int]) -> Any:
    """The elements of an array along axes that have an expression of an index, `n+64`."""
    for axis, text in enumerate(indices):
        if not text.isidentifier():
            (name,) = NAME.findall(text)
            value = value.take([eval(text, {name: at}) for at in range(sizes[name])], axis)
    return value


def evaluate(node: Any, arrays: dict[str, Any], axes: dict[str, int], sizes: dict[str, int] | None = None) -> Any:
    """The value of a claim's tree by numbers, with an axis for each index."""
    if isinstance(node, ClaimNumber):
        return np.array(float(node.value))
    if isinstance(node, Below):
        return np.array(-np.inf)
    if isinstance(node, Scalar):
        assert sizes is not None
        return np.arange(sizes[node.name]).reshape([-1 if at == axes[node.name] else 1 for at in range(len(axes))])
    if isinstance(node, Element):
        value = take_places(arrays[node.name], node.indices, sizes or {})
        node = Element(node.name, tuple(NAME.findall(index)[0] for index in node.indices))
        order = sorted(range(value.ndim), key=lambda axis: axes[node.indices[axis]])
        shape = [1] * len(axes)
        for axis, index in enumerate(node.indices):
            shape[axes[index]] = value.shape[axis]
        return value.transpose(order).reshape(shape)
    if isinstance(node, Sum):
        return evaluate(node.body, arrays, axes, sizes).sum(axes[node.index], keepdims=True)
    assert isinstance(node, Apply)
    return apply(node.name, [evaluate(part, arrays, axes, sizes) for part in node.parts])


def call(torch: Any, name: str) -> Any:
    """The function of a name that torch.overrides.resolve_name gives."""
    function = importlib.import_module("torch.nn.functional") if name.startswith("torch.nn.") else torch
    for word in name.removeprefix("torch.nn.functional.").removeprefix("torch.").split("."):
        function = getattr(function, word)
    return function


def arguments(torch: Any, name: str, row: TorchOperation) -> list[Any]:
    """Arguments of a row: random tensors, with numbers where it takes no tensor."""
    word = name.rpartition(".")[2]
    shapes = {"bmm": ((2, 3, 4), (2, 4, 5)), "mv": ((3, 4), (4,)), "linear": ((3, 4), (5, 4))}.get(
        word, ((3, 4), (4, 5))
    )
    if row.product:
        return [torch.rand(shape, dtype=torch.float64) for shape in shapes]
    if row.attention:
        return [torch.rand(2, 3, 4, 5, dtype=torch.float64) for _ in "qkv"]
    if "dim" in row.parameters and row.sum not in ("sum", "mean", "variance"):
        return [torch.rand(SHAPE, dtype=torch.float64), 1]
    needed = [key for key, default in row.parameters.items() if default is REQUIRED]
    return [torch.rand(SHAPE, dtype=torch.float64) + 0.5 * (key == "b") for key in needed]


def describe(content: int, tensor: Any) -> dict[str, Any]:
    return {
        "content": content, "dtype": str(tensor.dtype).removeprefix("torch."), "offset": tensor.storage_offset(),
        "shape": list(tensor.shape), "strides": list(tensor.stride()),
    }  # fmt: skip


def read_array(array: GivenArray, tensor: Any) -> np.ndarray[Any, Any]:
    """The numbers of an array, in the order of the indices that the text gives it."""
    return (
        tensor.double()
        .reshape(-1)
        .numpy()[ViewPlaces(array.offset, array.shape, array.strides).each]
        .reshape(array.shape or 1)
    )


def evaluate_written(torch: Any, name: str, given: list[Any], result: Any) -> np.ndarray[Any, Any]:
    """The numbers of the text that is written for a call."""
    table, arrays, encoded = {}, [], []
    for argument in given:
        if isinstance(argument, torch.Tensor):
            number = len(table)
            table[str(number)] = {"kind": "source", "at": "", "dtype": str(argument.dtype).removeprefix("torch.")}
            reading = describe(number, argument)
            arrays.append(GivenArray("ABCD"[number], TensorReading.of(reading)))
            encoded.append({"reading": reading})
        else:
            encoded.append(argument)
    made = len(table)
    reading = describe(made, result)
    layout = {key: reading[key] for key in ("offset", "shape", "strides")}
    table[str(made)] = {
        "kind": "op", "op": name, "args": encoded, "kwargs": {}, "at": "", "dtype": reading["dtype"], "layout": layout,
    }  # fmt: skip
    writer = Writer(Contents(table, lambda launch: frozenset()), -1, arrays)
    names = tuple("abcd"[axis] for axis in range(result.dim()))
    writer.sizes.update(zip(names, result.shape, strict=True))
    text = writer.write(TensorReading.of(reading), names)
    _, value = read_claim(f"Z[{','.join(names) or 'i'}] = {text}", double=True)
    numbers = {}
    for array, argument in zip(arrays, (tensor for tensor in given if isinstance(tensor, torch.Tensor)), strict=True):
        numbers[array.name] = read_array(array, argument)
    axes = {index: at for at, index in enumerate([*names, *(name for name in writer.sizes if name not in names)])}
    evaluated = evaluate(value, numbers, axes)
    evaluated = evaluated.reshape(evaluated.shape[: len(names)]) if evaluated.ndim else evaluated
    return np.broadcast_to(evaluated, tuple(result.shape))


@needs_torch
@pytest.mark.parametrize(("name", "row"), COMPUTED, ids=[name for name, _ in COMPUTED])
def test_a_row_is_what_torch_computes(name: str, row: TorchOperation) -> None:
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(random.Random(name).getrandbits(32))
    function = call(torch, name)
    if row.random or row.constant:
        pytest.importorskip("torch")
        check_filled(torch, name, row, function)
        return
    for given in variants(torch, name, row):
        copies = [argument.clone() if isinstance(argument, torch.Tensor) else argument for argument in given]
        wanted = function(torch.empty_like(given[0]), *copies) if name.endswith("copy_") else function(*copies)
        exact = 1e-6 if wanted.dtype in (torch.float32, torch.float64) else 1e-2
        np.testing.assert_allclose(evaluate_written(torch, name, given, wanted), wanted.double().numpy(), rtol=exact)


def word_of(name: str) -> str:
    """The last word of a name."""
    return name.rpartition(".")[2]


def variants(torch: Any, name: str, row: TorchOperation) -> list[list[Any]]:
    """Calls of a row: with tensors, with a number for the second, broadcast, and reduced over each index."""
    first = arguments(torch, name, row)
    made = [first]
    if row.text and len(first) == 2 and not name.endswith(("maximum", "minimum")):
        made.append([first[0], 3.5])
    if row.text and len(first) == 2 and "_r" not in name:
        made.append([first[0], first[1][:1]])
    if name.endswith("linear"):
        made.append([*first, torch.rand(5, dtype=torch.float64)])
    if name.endswith(("pow", "pow__")):
        made = [[first[0], 2]]
    if word_of(name) in ("clamp", "clip"):
        made = [[first[0], 0.25, 0.75]]
    if word_of(name) in ("tensor", "as_tensor", "asarray", "from_numpy", "bool"):
        made = []  # of arrays, in test_arrays.py; truth values, in test_masks.py
    if word_of(name) in ("char", "short", "int", "long"):
        made = [[torch.randint(-99, 99, SHAPE, dtype=torch.int8)]]  # which no cast of these changes
    if row.sum == "variance":
        made += [[first[0], 1], [first[0], 0, False], [first[0], [0, 1]]]
    if row.sum in ("sum", "mean"):
        made += [[first[0], 1], [first[0], 0, True], [first[0], [0, 1]]]
    if name.endswith("reshape"):
        made = [[first[0], SHAPE]]
    if name in ("torch.Tensor.type", "torch.Tensor.to"):
        made = [[first[0], torch.float32]]
    return made


def check_filled(torch: Any, name: str, row: TorchOperation, function: Any) -> None:
    """A constant is the number of its row; numbers that are drawn differ."""
    base = torch.rand(SHAPE)
    word = name.rpartition(".")[2]
    given: list[Any] = [base] if name.startswith("torch.Tensor.") or word.endswith("_like") else [SHAPE]
    given += [SHAPE] if word.startswith("new_") else []
    given += [2.5] if row.constant == "value" else []
    given = {"randint": [0, 1000, SHAPE], "randint_like": [base, 1000], "normal": [0.0, 1.0, SHAPE]}.get(word, given)
    made = function(*given)
    if row.constant:
        assert (made == (2.5 if row.constant == "value" else float(row.constant))).all()
    else:
        assert len(set(made.flatten().tolist())) > SHAPE[0]


def test_no_function_has_two_rows() -> None:
    names = [name for name, _ in EVERY]
    assert len(names) == len(set(names))
