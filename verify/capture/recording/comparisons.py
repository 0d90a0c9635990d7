# SPDX-License-Identifier: Apache-2.0
"""The comparisons of torch.testing and numpy.testing, which call no function of torch that a mode sees."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from verify.capture.recording.arrays import ArrayRecorder
from verify.capture.recording.recorder import Recorder

DIFFERENT = "Lanecheck lets this comparison differ, to see whether the test fails then"


def install_comparisons(recorder: Recorder, arrays: ArrayRecorder) -> None:
    """Record the comparisons of torch.testing and numpy.testing in place of making them."""
    _install_torch(recorder)
    _install_numpy(recorder, arrays)
    _install_approx(recorder, arrays)


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
            equal = []
            for x, y in pairs:
                equal.append(recorder.compare("assert_close", recorder.read_tensor(x), recorder.read_tensor(y)))
                recorder.note_tolerances((), options)
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
        for given, wanted in zip(actual, expected, strict=True):
            yield from _pairs(torch, given, wanted)
    else:
        raise TypeError(f"cannot compare {type(actual).__name__} with {type(expected).__name__}")


def _install_numpy(recorder: Recorder, arrays: ArrayRecorder) -> None:
    """Replace the comparisons of numpy and numpy.testing, for arrays whose numbers are recorded."""
    testing: Any = importlib.import_module("numpy.testing")
    numpy: Any = importlib.import_module("numpy")

    def read_value(value: Any) -> Any:
        return recorder.read_tensor(value) if isinstance(value, recorder.torch.Tensor) else arrays.read_array(value)

    def compare(name: str, real: Callable[..., Any], actual: Any, desired: Any, *args: Any, **kwargs: Any) -> Any:
        with recorder.torch._C.DisableTorchFunction():
            if not _are_recorded(recorder, arrays, actual, desired):
                return real(actual, desired, *args, **kwargs)
            equal = recorder.compare(name, read_value(actual), read_value(desired))
            recorder.note_tolerances(args if name.endswith("allclose") else (), kwargs)
            return equal

    def replace(module: Any, name: str) -> None:
        real = getattr(module, name)

        def answer(actual: Any, desired: Any, *args: Any, **kwargs: Any) -> Any:
            return compare(name, real, actual, desired, *args, **kwargs)

        def check(actual: Any, desired: Any, *args: Any, **kwargs: Any) -> None:
            if compare(name, real, actual, desired, *args, **kwargs) is False:
                raise AssertionError(DIFFERENT)

        setattr(module, name, check if module is testing else answer)

    for name in "assert_allclose assert_array_equal assert_array_almost_equal assert_almost_equal assert_equal".split():
        replace(testing, name)
    for name in ("allclose", "array_equal"):
        replace(numpy, name)


def _install_approx(recorder: Recorder, arrays: ArrayRecorder) -> None:
    """Replace what `array == pytest.approx(other)` asks, where pytest runs."""
    module: Any = sys.modules.get("_pytest.python_api")  # the classes have no public name
    if module is None:
        return
    real = module.ApproxNumpy.__eq__

    def equal(approx: Any, actual: Any) -> Any:
        with recorder.torch._C.DisableTorchFunction():
            if not _are_recorded(recorder, arrays, actual, approx.expected):
                return real(approx, actual)
            tensor = isinstance(actual, recorder.torch.Tensor)
            side = recorder.read_tensor(actual) if tensor else arrays.read_array(actual)
            equal = recorder.compare("approx", side, arrays.read_array(approx.expected))
            recorder.note_tolerances((approx.rel, approx.abs), {})
            return equal

    module.ApproxNumpy.__eq__ = equal


def _are_recorded(recorder: Recorder, arrays: ArrayRecorder, *sides: Any) -> bool:
    """Return whether two sides are tensors or arrays of one shape, of which one at least was recorded."""
    tensor, array = recorder.torch.Tensor, np.ndarray
    if not all(isinstance(side, (tensor, array)) for side in sides) or sides[0].shape != sides[1].shape:
        return False
    if any(isinstance(side, array) and (not side.size or side.dtype.hasobject) for side in sides):
        return False
    return any(isinstance(side, tensor) or arrays.is_known(side) for side in sides)
