# SPDX-License-Identifier: Apache-2.0
"""Parts of tensors in a reference, and tensors that are joined: what the text gives, against torch."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.verify.capture.test_gradients import Recorded
from tests.verify.capture.test_operations import call, describe, needs_torch
from verify.capture.places import Unchecked


def take(view: Callable[[Any], Any]) -> tuple[Any, Any]:
    """(what the text of twice a view gives, what torch gives)."""
    torch: Any = importlib.import_module("torch")
    log, x = Recorded(), torch.arange(6 * 8, dtype=torch.float64).reshape(6, 8) + 0.5
    reading = log.keep(x, False)["reading"]
    part = view(x)
    given = {"reading": {**describe(reading["content"], part), "grad": False}}
    wanted = part + part
    return log.evaluate(log.compute("torch.Tensor.add", [given, given], wanted)), wanted.numpy()


VIEWS: dict[str, Callable[[Any], Any]] = {
    "columns": lambda x: x[:, 4:],
    "chunk": lambda x: x.chunk(2, dim=1)[1],
    "split": lambda x: x.split(2)[1],
    "box": lambda x: x[1:4, 2:7],
    "every second": lambda x: x[:, ::2],
    "every third": lambda x: x[1::2, 1::3],
    "row": lambda x: x[2],
    "column": lambda x: x[:, 3],
    "turned": lambda x: x.t()[4:],
    "unbind": lambda x: x.unbind(1)[5],
    "narrow": lambda x: x.narrow(1, 2, 3).unsqueeze(0),
}


@needs_torch
@pytest.mark.parametrize("name", VIEWS)
def test_a_part_is_what_torch_reads(name: str) -> None:
    written, wanted = take(VIEWS[name])
    np.testing.assert_array_equal(written, wanted)


@needs_torch
def test_a_part_that_no_indices_describe_is_refused() -> None:
    with pytest.raises(Unchecked, match="reads a part of A that no indices describe"):
        take(lambda x: x.reshape(12, 4)[1:])


@needs_torch
@pytest.mark.parametrize("name", ["torch.cat", "torch.concat", "torch.concatenate", "torch.stack"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_joined_tensors_are_what_torch_joins(name: str, dim: int) -> None:
    torch: Any = importlib.import_module("torch")
    log, parts = Recorded(), [torch.rand(3, 4, dtype=torch.float64) for _ in range(3)]
    wanted = call(torch, name)(parts, dim)
    made = log.compute(name, [[log.keep(part, False) for part in parts], dim], wanted)
    np.testing.assert_array_equal(log.evaluate(made), wanted.numpy())


@needs_torch
@pytest.mark.parametrize("name", ["numpy.concatenate", "numpy.stack"])
def test_joined_arrays_are_what_numpy_joins(name: str) -> None:
    torch: Any = importlib.import_module("torch")
    log, parts = Recorded(), [torch.rand(3, 4, dtype=torch.float64) for _ in range(2)]
    wanted = getattr(np, name.rpartition(".")[2])([part.numpy() for part in parts], axis=1)
    made = log.compute(name, [[log.keep(part, False) for part in parts]], torch.tensor(wanted), {"axis": 1})
    np.testing.assert_array_equal(log.evaluate(made), wanted)


@needs_torch
def test_joined_parts_of_which_one_begins_elsewhere_are_refused() -> None:
    torch: Any = importlib.import_module("torch")
    log, parts = Recorded(), [torch.rand(4, dtype=torch.float64), torch.rand(6, dtype=torch.float64)]
    wanted = torch.cat(parts)
    with pytest.raises(Unchecked, match="begins at no multiple of its extent"):
        log.evaluate(log.compute("torch.cat", [[log.keep(part, False) for part in parts]], wanted))


@needs_torch
def test_a_part_of_what_was_computed_is_what_torch_reads() -> None:
    torch: Any = importlib.import_module("torch")
    log, x = Recorded(), torch.rand(4, 6, dtype=torch.float64)
    double = x + x
    made = log.compute("torch.Tensor.add", [log.keep(x, False)] * 2, double)["reading"]
    part = double[:, 3:]
    given = {"reading": {**describe(made["content"], part), "grad": False}}
    wanted = part * part
    np.testing.assert_allclose(log.evaluate(log.compute("torch.Tensor.mul", [given, given], wanted)), wanted.numpy())
