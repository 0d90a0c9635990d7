# SPDX-License-Identifier: Apache-2.0
"""Install everything that records, before a program's modules are imported."""

from __future__ import annotations

import importlib
from pathlib import Path

from verify.capture.recording.arrays import install_arrays
from verify.capture.recording.comparisons import install_comparisons
from verify.capture.recording.device import TargetGpu, install_device
from verify.capture.recording.launches import Launches
from verify.capture.recording.recorder import Recorder
from verify.capture.recording.torch_mode import make_mode


def install(target: str, folder: Path, configs: str, seed: int) -> Recorder:
    """Return the recorder of this process, with torch and Triton under its hands."""
    torch = importlib.import_module("torch")
    gpu = TargetGpu(target)
    recorder = Recorder(torch)
    install_device(gpu)
    arrays = install_arrays(recorder)
    install_comparisons(recorder, arrays)
    Launches(recorder, gpu, folder, configs, seed).install()
    make_mode(recorder, arrays).__enter__()
    return recorder
