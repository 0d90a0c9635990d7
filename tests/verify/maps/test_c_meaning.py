# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic of C has the values and the undefined behaviour that gcc's sanitizer gives it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from tests.samples import many
from tests.verify.maps.generated import C_LITERALS, generate
from verify.maps.c_meaning import INT, UNSIGNED, Undefined, meaning
from verify.maps.syntax import C, parse
from verify.maps.tree import Binary, Cast, ExpressionError, Name, Number, Tree, Unary

TYPES = {"lane": INT, "i": INT, "u": UNSIGNED}
C_TYPES = {
    **{"int": "int", "unsigned": "unsigned", "bool": "bool", "int8": "int8_t", "uint8": "uint8_t"},
    **{"int16": "int16_t", "uint16": "uint16_t", "int64": "int64_t", "uint64": "uint64_t"},
}
POINTS = [(0, 0, 0), (5, 3, 7), (31, 1, 31), (17, 2, 4294967295), (1, -1, 2147483648), (2147483647, -2147483648, 1)]
HEAD = """#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#define P(x) ({ __auto_type t = (x); __asm__("" : "+r"(t)); t; })
static sigjmp_buf back;
static void undefined(int s) { siglongjmp(back, s); }
"""
MAIN = """int main(void) {
  signal(SIGILL, undefined); signal(SIGTRAP, undefined); signal(SIGFPE, undefined);
  for (unsigned f = 0; f < sizeof functions / sizeof *functions; f++)
    for (int p = 0; p < POINTS; p++)
      if (sigsetjmp(back, 1)) puts("undefined");
      else printf("%lld\\n", functions[f](points[p][0], points[p][1], points[p][2]));
}
"""


def by_gcc(texts: list[str], folder: Path) -> list[str]:
    """The value of each text at each point, or `undefined`, as a program of gcc prints it.

    uint64 is printed as long long: the two have the same bits. All is volatile, literals too: gcc
    folds `(a != 3 * b) == 31` to 0 without the product that overflows.
    """
    listed = {word: f"v{k}" for k, word in enumerate(C_LITERALS)}
    literals = "".join(f"static volatile __typeof__({word}) {name} = {word};\n" for word, name in listed.items())
    hidden = [re.sub(r"\b[0-9]\w*", lambda word: listed.get(word[0], word[0]), text) for text in texts]
    functions = "\n".join(
        f"static long long f{k}(volatile int lane, volatile int i, volatile unsigned u) {{ return {text}; }}"
        for k, text in enumerate(hidden)
    )
    points = ", ".join("{" + ", ".join(f"{value}ll" for value in point) + "}" for point in POINTS)
    named = ", ".join(f"f{k}" for k in range(len(texts)))
    source = folder / "texts.c"
    source.write_text(
        f"{HEAD}{literals}{functions}\n#define POINTS {len(POINTS)}\nstatic long long points[][3] = {{{points}}};\n"
        f"static long long (*functions[])(int, int, unsigned) = {{{named}}};\n{MAIN}"
    )
    options = ["-std=gnu11", "-O0", "-w", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    subprocess.run(["gcc", *options, str(source), "-o", str(folder / "texts")], check=True, capture_output=True)
    return subprocess.run([str(folder / "texts")], check=True, capture_output=True, text=True).stdout.split()


def by_us(text: str) -> list[str]:
    """The same by the expression's meaning."""
    _, value = meaning(parse(text, C).result, TYPES, text)
    values = []
    for point in POINTS:
        try:
            values.append(str((INT64 := value(dict(zip(TYPES, point, strict=True)))) - (1 << 64) * (INT64 >= 1 << 63)))
        except Undefined:
            values.append("undefined")
    return values


def readable(count: int, seed: int) -> list[str]:
    rng = Random(seed)
    texts: list[str] = []
    while len(texts) < count:
        text = generate(rng, "c")
        try:
            meaning(parse(text, C).result, TYPES, text)
        except ExpressionError:
            continue
        texts.append(text)
    return texts


def compare_values(count: int, seed: int, folder: Path) -> int:
    """The number of undefined values among the texts' values; each value is compared."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine: nothing to compare C's meaning with")
    texts = readable(count, seed)
    theirs = by_gcc(texts, folder)
    ours = [value for text in texts for value in by_us(text)]
    assert len(theirs) == len(ours) == count * len(POINTS)
    differing = [k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    assert [(texts[k // len(POINTS)], ours[k], theirs[k]) for k in differing if ours[k] != "undefined"] == []
    assert len(differing) < 0.01 * len(ours)
    unfolded = sorted({k // len(POINTS) for k in differing})
    again = by_gcc([opaque(parse(texts[k], C).result) for k in unfolded], folder) if unfolded else []
    assert again == [value for k in unfolded for value in by_us(texts[k])]
    return ours.count("undefined")


def opaque(tree: Tree) -> str:
    """The text of a tree, each operation in a variable of its own: gcc simplifies `(int8_t)(a * b)` to no overflow."""
    inner = [opaque(part) for part in tree.parts]
    match tree:
        case Number():
            return f"{tree.value}{tree.suffix}" if tree.decimal else f"{tree.value:#x}{tree.suffix}"
        case Name():
            return tree.name
        case Cast():
            return f"P(({C_TYPES[tree.type]}){inner[0]})"
        case Unary():
            return f"P({tree.op} {inner[0]})"
        case Binary():
            return f"P({inner[0]} {tree.op} {inner[1]})"
    return f"P({inner[0]} ? {inner[1]} : {inner[2]})"


def test_a_hundred_texts_have_gccs_values(tmp_path: Path) -> None:
    assert compare_values(120, 1, tmp_path) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(many(1)))
def test_thousands_of_texts_have_gccs_values(seed: int, tmp_path: Path) -> None:
    assert compare_values(2000, 100 + seed, tmp_path) > 200


def value_of(text: str, **values: int) -> int:
    return meaning(parse(text, C).result, {name: TYPES.get(name, INT) for name in values}, text)[1](values)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("1 < 2 < 1", 0),
        ("3 & 3 == 0", 0),
        ("0u - 1", 4294967295),
        ("-1 < 0u", 0),
        ("(unsigned char)300", 44),
        ("static_cast<int>(3000000000u)", -1294967296),
        ("010 + 0x10", 24),
        ("min(3, max(5, 1)) + abs(-2)", 5),
    ],
)
def test_values_that_differ_from_pythons(text: str, value: int) -> None:
    assert value_of(text) == value


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="unknown name 'true' at column 3"):
        value_of("- true")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lane / 0", "division by zero in lane / 0"),
        ("lane % (lane - lane)", "division by zero"),
        ("lane << 32", "a shift by 32 in lane << 32: int has 32 bits"),
        ("lane >> -1", "a shift by -1"),
        ("-1 << lane", "negative number -1"),
        ("1 << 31", "signed overflow in 1 << 31: 2147483648 does not fit int"),
        ("2147483647 + lane", "signed overflow"),
        ("-(-2147483647 - lane)", "signed overflow"),
        ("(-2147483647 - lane) / -1", "signed overflow"),
        ("(-2147483647 - lane) % -1", "signed overflow"),
    ],
)
def test_what_c_leaves_undefined_is_an_error(text: str, why: str) -> None:
    with pytest.raises(Undefined) as raised:
        value_of(text, lane=1)
    assert why in str(raised.value)


def test_what_is_not_evaluated_is_not_undefined() -> None:
    assert value_of("lane != 0 && 4 / lane", lane=0) == 0
    assert value_of("lane == 0 || 4 / lane", lane=0) == 1
    assert value_of("lane ? 4 / lane : 7", lane=0) == 7
