# SPDX-License-Identifier: Apache-2.0
"""Gradients as claims: what the text of each operation's gradient is, against torch's own on random tensors."""

import importlib
import random
from typing import Any

import numpy as np
import pytest

from tests.verify.capture.test_operations import (
    COMPUTED,
    arguments,
    call,
    describe,
    evaluate,
    needs_torch,
    read_array,
    word_of,
)
from verify.capture.contents import Contents, TensorReading
from verify.capture.expressions import GivenArray, Writer
from verify.capture.places import Unchecked
from verify.capture.table import TorchOperation
from verify.kernel.claims.expression import read_claim

ROUGH = "abs maximum minimum clamp clip leaky_relu".split()  # of which the derivative jumps
NO_NUMBERS = "flatten char short int long bool copy_ tensor as_tensor asarray from_numpy type".split()
ROWS = [
    (name, row)
    for name, row in COMPUTED
    if not (row.random or row.constant or row.gradient or word_of(name) in NO_NUMBERS or "_i" in name)
    and not (word_of(name).endswith("_") and not word_of(name).endswith("__"))
]


class Recorded:
    """The log of one call, and the writer of its gradients."""

    def __init__(self) -> None:
        self.table: dict[str, Any] = {}
        self.arrays: list[GivenArray] = []
        self.numbers: dict[str, Any] = {}

    def keep(self, tensor: Any, grad: bool) -> dict[str, Any]:
        number = len(self.table)
        self.table[str(number)] = {"kind": "source", "at": "", "dtype": str(tensor.dtype).removeprefix("torch.")}
        reading = describe(number, tensor)
        name = "ABCDEFG"[len(self.arrays)]
        self.arrays.append(GivenArray(name, TensorReading.of(reading)))
        self.numbers[name] = tensor
        return {"reading": {**reading, "grad": grad}}

    def compute(self, name: str, args: list[Any], result: Any, kwargs: Any = None) -> dict[str, Any]:
        number = len(self.table)
        reading = {**describe(number, result), "grad": bool(result.requires_grad)}
        layout = {key: reading[key] for key in ("offset", "shape", "strides")}
        self.table[str(number)] = {
            "kind": "op", "op": name, "args": args, "kwargs": kwargs or {}, "at": "", "dtype": reading["dtype"],
            "layout": layout,
        }  # fmt: skip
        return {"reading": reading}

    def evaluate(self, made: dict[str, Any]) -> Any:
        reading = TensorReading.of(made["reading"])
        writer = Writer(Contents(self.table, lambda launch: frozenset()), -1, self.arrays)
        names = tuple("abcd"[axis] for axis in range(len(reading.shape)))
        writer.sizes.update(zip(names, reading.shape, strict=True))
        _, value = read_claim(f"Z[{','.join(names) or 'i'}] = {writer.write(reading, names)}", double=True)
        numbers = {
            array.name: read_array(array, self.numbers[array.name].detach()) for array in self.arrays if array.named
        }
        axes = {index: at for at, index in enumerate([*names, *(name for name in writer.sizes if name not in names)])}
        evaluated = evaluate(value, numbers, axes, writer.sizes)
        evaluated = evaluated.reshape(evaluated.shape[: len(names)]) if evaluated.ndim else evaluated
        return np.broadcast_to(evaluated, reading.shape)


def gradients(torch: Any, name: str, given: list[Any], kwargs: Any = None) -> list[tuple[Any, Any]]:
    """(what the text of a gradient gives, what torch gives) for each tensor of a call."""
    leaves = [
        argument.detach().clone().requires_grad_() if isinstance(argument, torch.Tensor) else argument
        for argument in given
    ]
    result = call(torch, name)(*leaves, **(kwargs or {}))
    adjoint = torch.rand_like(result)
    result.backward(adjoint)
    pairs = []
    for leaf in (argument for argument in leaves if isinstance(argument, torch.Tensor)):
        log = Recorded()
        read = {id(argument): log.keep(argument, True) for argument in leaves if isinstance(argument, torch.Tensor)}
        made = log.compute(name, [read.get(id(argument), argument) for argument in leaves], result, kwargs)
        args = [made, log.keep(adjoint, False), read[id(leaf)]]
        pairs.append((log.evaluate(log.compute("torch.autograd.grad", args, leaf.grad)), leaf.grad.numpy()))
    return pairs


