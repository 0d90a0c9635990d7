# SPDX-License-Identifier: Apache-2.0
"""The `.cu` files: every text made of them is the one that the recordings were made with, and nvcc takes every part."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

import gpu_checks
from gpu_checks import tilings
from gpu_checks.banks.command import hash_of as hash_of_pattern
from gpu_checks.banks.command import kernel as timing_kernel
from gpu_checks.banks.command import recordings_of_banks
from gpu_checks.banks.patterns import patterns
from gpu_checks.discover.function import FileFunction
from gpu_checks.kernels import copies, forms, mma, tcgen05, tensor_memory
from gpu_checks.kernels.modules import group_instructions, has_kernels, kernel_hash, module
from gpu_checks.kernels.templates import beside
from gpu_checks.order.command import PROBES
from gpu_checks.recordings_io.reader import recordings
from gpu_checks.tilings.kernel import kernel as tiling_kernel
from gpu_checks.tilings.runner import hash_of as hash_of_tiling
from isa_tables.signature import mnemonics, signature
from tests.gpu_checks.kernels.test_modules import NO_NVCC

EVERY = [signature(name) for name in mnemonics("*")]
TIMED = list(dict.fromkeys((pattern.operation, pattern.bits) for pattern in patterns()))

# Who writes kernels -> their number and the SHA-256 of all their texts. A change makes the recordings stale.
DIGESTS = {
    "mma": (310, "6b8c2983f7e6fbbe471968e4678139bb1883f67e7645e81cb1074614607dba62"),
    "digit_coded": (1326, "7860c4bba4f0b000ae5843367742bf13450a3a51bb2c29d2b7b206ff7fb6d2d9"),
    "copies": (82, "3d15ff39824e442ec3bd6c0b3fc170544eba848b940cebd43dc4594afc8f0263"),
    "tensor_memory": (148, "f77b9f04444004641e5510ea2cdfdb89a375d48789c699b8dc13f70f8c5a40b1"),
    "tcgen05": (268, "1c3448e88312bc18cefb0f07322e3e9290c56e218a5c51525e4e90b2180d8bf9"),
    "modules of several": (134, "3897f7b586d44e3ede6d79e6dca056ff38002971cb7ef5817c394928eb48419a"),
    "banks": (23, "4c15f229c5ca4145f8749b6db69c7ca772d4b920ddfa0d11978b5f838a576c49"),
    "order": (10, "aa0f7cf75116f120651b062ac44d5c7d64c33dfefc6fd0fb8ab262fce92fffc0"),
    "tilings": (126, "ee08137b7d0f2415270f38a7710388aebf947f505069e1b011ab55d3d7f44e57"),
}


def texts() -> dict[str, list[str]]:
    """Every kernel's text, by who writes it."""
    moved = [s for s in EVERY if copies.fits(s)]
    written_by: dict[str, Iterable[str]] = {
        "mma": (module([s]) for s in EVERY if mma.fits(s)),
        "digit_coded": (module([s]) for s in EVERY if forms.fits(s)),
        "copies": (module([s]) for s in moved if not tensor_memory.fits(s)),
        "tensor_memory": (module([s]) for s in moved if tensor_memory.fits(s)),
        "tcgen05": (module([s]) for s in EVERY if tcgen05.fits(s)),
        "modules of several": map(module, group_instructions([s for s in EVERY if has_kernels(s)])),
        "banks": (timing_kernel(*timed) for timed in TIMED),
        "order": (probe.kernel for probe in PROBES),
        "tilings": (
            tiling_kernel(tiling_or_mutant)
            for tiling in tilings.tilings()
            for tiling_or_mutant in (tiling, *dict(tilings.mutants(tiling)).values())
        ),
    }
    return {name: list(written) for name, written in written_by.items()}


@pytest.mark.slow
def test_no_text_of_a_kernel_has_changed():
    digests = {
        name: (len(some), hashlib.sha256("\0".join(some).encode()).hexdigest()) for name, some in texts().items()
    }
    assert digests == DIGESTS


