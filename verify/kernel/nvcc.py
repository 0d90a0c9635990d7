# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ that nvcc compiles to PTX, in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from verify.core.errors import UsageError

SECONDS = 300  # for nvcc: headers of CUTLASS are slow, and a compilation that hangs must end


def compile_cuda(text: str, name: str, target: str, folder: Path) -> str:
    """Return the PTX of CUDA C++ that includes files of a folder. Raises UsageError with nvcc's first error."""
    nvcc, file = shutil.which("nvcc"), "FILE.cu" if name == "kernel" else name
    if nvcc is None:
        by_hand = f"nvcc -ptx -arch={target} {file}"
        raise UsageError(f"{name} is CUDA C++, and nvcc isn't on the PATH: run `{by_hand}` elsewhere, and give the PTX")
    with tempfile.TemporaryDirectory(prefix="lanecheck-") as home:
        source, result = Path(home, "kernel.cu"), Path(home, "kernel.ptx")
        path = Path(name).resolve()  # whose lines are those of the text
        source.write_text(f"#line 1 {json.dumps(str(path))}\n{text}" if path.is_file() else text, encoding="utf-8")
        command = [nvcc, "-ptx", "-lineinfo", f"-arch={target}", f"-I{folder}", str(source), "-o", str(result)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise UsageError(f"{name}: nvcc has not compiled it within {SECONDS} s") from None
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["it says nothing"]
            first = next((line for line in lines if "error" in line), lines[0])
            first = first.replace(str(path), name).replace(str(source), name)
            raise UsageError(f"{name} was not compiled: {first[:300]}")
        return result.read_text("utf-8")
