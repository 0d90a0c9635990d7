# SPDX-License-Identifier: Apache-2.0
"""Whether a test that compares element by element rests on all of them: `(a == b)[::2].all()` doesn't.

Each reading of the answers is followed, from the number that the program uses back to the comparison: it must be a
whole tensor, and each operation one through which every element counts. What is not known here isn't a claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from verify.capture.contents import Contents, TensorReading, say_made

# Operations by their last names, without `_`: of one operand, each element of which counts,
ALONE = frozenset(
    "abs absolute fabs neg negative square sqrt rsqrt isnan isinf isfinite logical_not bitwise_not invert all any max "
    "min amax amin mean sum nansum norm vector_norm linalg_norm linalg_vector_norm count_nonzero rsub item "
    "logical_and.reduce logical_or.reduce add.reduce maximum.reduce minimum.reduce multiply.reduce".split()
)
# with a tolerance, which may be a tensor,
SCALED = frozenset("lt le gt ge less less_equal greater greater_equal truediv div divide true_divide".split())
# and with a number that isn't zero, or a tensor that was made of the same comparison.
JOINED = frozenset(
    "eq ne equal not_equal add radd sub subtract mul rmul multiply pow power float_power and or logical_and logical_or "
    "bitwise_and bitwise_or maximum minimum rtruediv".split()
)
SINGLY = ("tolist", "tobytes", "__iter__", "__getitem__", "where")  # uses of which the program may leave out some


def explain_part(contents: Contents, events: list[Mapping[str, Any]], number: int) -> str:
    """Return why a comparison of elements may not be of all of them, in words; empty if it is."""
    seen = False
    for event in events:
        if event["kind"] != "use" or number not in _list_compared(contents, event["content"]):
            continue
        reading = TensorReading.of(event)
        why = _explain(contents, reading, number)
        if why:
            return why
        if len(reading.places) > 1 and event["how"] in SINGLY:
            return f"a part of the answers may be read ({event['how']}, {event['at']})"
        seen = True
    return "" if seen else "what the test makes of the answers was not seen"


def _list_compared(contents: Contents, number: int) -> set[int]:
    """Return the comparisons of elements that a content was made of."""
    made = (contents.table[source] for source in contents.closure(number))
    return {content["number"] for content in made if content["kind"] == "compared"}


def _explain(contents: Contents, reading: TensorReading, number: int) -> str:
    """Return why not all elements of a comparison count in a reading; empty if they do."""
    content = contents.table[reading.content]
    said = f"the comparison ({content['at']})" if content["kind"] == "compared" else say_made(content)
    layout = content.get("layout")
    if layout is None or reading.places.distinct < int(np.prod(layout["shape"], dtype=object)):
        return (
            f"a part of {said} is read ({content['at']})" if said == "the comparison" else f"a part of {said} is read"
        )
    if content["kind"] == "compared":
        return ""
    if content["kind"] != "op" or not _is_whole(contents, reading.content, number):
        return f"{said} may leave out elements of the comparison"
    given = _list_readings(content)
    return next(
        filter(None, (_explain(contents, operand, number) for operand in given if _rests(contents, operand, number))),
        "",
    )


def _rests(contents: Contents, reading: TensorReading, number: int) -> bool:
    return number in _list_compared(contents, reading.content)


def _list_readings(content: Mapping[str, Any]) -> Iterator[TensorReading]:
    for argument in content["args"]:
        if isinstance(argument, dict) and "reading" in argument:
            yield TensorReading.of(argument["reading"])


def _is_whole(contents: Contents, made: int, number: int) -> bool:
    """Return whether each element of its operands counts in what an operation made of them."""
    content, row = contents.table[made], contents.operation(made)
    if row is not None and row.cast:
        return True
    name = content["op"].removeprefix("numpy.").removesuffix("[0]")
    name = (name if name.endswith(".reduce") else name.rpartition(".")[2]).strip("_")
    if any(content["kwargs"].get(key) is not None for key in ("where", "out", "initial")):
        return False
    tensors = list(_list_readings(content))
    constants = [argument for argument in content["args"] if not (isinstance(argument, dict) and "reading" in argument)]
    if name in ALONE:
        return len(tensors) == 1
    if name in SCALED:
        return bool(tensors)
    return (
        name in JOINED
        and not any(constant == 0 and name in ("mul", "rmul", "multiply") for constant in constants)
        and all(_rests(contents, tensor, number) for tensor in tensors)
    )
