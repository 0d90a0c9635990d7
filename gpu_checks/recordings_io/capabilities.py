# SPDX-License-Identifier: Apache-2.0
"""Which compute capability a GPU has, by the name that its driver gives it.

It finds a recording whose GPU and architecture do not go together. A GPU that is not in the table is no error: its
architecture is accepted, and `lanecheck probe --check` says that it was not checked.

Each row can be checked on two pages of NVIDIA's: "CUDA GPU Compute Capability", https://developer.nvidia.com/cuda-gpus,
and up to 7.2 "Legacy CUDA GPU Compute Capability", https://developer.nvidia.com/cuda-legacy-gpus. In November 2026 the
rows were compared with archived copies of both, those of 8.0 and 7.5 with copies of an earlier state. GPUs on
neither page are known by their chip alone: B100, H800, H20, L2, L20, L40G, A800, A10G, A10M, RTX 2050, T4G, V100S, the
variants with an X; and that sm_110 was sm_101 before CUDA 13.
"""

from __future__ import annotations

import re
from functools import cache

# A pattern of the name -> the numbers that may follow `sm_`; of several patterns that match, the first counts.
CAPABILITIES: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"G?H[128]00|H20", (90,)),  # those of the shipped recordings: to compile the others takes a millisecond
    (r"RTX PRO \d+ .*Blackwell|RTX 50[5-9]0", (120,)),
    (r"GB10", (121,)),
    (r"G?B300", (103,)),
    (r"G?B[12]00", (100,)),
    (r"Thor", (101, 110)),  # sm_101 before CUDA 13
    (r"RTX \d+ Ada|RTX 40[5-9]0|L4|L40[SG]?|L20?", (89,)),
    (r"Orin", (87,)),
    (r"RTX A\d+|RTX 2050|RTX 30[5-9]0|A10[GM]?|A16|A2|A40", (86,)),
    (r"A[18]00X?|A30X?", (80,)),
    (r"T4G?|TITAN RTX|Quadro RTX \d+|RTX 20[678]0|GTX 16[56]0", (75,)),
    (r"Xavier", (72,)),
    (r"V100S?|TITAN V|GV100", (70,)),
    (r"P40|P4|GTX 10[5-8]0|TITAN X[Pp]", (61,)),
    (r"P100|GP100", (60,)),
)
_SM = re.compile(r"sm_([1-9]\d{1,2})([af]?)")
_SUFFIXES = {"": 0, "a": 90, "f": 100}  # the least number that has them


# Kept by both names, which with the table above are all that it reads: a wrong name in a recording is seen each time.
@cache
def mismatch(gpu: str, sm: str) -> str:
    """Why a GPU of that name cannot have that architecture, or what is wrong with either; empty where nothing is.

    >>> mismatch("NVIDIA B200", "sm_90a")
    'NVIDIA B200 is sm_100, not sm_90a'
    """
    match = _SM.fullmatch(sm)
    if match is None or int(match[1]) < _SUFFIXES[match[2]]:
        return f"sm is {sm!r}, not an architecture such as sm_90a"
    if not gpu.strip() or not gpu.isprintable():
        return f"gpu is {gpu!r}, not the name of a GPU"
    known = capabilities(gpu)
    if known and int(match[1]) not in known:
        return f"{gpu} is {' or '.join(f'sm_{number}' for number in known)}, not {sm}"
    return ""


def capabilities(gpu: str) -> tuple[int, ...]:
    """Return the numbers that may follow `sm_` for a GPU of that name; none where the table does not have it."""
    return next((numbers for pattern, numbers in CAPABILITIES if _names(pattern, gpu)), ())


def _names(pattern: str, gpu: str) -> bool:
    """Whether a word, or several, of the name are the pattern: A100 is in A100-SXM4-80GB, and no A10 is in A100."""
    return re.search(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", gpu) is not None
