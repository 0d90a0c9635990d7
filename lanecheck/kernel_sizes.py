# SPDX-License-Identifier: Apache-2.0
"""`lanecheck_sizes = {"m": 65, "k": 40}` in a module of tests: more sizes, at which its tests are run again.

A name is an argument of a test (one that parametrize gives, or with a default) or a number of the module. The test's
own code makes the tensors and the launch at these sizes, so its asserts and its grid hold.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

NAME = "lanecheck_sizes"


class SizesError(ValueError):
    """What is wrong with the sizes that a module names, and the way out."""


class NamedSizes:
    """The sizes that the modules of a run name, and which of them a test was run at."""

    def __init__(self) -> None:
        self.modules: dict[str, tuple[str, list[Mapping[str, int]], set[int]]] = {}
        self.errors: dict[str, tuple[str, str]] = {}  # module -> (test, why)
        self.chosen = False  # whether some tests of a module were left out: those may have the names

    def read_tables(self, item: Any) -> list[Mapping[str, int]]:
        """Return the tables of the module of a test."""
        module = getattr(item, "module", None)
        name = getattr(module, "__name__", "")
        if name not in self.modules:
            self.modules[name] = (item.nodeid.partition("::")[0], [], set())
            try:
                self.modules[name][1].extend(list_sizes(module))
            except SizesError as error:
                self.errors[name] = (self.modules[name][0], f"{NAME}: {error}")
        return self.modules[name][1]

    def place(self, item: Any, number: int) -> None:
        """Note that a test runs at the sizes of a table."""
        self.modules[item.module.__name__][2].add(number)

    def complain(self) -> Iterator[tuple[str, str]]:
        """Yield (file, what is wrong) of sizes that are none, or that no test was run at."""
        yield from self.errors.values()
        for file, tables, placed in () if self.chosen else self.modules.values():
            for number, table in enumerate(tables):
                if number not in placed:
                    names = " and ".join(table)
                    yield (
                        file,
                        f"{NAME}: no test that ran has {names}, as an argument that parametrize or a default gives",
                    )


def list_sizes(module: Any) -> list[Mapping[str, int]]:
    """Return the tables of sizes of a module: one, or a list of several; raises SizesError."""
    given = getattr(module, NAME, [])
    tables = [given] if isinstance(given, Mapping) else given
    form = 'give a table such as {"m": 65}, or a list of them'
    if not isinstance(tables, (list, tuple)) or not all(isinstance(table, Mapping) and table for table in tables):
        raise SizesError(f"{given!r} isn't a table of sizes: {form}")
    for table in tables:
        for name, value in table.items():
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise SizesError(f"{name} = {value!r} isn't a size: {form}")
    return list(tables)


def place_sizes(item: Any, table: Mapping[str, int]) -> bool:
    """Return whether a test has all names of a table, as arguments that can be chosen or numbers of its module."""
    return all(name in list_arguments(item) or is_constant(item.module, name) for name in table)


def is_constant(module: Any, name: str) -> bool:
    """Return whether a module has an integer of a name."""
    return type(getattr(module, name, None)) is int


def list_arguments(item: Any) -> set[str]:
    """Return the arguments of a test whose value can be chosen: those of parametrize, and those with a default."""
    given = {
        name
        for name, parameter in inspect.signature(item.function).parameters.items()
        if parameter.default is not parameter.empty
    }
    return given | {name for params in list_params(item) for name in params}


def list_params(item: Any) -> list[dict[str, Any]]:
    """Return the values that parametrize gives; pytest before 8 has those of arguments and fixtures apart."""
    callspec = getattr(item, "callspec", None)
    return [] if callspec is None else [callspec.params, getattr(callspec, "funcargs", {})]


@contextmanager
def set_sizes(item: Any, table: Mapping[str, int]) -> Iterator[None]:
    """Give a test the values of a table while it runs, and its own again."""
    function, module = item.function, item.module
    owner = getattr(function, "__wrapped__", function)
    before = [(values, dict(values)) for values in list_params(item)]
    defaults, constants = (owner.__defaults__, owner.__kwdefaults__), dict[str, int]()
    for name, value in table.items():
        params = next((values for values, _ in before if name in values), None)
        if params is not None:
            params[name] = value
        elif name in list_arguments(item):
            _set_default(owner, name, value)
        else:
            constants[name] = getattr(module, name)
            setattr(module, name, value)
    try:
        yield
    finally:
        for values, old in before:
            values.update(old)
        owner.__defaults__, owner.__kwdefaults__ = defaults
        for name, value in constants.items():
            setattr(module, name, value)


def _set_default(function: Any, name: str, value: int) -> None:
    """Let an argument of a function have another default."""
    if name in (function.__kwdefaults__ or {}):
        function.__kwdefaults__ = {**function.__kwdefaults__, name: value}
        return
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    values = list(function.__defaults__ or ())
    values[names.index(name) - len(names) + len(values)] = value
    function.__defaults__ = tuple(values)