@pytest.mark.slow  # reading a shipped recording whose kernel has changed is an error everywhere else
def test_every_recording_was_made_by_the_kernel_of_its_instruction_pattern_or_tiling():
    library = recordings()
    made_by = {
        (name, recording.kernel_hash)
        for these in (library, library.moves)
        for name in these
        for recording in these[name]
    }
    assert len(made_by) == 1459 and made_by == {(name, kernel_hash(signature(name))) for name, _ in made_by}
    assert all(observation.kernel_hash == hash_of_pattern(observation.pattern) for observation in recordings_of_banks())
    assert all(run.kernel_hash == hash_of_tiling(run.tiling) for run in tilings.recordings_of_tilings())


PACKAGE = Path(gpu_checks.__file__).parent
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
FILES = {path.relative_to(PACKAGE).as_posix(): beside(str(path)) for path in sorted(PACKAGE.rglob("*.cu"))}
F64, SPARSE = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WIDE, MOVE = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
DISCOVERED = Path(__file__).parents[1] / "discover" / "functions.cu"
TENSOR = ("tcgen05.ld.sync.aligned.32x32b.x2.b32", "tcgen05.mma.cta_group::1.kind::f16")
REDUCED = "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32"
TILED = ("attention_f16", "attention_wgmma", "mma_f16_split_k", "ragged_ldmatrix_f16")
EXPANDED = {  # for which GPU -> texts that together hold every part
    "sm_90a": lambda: [
        module([signature(name) for name in (F64, SPARSE, WIDE, MOVE)]),
        *(timing_kernel(*timed) for timed in (("load", 128), ("store", 32), ("cp.async", 128))),
        *(tiling_kernel(tiling) for tiling in tilings.tilings() if tiling.name in TILED),
        *(probe.kernel for probe in PROBES),
        FileFunction(DISCOVERED, "as_int2", 32, 4).text(),
    ],
    "sm_100a": lambda: [module([signature(name) for name in TENSOR])],
    "sm_103a": lambda: [module([signature(REDUCED)])],
}


def literal(part: str) -> str:
    """The longest piece of a part that is in each text made of it: no placeholder, no end of a line."""
    return max(re.split(r"\$\w+|\$\{\w+\}|\n", part), key=len)


def test_the_expanded_texts_have_every_part():
    together = "".join(text for texts in EXPANDED.values() for text in texts())
    assert len(FILES) == 12 and all((PACKAGE / file).read_text().startswith(LICENCE) for file in FILES)
    assert not [
        f"{file}: {name}"
        for file, parts in FILES.items()
        for name, part in parts.items()
        if literal(part.template) not in together
    ]


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
@pytest.mark.parametrize("target", EXPANDED)
def test_nvcc_takes_every_part(target, tmp_path):
    for number, text in enumerate(EXPANDED[target]()):
        source = tmp_path / f"{number}.cu"
        source.write_text(text)
        command = ["nvcc", f"-arch={target}", "-std=c++17", "-Ofc=mid", "-cubin", source, "-o", tmp_path / "cubin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]


def test_statements_of_cuda_are_in_cu_files_alone():
    words = re.compile(r"asm volatile|__(device|global|shared|syncthreads|syncwarp)__?\b|#pragma|for \(int|constexpr")
    for path in PACKAGE.rglob("*.py"):
        assert not words.search(re.sub(r'^""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.S | re.M)), path


def test_a_part_ends_where_the_next_begins_and_has_no_remark(tmp_path):
    (tmp_path / "some.cu").write_text(
        "// head\n\n//// one\n//// a remark\n// kept\nint $x;\n\n//// two, within a line\ny\n"
    )
    parts = beside(str(tmp_path / "some.py"))
    assert {name: part.template for name, part in parts.items()} == {"one": "// kept\nint $x;\n", "two": "y"}
