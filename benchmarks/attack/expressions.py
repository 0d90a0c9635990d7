# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic in C against gcc: a right map with terms added of which only gcc says whether they are zero.

The right map is C of mma.m16n8k16: lane l, value i holds row l/4 + 8(i/2), column 2(l%4) + i%2 (PTX ISA 9.7.14.5.8).
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.attack.attempt import Attempt, Truth, fault_of, verdict_of
from verify import verify_index

PTX = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
ROW, COLUMN = "lane/4 + 8*(i/2)", "lane%4*2 + i%2"
# Pairs that are equal for some types and operands, and not for others.
PAIRS = (
    ("{x}/2", "({x})>>1"), ("{x}%4", "({x})&3"), ("{x}*2", "({x})<<1"), ("-({x})", "~({x}) + 1"),
    ("{x}/4*4", "({x})&~3"),
    ("abs({x})", "({x}) < 0 ? -({x}) : ({x})"), ("min({x}, {y})", "({x}) < ({y}) ? ({x}) : ({y})"),
    ("max({x}, {y})", "({x}) > ({y}) ? ({x}) : ({y})"), ("{x} ^ {y}", "({x}) + ({y}) - 2*(({x}) & ({y}))"),
    ("({x}) < ({y})", "({x}) - ({y}) < 0"), ("{x}/({y})", "({x} - {x}%({y}))/({y})"), ("!({x})", "({x}) == 0"),
    ("({x}) && ({y})", "(({x}) != 0) & (({y}) != 0)"), ("(unsigned char)({x})", "({x}) & 255"), ("{x} - 8u", "{x} - 8"),
)  # fmt: skip
GUARD = "#define min(a, b) ((a) < (b) ? (a) : (b))\n#define max(a, b) ((a) > (b) ? (a) : (b))\n"
FLAGS = ("-w", "-O0", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")


def random_term(rng: random.Random, depth: int = 2) -> str:
    """Return an expression of the coordinates, small in value."""
    if not depth:
        return rng.choice(("lane", "i", "threadIdx.x", "3", "5u", "1", "(lane - 9)", "(i - 2)"))
    x, y = random_term(rng, depth - 1), random_term(rng, depth - 1)
    shapes = (
        "({x} + {y})",
        "({x} - {y})",
        "({x} & {y})",
        "({x} | {y})",
        "({x})%7",
        "({x})/3",
        "({x} ? {y} : i)",
        "({x} >> 1)",
    )
    return rng.choice(shapes).format(x=x, y=y)


def random_row(rng: random.Random) -> str:
    """Return the right row plus the difference of two expressions that people take for equal."""
    left, right = rng.choice(PAIRS)
    named = {"x": random_term(rng, rng.randint(0, 2)), "y": random_term(rng, rng.randint(0, 1))}
    return f"{ROW} + (({left.format(**named)}) - ({right.format(**named)}))"


def truth_of(row: str, kind: str, folder: Path) -> Truth:
    """Return what gcc computes at every point: the right rows, others, or a trap of undefined behaviour."""
    source, program = folder / "row.c", folder / "row"
    text = row.replace("threadIdx.x", "tid")
    source.write_text(
        f"#include <stdlib.h>\n{GUARD}int main(void) {{ int wrong = 0;\n"
        f"for ({kind} lane = 0; lane < 32; lane++) for ({kind} i = 0; i < 4; i++) {{ unsigned tid = lane;\n"
        f"long long found = {text}; wrong |= found != (long long)(lane/4 + 8*(i/2)); }}\nreturn wrong; }}\n"
    )
    subprocess.run(["gcc", *FLAGS, "-o", str(program), str(source)], check=True, capture_output=True)
    code = subprocess.run([str(program)], check=False, capture_output=True).returncode
    return {0: Truth.RIGHT, 1: Truth.WRONG}.get(code, Truth.UNDEFINED)


def attempt(number: int, rng: random.Random) -> Attempt:
    """Verify one row, its coordinates int or unsigned."""
    if shutil.which("gcc") is None:
        raise FileNotFoundError("the attack on expressions compares with gcc, and there is none on the PATH")
    row, kind = random_row(rng), rng.choice(("int", "unsigned"))
    with tempfile.TemporaryDirectory() as folder:
        truth = truth_of(row, kind, Path(folder))
    keys = {"ptx": PTX, "operand": "C", "lang": "c", "type": kind, "row": row, "col": COLUMN}
    verdict, _ = verdict_of(lambda: verify_index(**keys))
    return Attempt("expressions", number, f"{kind}: {row}", truth, verdict, fault_of(truth, verdict))
