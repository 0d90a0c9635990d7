# SPDX-License-Identifier: Apache-2.0
"""Right kernels with exponentials on the GPU of this machine: `python -m tests.kernels.on_gpu FOLDER`.

FOLDER is what `compile.py --all FOLDER attention softmax norm` filled. Each kernel runs on three sets of random reals;
the largest difference from the reference in doubles goes to `on_gpu.json`, or why the kernel doesn't run here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import gpu_checks
from benchmarks.kernels.silicon import job, unpacked
from gpu_checks import Unavailable
from gpu_checks.compiled import check_target, run_all
from gpu_checks.model import DeviceInfo, Unsupported
from tests.kernels.test_exponentials import TOLERANCES, compute_expected, draw_samples
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.claims.launch import Launch
from verify.kernel.ptx.parse import parse_kernel

RECORD = Path(__file__).with_suffix(".json")
AGREES, DIFFERS, UNCHECKED = "agrees", "differs", "unchecked"
SEEDS = 3


def run_kernel(path: Path, here: DeviceInfo) -> dict[str, Any]:
    """Return what became of a kernel: whether it agrees, its largest difference and what is allowed; or the reason."""
    text, claim = path.read_text(), read_claim(path.with_suffix(".toml"))
    try:
        check_target(text, here.sm, here.gpu)
    except Unsupported as reason:
        return {"status": UNCHECKED, "reason": str(reason)}
    (launch,) = claim.launches
    allowed = max(TOLERANCES.get(array.kind, 0.0) for array in launch.arrays)
    gap = max(measure_gap(path, launch, len(path.stem) + 100 * number) for number in range(SEEDS))
    return {"status": AGREES if gap < allowed else DIFFERS, "gap": float(f"{gap:.1e}"), "allowed": allowed}


def measure_gap(path: Path, launch: Launch, seed: int) -> float:
    """Return the largest |x - y| / (1 + |y|) of what the GPU computes and the reference; RuntimeError if it fails."""
    text, samples = path.read_text(), draw_samples(launch, seed, real=True)
    (memory,) = run_all([job(parse_kernel(text, read_claim(path.with_suffix(".toml")).kernel), text, launch, samples)])
    if isinstance(memory, Unavailable):
        raise RuntimeError(f"{path.stem}: {memory.reason}")
    target = launch.array(launch.target.name)
    made, wanted = unpacked(target, memory[launch.arrays.index(target)]), compute_expected(launch, samples, path.stem)
    gap = np.abs(made - wanted) / (1 + np.abs(wanted))
    return float(np.where(np.isnan(gap), np.inf, gap).max())


def read_record() -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the GPU of the record, and what became of each kernel there."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return record["gpu"], record["kernels"]


def main(folder: Path) -> None:
    """Run each kernel of a folder and write the record."""
    here = gpu_checks.device_info()
    if isinstance(here, Unavailable):
        sys.exit(here.reason)
    kernels = {path.stem: run_kernel(path, here) for path in sorted(folder.glob("*.ptx"))}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(kernel)}" for name, kernel in kernels.items())
    RECORD.write_text(f'{{"gpu": {json.dumps(here.gpu)}, "kernels": {{\n{lines}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
