# SPDX-License-Identifier: Apache-2.0
"""The comparisons of torch.testing and numpy.testing, which call no function of torch that a mode sees."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from verify.capture.recording.recorder import Recorder

DIFFERENT = "Lanecheck lets this comparison differ, to see whether the test fails then"


def install_comparisons(recorder: Recorder) -> None:
    """Record the comparisons of torch.testing and numpy.testing in place of making them."""
    _install_torch(recorder)
    _install_numpy(recorder)


def _install_torch(recorder: Recorder) -> None:
    """Replace the function that torch.testing.assert_close looks up whenever it is called, however it was imported."""
    torch: Any = recorder.torch
    module: Any = importlib.import_module("torch.testing._comparison")
    real, error = module.not_close_error_metas, module.ErrorMeta

    def not_close_error_metas(actual: Any, expected: Any, **options: Any) -> Any:
        with torch._C.DisableTorchFunction():
            pairs = list(_pairs(torch, actual, expected))
            differ = options.get("check_dtype", True)
            known = pairs and all(
                x.shape == y.shape and (x.dtype == y.dtype or not differ) and x.layout == torch.strided == y.layout
                for x, y in pairs
            )
            if not known:
                return real(actual, expected, **options)
            equal = [
                recorder.compare("assert_close", recorder.read_tensor(x), recorder.read_tensor(y)) for x, y in pairs
            ]
        return [] if all(equal) else [error(AssertionError, DIFFERENT)]

    module.not_close_error_metas = not_close_error_metas


def _pairs(torch: Any, actual: Any, expected: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of tensors that two values hold in the same places; nothing if they hold something else."""
    if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
        yield actual, expected
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping) and actual.keys() == expected.keys():
        for key in actual:
            yield from _pairs(torch, actual[key], expected[key])
    elif isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)) and len(actual) == len(expected):
        for one, two in zip(actual, expected, strict=True):
            yield from _pairs(torch, one, two)
    else:
        raise TypeError(f"cannot compare {type(actual).__name__} with {type(expected).__name__}")


def _install_numpy(recorder: Recorder) -> None:
    """Replace the assertions of numpy.testing, for arrays that are tensors' numbers."""
    testing = importlib.import_module("numpy.testing")

    def replace(name: str) -> Callable[..., None]:
        real = getattr(testing, name)

        def compare(actual: Any, desired: Any, *args: Any, **kwargs: Any) -> None:
            with recorder.torch._C.DisableTorchFunction():
                sides = [_reading(recorder, one) for one in (actual, desired)]
                shapes = {getattr(one, "shape", None) for one in (actual, desired)}
                if None in sides or len(shapes) > 1:
                    _note_arrays(recorder, (actual, desired), name)
                    real(actual, desired, *args, **kwargs)
                    return
                if not recorder.compare(name, *(one for one in sides if one is not None)):
                    raise AssertionError(DIFFERENT)

        return compare

    for name in ("assert_allclose", "assert_array_equal", "assert_array_almost_equal", "assert_equal"):
        setattr(testing, name, replace(name))


def _reading(recorder: Recorder, value: Any) -> Mapping[str, Any] | None:
    """Return the reading of a tensor, or of an array that a tensor gave."""
    if isinstance(value, recorder.torch.Tensor):
        found: Mapping[str, Any] = recorder.read_tensor(value)
        return found
    known = recorder.arrays.get(id(value))
    return known[1] if known and known[0] is value else None


def _note_arrays(recorder: Recorder, values: tuple[Any, Any], name: str) -> None:
    """Note that numbers of tensors are compared with numbers of which nothing is known."""
    for value in values:
        reading = _reading(recorder, value)
        if reading is not None:
            recorder.events.append({"kind": "use", "how": name, "content": reading["content"], "at": ""})
