# SPDX-License-Identifier: Apache-2.0
"""Which kept kernels are proved for all sizes, and why the others are not: `python -m benchmarks.kernels.sizes`.

Each gets its claim with strides that are names, K given as a multiple of 8, and all other sizes and strides of 16.
"""

from __future__ import annotations

import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verify.core.errors import SpecError, UsageError
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import prove

COMPILED = Path(__file__).parents[2] / "tests" / "kernels" / "compiled"
BY, BY_K = 16, 8
SEED = 1


def claim_for_all(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim's table for all sizes, K given as a multiple of 8 and all else of 16."""
    arrays = {name: {key: held for key, held in one.items() if key != "strides"} if _is_plain(one) else one
              for name, one in table["arrays"].items()}  # fmt: skip
    names = list(dict.fromkeys(dim.upper() for one in arrays.values() for dim in one["dims"]))
    names += [f"ld{name.lower()}" for name, one in arrays.items() if "strides" not in one and len(one["dims"]) == 2]
    rest = {key: held for key, held in table.items() if key != "sizes"}
    return {
        **rest,
        "arrays": arrays,
        "sizes": "all",
        "given": [f"{name} % {BY_K if name == 'K' else BY} == 0" for name in names],
    }


def _is_plain(array: Mapping[str, Any]) -> bool:
    return array.get("strides", [0])[-1] == 1


def judge(name: str) -> tuple[str, float]:
    """Return what is known of a kernel for all sizes, in words, and the seconds that it took."""
    table = tomllib.loads((COMPILED / f"{name}.toml").read_text(encoding="utf-8"))
    ptx, start = (COMPILED / f"{name}.ptx").read_text(encoding="utf-8"), time.perf_counter()
    try:
        found = prove(ptx, claim_for_all(table), seed=SEED)
    except (NotLifted, SpecError, UsageError) as error:
        return f"not lifted: {error}", time.perf_counter() - start
    return f"proved, {found.alone} trips one by one, period {found.period}", time.perf_counter() - start


def main() -> None:
    """Print a row of a table for each kernel, or for those that are named."""
    names = sys.argv[1:] or sorted(path.stem for path in COMPILED.glob("*.ptx"))
    print("| kernel | for all sizes | seconds |\n|---|---|---|")
    for name in names:
        words, seconds = judge(name)
        print(f"| {name} | {words[:160].replace('|', '/')} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