@needs_torch
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[name for name, _ in ROWS])
def test_a_gradient_is_what_torch_computes(name: str, row: TorchOperation) -> None:
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(random.Random(name).getrandbits(32))
    given = arguments(torch, name, row)
    given = [given[0], 2] if name.endswith(("pow", "pow__")) else given
    given = [given[0], *given[0].shape] if name.endswith("reshape") and "Tensor" in name else given
    given = [given[0], given[0].shape] if name == "torch.reshape" else given
    given = [given[0], 0.25, 0.75] if word_of(name) in ("clamp", "clip") else given
    given = [given[0], torch.float32] if name == "torch.Tensor.to" else given
    if word_of(name).strip("_") in ROUGH:
        with pytest.raises(Unchecked, match="derivative"):
            gradients(torch, name, given)
        return
    for written, wanted in gradients(torch, name, given):
        np.testing.assert_allclose(written, wanted, rtol=1e-5 if wanted.dtype == np.float64 else 1e-2, atol=1e-7)


@needs_torch
@pytest.mark.parametrize(
    ("name", "shapes", "kwargs"),
    [
        ("torch.matmul", ((2, 3, 4), (4, 5)), {}),
        ("torch.nn.functional.linear", ((3, 4), (5, 4), (5,)), {}),
        ("torch.nn.functional.scaled_dot_product_attention", ((2, 4, 3), (2, 4, 3), (2, 4, 3)), {"is_causal": True}),
        ("torch.Tensor.add", ((3, 4), (4,)), {}),
        ("torch.Tensor.mul", ((3, 4), (3, 1)), {}),
        ("torch.nn.functional.rms_norm", ((3, 4), (4,)), {"eps": 1e-5}),
        ("torch.nn.functional.layer_norm", ((3, 4), (4,), (4,)), {}),
        ("torch.var", ((3, 4),), {"dim": 1}),
        ("torch.mean", ((3, 4),), {"dim": 0, "keepdim": True}),
    ],
)
def test_a_gradient_of_other_shapes_is_what_torch_computes(name: str, shapes: Any, kwargs: Any) -> None:
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(len(name))
    given = [torch.rand(shape, dtype=torch.float64) for shape in shapes]
    if name.endswith("_norm"):
        given[1:1] = [[4]]
    for written, wanted in gradients(torch, name, given, kwargs):
        np.testing.assert_allclose(written, wanted, rtol=1e-5, atol=1e-7)


def square(log: Recorded, x: Any, flags: tuple[bool, bool]) -> Any:
    """The gradient of x * x, of which some factors were detached."""
    reading = log.keep(x, True)
    factors = [{"reading": {**reading["reading"], "grad": flag}} for flag in flags]
    made = log.compute("torch.Tensor.mul", factors, x)
    made["reading"]["grad"] = True
    return log.evaluate(log.compute("torch.autograd.grad", [made, None, reading], x))


@needs_torch
def test_no_gradient_flows_through_what_was_detached() -> None:
    torch: Any = importlib.import_module("torch")
    x = torch.rand(5, dtype=torch.float64)
    np.testing.assert_allclose(square(Recorded(), x, (True, True)), 2 * x.numpy())
    np.testing.assert_allclose(square(Recorded(), x, (True, False)), x.numpy())
    with pytest.raises(Unchecked, match="no gradient flows"):
        square(Recorded(), x, (False, False))


@needs_torch
def test_a_gradient_flows_through_what_the_kernel_is_given_too() -> None:
    """The kernel gets y = x.float(), and the gradient is that of x."""
    torch: Any = importlib.import_module("torch")
    log, x = Recorded(), torch.rand(5, dtype=torch.float64)
    first = log.keep(x, True)
    copy = log.compute("torch.clone", [first], x.clone())
    copy["reading"]["grad"] = True
    log.arrays.insert(0, GivenArray("Y", TensorReading.of(copy["reading"])))
    log.numbers["Y"] = x
    made = log.compute("torch.Tensor.mul", [copy, copy], x)
    made["reading"]["grad"] = True
    written = log.evaluate(log.compute("torch.autograd.grad", [made, None, first], x))
    np.testing.assert_allclose(written, 2 * x.numpy())
