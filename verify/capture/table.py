# SPDX-License-Identifier: Apache-2.0
"""The operations of torch that an expression may have: the rows of `operations.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("operations.toml")


@dataclass(frozen=True)
class TorchOperation:
    """One row: the functions of torch that it means, and what they compute."""

    names: tuple[str, ...]  # as torch.overrides.resolve_name gives them
    parameters: Mapping[str, Any]  # name -> its default; those without one are tensors or must be given
    text: str = ""  # of each element of the result, in the language of claims
    relation: str = ""  # of a truth value: which comparison of a and b it is, or "not", "and", "or"
    choice: bool = False  # a where the condition is true, else b
    triangle: str = ""  # a on one side of a diagonal, else 0: how the column compares with the row
    range: bool = False  # integers from 0 up
    product: bool = False  # the sum of products over the last index of a and the last but one of b
    attention: bool = False  # softmax(scale * q @ k) @ v over the last two indices of each
    sum: str = ""  # "sum", "mean", "variance" or "logsumexp" over indices; "softmax" and "log_softmax" keep the index
    norm: str = ""  # "layer_norm" or "rms_norm" over the last indices
    joins: str = ""  # "cat" of tensors along an index, or "stack" along a new one
    gradient: bool = False  # what autograd gives, of a result, the gradient there, and the tensor whose gradient it is
    einsum: bool = False  # the sum of products that its first argument writes
    cast: bool = False  # the same numbers in another type, or at another place
    constant: str = ""  # the number that every element is; "value" for the parameter of that name
    random: bool = False  # numbers that are drawn: any number of the type could be among them


REQUIRED = object()


@cache
def read_table() -> tuple[TorchOperation, ...]:
    """Return the rows of the table."""
    rows = tomllib.loads(FILE.read_text("utf-8"))["operation"]
    made = []
    for row in rows:
        parameters = {name: REQUIRED for name in row.pop("given", ())} | row.pop("defaults", {})
        made.append(TorchOperation(tuple(row.pop("names")), parameters, **row))
    return tuple(made)


@cache
def by_name() -> Mapping[str, TorchOperation]:
    """Return the row of each function."""
    return {name: row for row in read_table() for name in row.names}
