# SPDX-License-Identifier: Apache-2.0
"""Which kept kernels are proved for all sizes, and why the others are not: `python -m benchmarks.kernels.sizes`.

Each gets its claim with strides that are names, K given as a multiple of 8, and all other sizes and strides of 16.
"""

from __future__ import annotations

import argparse
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import lcm
from pathlib import Path
from typing import Any

from benchmarks.kernels.score import write_page
from verify.core.errors import SpecError, UsageError
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.statement import state
from verify.kernel.sizes.theorem import Proof, prove
from verify.kernel.state.findings import Unclear

COMPILED = Path(__file__).parents[2] / "tests" / "kernels" / "compiled"
BY, BY_K = 16, 8
SEED = 1
PAGE = "<!-- sizes -->", "<!-- /sizes -->"  # what lies between is the table
OUT = "leave the rest of"  # why a grid that rounds down has no theorem but in whole tiles


def claim_for_all(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim's table for all sizes, K given as a multiple of 8 and all else of 16."""
    arrays = {name: {key: held for key, held in array.items() if key != "strides"} if _is_plain(array) else array
              for name, array in table["arrays"].items()}  # fmt: skip
    names = list(dict.fromkeys(dim.upper() for array in arrays.values() for dim in array["dims"]))
    names += [
        f"ld{name.lower()}" for name, array in arrays.items() if "strides" not in array and len(array["dims"]) == 2
    ]
    rest = {key: held for key, held in table.items() if key != "sizes"}
    return {
        **rest,
        "arrays": arrays,
        "sizes": "all",
        "given": [f"{name} % {BY_K if name == 'K' else BY} == 0" for name in names],
    }


def _is_plain(array: Mapping[str, Any]) -> bool:
    return array.get("strides", [0])[-1] == 1


def judge(name: str) -> tuple[str, str, float]:
    """Return for what a kernel is proved, why not for all sizes, and the seconds that this took.

    If it isn't proved as it is, whole tiles are tried, and then two trips, for M and N alone.
    """
    table = tomllib.loads((COMPILED / f"{name}.toml").read_text(encoding="utf-8"))
    ptx, start = (COMPILED / f"{name}.ptx").read_text(encoding="utf-8"), time.perf_counter()
    whole, why = claim_for_all(table), ""
    for words, attempt in (
        ("M, N and K", lambda: prove(ptx, whole, seed=SEED)),
        ("M, N and K in whole tiles", lambda: prove(ptx, in_whole_tiles(ptx, whole), seed=SEED)),
        ("M and N, at two trips", lambda: prove_two_trips(ptx, whole)),
    ):
        try:
            attempt()
        except (NotLifted, SpecError, UsageError) as error:
            why = str(error) if not why or OUT in why else why
            continue
        return words, why, time.perf_counter() - start
    return "", why, time.perf_counter() - start


def in_whole_tiles(ptx: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim with sizes given as multiples of the CTA's tile, and of a trip."""
    given = {text.split()[0]: text for text in table["given"]}
    proof = Proof(state(table), parse_kernel(ptx, str(table["kernel"])), SEED, lambda steps: None)
    proof.find_loop()
    tiles = [(axis.size, axis.tile) for axis in proof.statement.axes]
    for size, tile in (*tiles, (proof.statement.summed[1], proof.statement.step)):
        given[size] = f"{size} % {lcm(tile, BY)} == 0"
    return {**table, "given": list(given.values())}


def claim_as_proved(ptx: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claim for which a kept kernel is proved: in whole tiles where its grid rounds down."""
    whole = claim_for_all(table)
    return in_whole_tiles(ptx, whole) if "//" in str(table["grid"]) else whole


def prove_two_trips(ptx: str, table: Mapping[str, Any]) -> None:
    """Prove a claim for all sizes of the output, at the sizes of K that take two trips; NotLifted if that fails."""
    proof = Proof(state(table), parse_kernel(ptx, str(table["kernel"])), SEED, lambda steps: None)
    proof.find_loop()
    try:
        proof.find_tiles()
        proof.alone(2)
    except Unclear as error:
        raise NotLifted(error.line, error.problem) from None


def make_table(names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table, a row for each kernel, and how many are proved for what."""
    yield "| kernel | proved for all | why not for all sizes |\n|---|---|---|"
    counts: Counter[str] = Counter()
    for name in names:
        words, why, seconds = judge(name)
        counts[words] += 1
        shown = f"`{why[:110].replace('|', '/').strip()}`" if why else ""
        print(f"{name}: {seconds:.1f} s", file=sys.stderr, flush=True)
        yield f"| `{name}` | {words or 'none'} | {shown} |"
    listed = "; ".join(f"{count} for all {words}" for words, count in counts.most_common() if words)
    yield f"\nOf {len(names)} kernels are proved: {listed or 'none'}. Of {counts['']} nothing is."


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, or write it to a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.sizes", description=__doc__)
    parser.add_argument("kernel", nargs="*", help="of the corpus; all when none is given")
    parser.add_argument("--page", type=Path, metavar="FILE", help="the page whose table is written")
    options = parser.parse_args(argv)
    lines = []
    for line in make_table(options.kernel or sorted(path.stem for path in COMPILED.glob("*.ptx"))):
        print(line, flush=True)
        lines.append(line)
    if options.page:
        write_page(options.page, lines, PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
