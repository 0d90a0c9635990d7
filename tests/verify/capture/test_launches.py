# SPDX-License-Identifier: Apache-2.0
"""Tensor descriptors of the host as parameters of a launch: what a claim says of them, and what it can't say."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from verify.capture.recording.device import TargetGpu
from verify.capture.recording.launches import Launches, UnknownArgument, expand_descriptor
from verify.capture.recording.recorder import Recorder

MAP = {"swizzle": 2, "elem_size": 2, "elem_type": 6, "block_size": [64, 32], "fp4_padded": False, "is_im2col": False}


class OutOfResources(Exception):
    """As Triton names what the target lacks."""


class Memory:
    """A tensor, of which nothing but its address is asked."""

    dtype = "float32"


class Recording(Recorder):
    """A recorder that knows what each tensor holds by its address."""

    def __init__(self) -> None:
        inner = SimpleNamespace(DisableTorchFunction=nullcontext, _storage_Use_Count=len)
        super().__init__(SimpleNamespace(Tensor=Memory, _C=inner))
        self.held: dict[int, int] = {}

    def track(self, tensor: Any) -> Any:
        return SimpleNamespace(content=self.held.get(id(tensor), 0))


def test_what_the_autotuner_may_change_is_noted_when_it_times_a_kernel(tmp_path: Path) -> None:
    """Triton runs each configuration many times, once in a process for equal keys; it zeroes or restores some."""
    recorder, zeroed, timed = Recording(), Memory(), Memory()
    launches = Launches(recorder, TargetGpu("sm_90a"), tmp_path, "all", 1)
    noted: list[tuple[int, list[str]]] = []

    def zero(arguments: Any, reset_only: bool = False) -> None:
        recorder.held[id(zeroed)] = recorder.held.get(id(zeroed), 0) + 1

    configs = [SimpleNamespace(all_kwargs=dict, pre_hook=None) for _ in range(2)]
    tuner = SimpleNamespace(
        arg_names=("x", "y", "z", "n"), keys=("n",), restore_value=("z",), configs=configs, pre_hook=zero,
        prune_configs=lambda kwargs: configs,
        fn=SimpleNamespace(run=lambda *args, **kwargs: noted.append((args[-1], list(launches.timed)))),
    )  # fmt: skip

    def run_test(*sizes: int, begins: bool = True) -> list[list[str]]:
        noted.clear()
        recorder.test += begins
        recorder.start()
        for n in sizes:
            launches.tune(tuner, (zeroed, timed, Memory(), n), {})
        return [names for _, names in noted[::2]]

    assert run_test(5, 5, 6) == [["y"], [], ["y"]]  # the second launch has its answer
    assert run_test(5, 6, begins=False) == [["y"], ["y"]]  # the test runs again, as if it was the first time
    assert run_test(5, 7) == [[], ["y"]]  # another test, in the same process
    assert recorder.held[id(zeroed)] == 2 * (2 + 2 + 1)


def tune(tmp_path: Path, sizes: list[int], limit: int, error: type[Exception] = OutOfResources) -> list[int]:
    """The sizes of an autotuned kernel that are launched, where more than the limit does not fit."""
    recorder = Recording()
    launched = []

    def launch(size: int) -> int:
        if size > limit:
            raise error(size)
        launched.append(size)
        return size

    configs = [SimpleNamespace(all_kwargs=lambda size=size: {"size": size}, pre_hook=None) for size in sizes]
    tuner = SimpleNamespace(
        arg_names=(), keys=(), restore_value=(), configs=configs, prune_configs=lambda kwargs: configs,
        pre_hook=lambda *_, **__: None, fn=SimpleNamespace(run=launch),
    )  # fmt: skip
    Launches(recorder, TargetGpu("sm_90a"), tmp_path, "all", 1).tune(tuner, (), {})
    return launched


def test_a_configuration_that_does_not_fit_the_target_is_none(tmp_path: Path) -> None:
    """As Triton's own autotuner leaves it out; if none fits, the launch fails as it would on a GPU."""
    assert tune(tmp_path, [1, 5, 2], 3) == [1, 2]
    assert tune(tmp_path, [5, 2], 3) == [2]
    with pytest.raises(OutOfResources):
        tune(tmp_path, [5, 6], 3)
    with pytest.raises(ValueError, match="5"):
        tune(tmp_path, [1, 5], 3, ValueError)


def describe(**more: Any) -> SimpleNamespace:
    base = SimpleNamespace(shape=(128, 96), stride=lambda: (104, 1))
    own = {"base": base, "shape": [128, 96], "strides": [104, 1], "padding": "zero", "round_f32_to_tf32": False}
    return SimpleNamespace(**own | more)


def test_a_map_then_its_shape_and_strides() -> None:
    """The box begins with the index that is next to itself in memory, as CUDA has it."""
    parameters = list(expand_descriptor("a", describe(), MAP))
    assert parameters == [{"map": "a", "box": [32, 64], "swizzle": "64B"}, 128, 96, 104, 1]


def test_a_target_without_tensor_maps_gets_a_pointer() -> None:
    parameters = list(expand_descriptor("a", describe(), None))
    assert parameters == [{"tensor": "a"}, 128, 96, 104, 1, 0, 0, 128, 96, 104, 1]


@pytest.mark.parametrize(
    ("own", "chosen", "words"),
    [
        ({"shape": [64, 96]}, {}, "another shape than its tensor's"),
        ({"strides": [96, 1]}, {}, "another shape than its tensor's"),
        ({"padding": "nan"}, {}, "pads with NaN"),
        ({"round_f32_to_tf32": True}, {}, "rounds to tf32"),
        ({}, {"is_im2col": True}, "of an image"),
        ({}, {"fp4_padded": True}, "padded fp4"),
    ],
)
def test_other_descriptors_are_named(own: dict[str, Any], chosen: dict[str, Any], words: str) -> None:
    with pytest.raises(UnknownArgument, match=words):
        list(expand_descriptor("a", describe(**own), {**MAP, **chosen}))
