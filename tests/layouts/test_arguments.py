# SPDX-License-Identifier: Apache-2.0
"""Every public operation on every kind of object: a result or a LayoutError, never an error from inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import layouts
from layouts import ComposedLayout, Layout, LayoutError, Swizzle, coalesce, composition, left_inverse, make_layout
from layouts.arguments import naming_arguments
from layouts.tensor import identity_layout, xor_layout

SWIZZLE = Swizzle(2, 0, 2)
KINDS: dict[str, Any] = {
    "layout": Layout.parse("(4,8):(8,1)"),
    "nested": Layout.parse("((2,2),8):((8,16),1)"),
    "composed": composition(SWIZZLE, Layout((4, 4), (4, 1))),
    "with an offset": ComposedLayout(SWIZZLE, 4, Layout((4, 4), (4, 1))),
    "composed twice": composition(Layout((2, 2, 4), (2, 1, 4)), SWIZZLE),
    "of coordinates": identity_layout((4, 8)),
    "of xor": xor_layout((4, 4), (1, 5)),
    "swizzle": SWIZZLE,
    "int": 4,
    "shape": (4, 8),
    "None": None,
    "text": "(4,8):(8,1)",
}
SAMPLED = ("fit", "from_samples")  # of tables and functions, not of layouts
OPERATIONS = [
    name for name in layouts.__all__
    if inspect.isroutine(getattr(layouts, name)) or inspect.isclass(getattr(layouts, name))
    if name not in SAMPLED and not name.endswith("Error")
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_operation_fails_from_inside(name: str) -> None:
    operation, count = getattr(layouts, name), 0
    for chosen in (*product(KINDS, repeat=1), *product(KINDS, repeat=2)):
        arguments = [KINDS[kind] for kind in chosen]
        if fits(operation, arguments):
            try_operation(operation, chosen, *arguments)
            count += 1
    for kind, filler in product(KINDS, (1, (4, 8), KINDS["layout"])):
        if fits(operation, [KINDS[kind], filler, 2]):
            try_operation(operation, (kind,), KINDS[kind], filler, 2)
            count += 1
    assert count >= len(KINDS), "hardly any arguments fit it"


METHODS = {
    "call": lambda layout, x: layout(x),
    "mode": lambda layout, x: layout[x] if isinstance(x, int) else None,
    "modes": lambda layout, x: list(layout),
    "text": lambda layout, x: str(layout),
    "equal": lambda layout, x: layout == x,
    "parse": lambda layout, x: Layout.parse(x),
    "shape": lambda layout, x: Layout(x),
    "stride": lambda layout, x: Layout((4, 8), x),
}


@pytest.mark.parametrize("name", METHODS)
def test_no_method_fails_from_inside(name: str) -> None:
    holders = [kind for kind, argument in KINDS.items() if isinstance(argument, (Layout, ComposedLayout))]
    assert len(holders) > 5
    for first, second in product(holders, KINDS):
        try_operation(METHODS[name], (first, second), KINDS[first], 0 if name == "mode" else KINDS[second])


def fits(operation: Callable[..., Any], arguments: list[Any]) -> bool:
    try:
        inspect.signature(operation).bind(*arguments)
    except TypeError:
        return False
    return True


def try_operation(operation: Callable[..., Any], chosen: tuple[str, ...], *arguments: Any) -> None:
    caught: Exception | None = None
    try:
        operation(*arguments)
    except Exception as error:
        caught = error
    assert caught is None or isinstance(caught, LayoutError), f"{chosen}: {type(caught).__name__}: {caught}"
    assert caught is None or (str(caught) and "\n" not in str(caught)), chosen


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: coalesce(KINDS["composed"]), "coalesce: layout must be a layout with integer strides, got the "
         "composed layout Sw<2,0,2> o 0 o (4,4):(4,1), which has no strides (its layout_b has: (4,4):(4,1))"),
        (lambda: left_inverse(KINDS["of coordinates"]), "left_inverse: layout must be a layout with integer strides, "
         "composed with a swizzle or not, got the layout (4,8):(1@0,1@1), whose strides aren't integers"),
        (lambda: make_layout(Layout(4), 8), "make_layout: layouts must be a layout with integer strides, got 8 "
         "(Layout(8) is the compact layout of this shape)"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_the_message_names_the_argument_and_the_way_out(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(LayoutError) as caught:
        call()
    assert str(caught.value) == text


def test_a_bug_of_ours_is_not_blamed_on_the_arguments() -> None:
    def broken(layout: Layout) -> Any:
        return layout.extent  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="extent"):
        naming_arguments(broken)(Layout(4))
    with pytest.raises(TypeError, match="missing 1 required"):
        coalesce()  # type: ignore[call-arg]
