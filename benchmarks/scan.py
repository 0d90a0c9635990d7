# SPDX-License-Identifier: Apache-2.0
"""The layouts of all headers of CUTLASS 4.7, a checkout of which the variable CUTLASS names: it is not ours to ship."""

from __future__ import annotations

import os
from collections.abc import Iterator

from benchmarks.absolute import Unmeasured
from benchmarks.paired import Figure, cold


def figures() -> Iterator[Figure]:
    checkout = os.environ.get("CUTLASS")
    if not checkout:
        raise Unmeasured("the variable CUTLASS names no checkout of CUTLASS 4.7")
    words = ("-m", "verify.scan", checkout, "--expect-known", "-q")
    yield cold("verify.scan, all of CUTLASS, cold", words, 150.0, "import numpy")
