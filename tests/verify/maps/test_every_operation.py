# SPDX-License-Identifier: Apache-2.0
"""Every operator and function of index arithmetic at the edges of all types, by gcc, nvcc and CPython."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from verify.maps import syntax
from verify.maps.c_meaning import INT, TYPES, Meaning, Type, Undefined, meaning, promote
from verify.maps.python_meaning import meaning as python_meaning
from verify.maps.syntax import PYTHON, C, parse
from verify.maps.tree import ExpressionError

IN_C = {name: {"int": "int", "unsigned": "unsigned", "bool": "bool"}.get(name, f"{name}_t") for name in TYPES}
OPERATORS = [op for level in syntax.BINARY[C] for op in level]
EDGES = (0, 1, 31, 32, 64)  # beside the least and the greatest value of a type, and -1


def edges(type_: Type, few: bool = False) -> list[int]:
    """The values at which an operation on a type is compared."""
    least = -(1 << type_.bits - 1) if type_.signed else 0
    values = {least, *((0, 31) if few else EDGES), -1, least + (1 << type_.bits) - 1}
    return sorted(value for value in values if type_.fits(value))


def operations() -> Iterator[tuple[str, str, str]]:
    """Every operation as a text of a and b, with the types of both: the tables of the parser, each on all types."""
    for a, b in product(TYPES, TYPES):
        yield from ((f"a {op} b", a, b) for op in OPERATORS)
        yield from ((f"{function}(a, b)", a, b) for function, count in syntax.FUNCTIONS.items() if count == 2)
        yield from ((f"{test} ? a : b", a, b) for test in ("a < b", "b"))
        yield f"({IN_C[b]})a", a, b
    for a in TYPES:
        yield from ((f"{op}a", a, "int") for op in syntax.UNARY[C])
        yield from ((f"{function}(a)", a, "int") for function, count in syntax.FUNCTIONS.items() if count == 1)


def of_us(text: str, a: str, b: str) -> Meaning:
    return meaning(parse(text, C).result, {"a": TYPES[a], "b": TYPES[b]}, text)


def value_at(meant: Meaning, a: int, b: int) -> int | None:
    """The value at a point, as 64 bits with a sign; None where it is undefined."""
    try:
        value = meant[1]({"a": a, "b": b})
    except Undefined:
        return None
    return value - (1 << 64) * (value >= 1 << 63)


def constant(type_: Type, value: int) -> str:
    """A value in C, of its type."""
    if value == -(1 << 63):
        return "(int64_t)(-9223372036854775807ll - 1)"
    return f"({IN_C[type_.name]}){value}{'ull' if value >= 1 << 63 else 'll'}"


# gcc: every value and every undefined one

HEAD = r"""#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
static sigjmp_buf back;
static void undefined(int s) { siglongjmp(back, s); }
static void put(int defined, long long value) { putchar(defined); fwrite(&value, 8, 1, stdout); }
#define OPERATION(name, A, B, text) static void name(const long long *as, int m, const long long *bs, int n) { \
    { volatile A a = 1; volatile B b = 1; __auto_type r = (text); \
      put((__typeof__(r))-1 < (__typeof__(r))0 ? 'i' : 'u', 8 * sizeof r); } \
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { \
      volatile A a = as[i]; volatile B b = bs[j]; \
      if (sigsetjmp(back, 0)) put('?', 0); else { long long r = (text); put('=', r); } } }
"""


def by_gcc(folder: Path) -> Iterator[tuple[str, int]]:
    """What gcc's program says: for each operation its sign and width, then for each point '=' and its value, or '?'."""
    rows, calls = [], []
    listed = {name: ", ".join(constant(TYPES["int64"], value) for value in signed_edges(name)) for name in TYPES}
    arrays = [f"static const long long of_{name}[] = {{{values}}};" for name, values in listed.items()]
    for k, (text, a, b) in enumerate(operations()):
        rows.append(f"OPERATION(f{k}, {IN_C[a]}, {IN_C[b]}, {text})")
        calls.append(f"f{k}(of_{a}, {len(edges(TYPES[a]))}, of_{b}, {len(edges(TYPES[b]))});")
    caught = " ".join(f"sigaction({signal}, &action, 0);" for signal in ("SIGILL", "SIGTRAP", "SIGFPE"))
    start = f"struct sigaction action = {{.sa_handler = undefined, .sa_flags = SA_NODEFER}}; {caught}"
    source = folder / "every.c"
    source.write_text("\n".join([HEAD, *arrays, *rows, "int main(void) {", start, *calls, "}"]))
    options = ["-std=gnu11", "-O0", "-w", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    subprocess.run(["gcc", *options, str(source), "-o", str(folder / "every")], check=True, capture_output=True)
    printed = subprocess.run([str(folder / "every")], check=True, capture_output=True).stdout
    for mark, value in struct.iter_unpack("<cq", printed):
        yield mark.decode(), value


def signed_edges(name: str) -> list[int]:
    """The edges of a type as 64 bits with a sign: the same bits."""
    return [value - (1 << 64) * (value >= 1 << 63) for value in edges(TYPES[name])]


@pytest.mark.long
def test_every_operation_has_gccs_type_values_and_undefined_points(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine: nothing to compare C's operations with")
    theirs = by_gcc(tmp_path)
    differing, points, undefined = [], 0, 0
    for text, a, b in operations():
        meant = of_us(text, a, b)
        sign, bits = next(theirs)
        type_ = f"{'int' if sign == 'i' else 'uint'}{bits}"
        if (meant[0].signed, meant[0].bits) != (sign == "i", bits) and meant[0].name != "bool":
            differing.append(f"{text} of {a}, {b}: {meant[0].name}, gcc {type_}")
        for x, y in product(edges(TYPES[a]), edges(TYPES[b])):
            mark, value = next(theirs)
            ours = value_at(meant, x, y)
            points, undefined = points + 1, undefined + (mark == "?")
            if ours != (value if mark == "=" else None):
                differing.append(f"{text} at {x} ({a}), {y} ({b}): {ours}, gcc {value if mark == '=' else 'undefined'}")
    assert differing[:10] == []
    assert next(theirs, None) is None
    assert points > 50_000 and undefined > 5000


LITERALS = [
    f"{digits}{suffix}"
    for digits in (
        *("0", "7", "31", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807"),
        *("9223372036854775808", "18446744073709551615", "0x7fffffff", "0x80000000", "0XFFFFFFFF", "0x100000000"),
        *("0x7fffffffffffffff", "0x8000000000000000", "0xffffffffffffffff", "010", "037777777777", "0777777777777"),
        *("08", "0b101", "0B11", "0b2", "1'000", "0x1'f", "0'17", "1''0", "1_0", "0o4", "0x", "0b"),
    )
    for suffix in (
        *("", "u", "U", "l", "L", "ll", "LL", "lL", "Ll", "ul", "UL", "lu", "LU", "ull", "uLL", "ULL", "UlL"),
        *("llu", "LLU", "llU", "lul", "uu", "n", "q", "_", "2", "e3", ".5", "f"),
    )
]


def lines_refused(folder: Path, lines: list[str]) -> set[int]:
    """The numbers of the lines, from 0, in which gcc finds an error, or a literal too large for its type."""
    source = folder / "literals.c"
    source.write_text("#include <stdint.h>\n" + "".join(f"{line}\n" for line in lines))
    command = ["gcc", "-std=c2x", "-fsyntax-only", "-fmax-errors=0", str(source)]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    return {int(line) - 2 for line in re.findall(r"literals\.c:(\d+):\d+: (?:error|warning)", printed)}


def test_every_literal_has_gccs_type_and_value_or_is_refused(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine: nothing to compare C's literals with")
    refused = lines_refused(
        tmp_path, [f"__typeof__((int)sizeof(1 % ({text} | 1))) v{k};" for k, text in enumerate(LITERALS)]
    )
    read, asserted = [], []
    for k, text in enumerate(LITERALS):
        try:
            type_, value = of_us(text, "int", "int")
        except ExpressionError as error:
            assert k in refused or "long has" in str(error), str(error)
            continue
        read.append(k)
        name = f"long long: {int(type_.name == 'int64')}, unsigned long long: {int(type_.name == 'uint64')}"
        # C's int64 has two names here: long and long long
        same = f"{name}, long: {int(type_.name == 'int64')}, unsigned long: {int(type_.name == 'uint64')}"
        same += f", int: {int(type_.name == 'int')}, unsigned: {int(type_.name == 'unsigned')}"
        asserted.append(f'_Static_assert(_Generic({text}, {same}) && {text} == {value({})}ull, "");')
    assert [LITERALS[k] for k in read if k in refused] == []
    assert [LITERALS[read[at]] for at in sorted(lines_refused(tmp_path, asserted))] == []
    assert len(read) > 200


# nvcc: what is defined, by the compiler of device code

HAS = """#include <cstdint>
#include <type_traits>
#include <utility>
"""
ACCEPTS = """template <class... A>
__device__ auto {0}_of(int) -> decltype({0}(std::declval<A>()...), std::true_type{{}});
template <class... A> __device__ std::false_type {0}_of(...);
"""


def compile_source(folder: Path, source: str, *options: str) -> str:
    """The PTX that nvcc makes of a text; its errors fail the test."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc on this machine: nothing to compare CUDA's operations with")
    path, ptx = folder / "every.cu", folder / "every.ptx"
    path.write_text(source)
    command = [nvcc, "-ptx", "-std=c++17", "-arch=sm_80", "-w", *options, str(path), "-o", str(ptx)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, "\n".join(done.stderr.splitlines()[:20])
    return ptx.read_text()


def with_points(text: str, a: str, b: str, x: int, y: int) -> str:
    """The text with constants in place of a and b."""
    constants = {"a": constant(TYPES[a], x), "b": constant(TYPES[b], y)}
    return re.sub(r"\b[ab]\b", lambda name: f"({constants[name[0]]})", text)


@pytest.mark.long
def test_every_operator_has_nvccs_values_where_c_defines_them(tmp_path: Path) -> None:
    lines = [HAS]
    for text, a, b in operations():
        if any(f"{function}(" in text for function in syntax.FUNCTIONS):
            continue  # no constant expressions: the next test
        meant = of_us(text, a, b)
        for x, y in product(edges(TYPES[a], few=True), edges(TYPES[b], few=True)):
            if (value := value_at(meant, x, y)) is not None:
                expected = constant(TYPES["int64"], value)
                lines.append(f"static_assert((long long)({with_points(text, a, b, x, y)}) == {expected});")
        type_ = IN_C[promote(meant[0]).name]
        same = f"static_assert(std::is_same_v<decltype(+({text})), {type_}>);"
        lines.append(f"inline void g{len(lines)}({IN_C[a]} a, {IN_C[b]} b) {{ {same} }}")
    compile_source(tmp_path, "\n".join(lines))
    assert len(lines) > 10_000


def cuda_takes(function: str, types: list[Type]) -> bool:
    """Whether CUDA's overloads of a function decide between themselves: elsewhere the call is ambiguous."""
    kinds = [promote(type_) for type_ in types]
    return all(kind.signed for kind in kinds) if function == "abs" else len({kind.bits for kind in kinds}) == 1


@pytest.mark.long
def test_every_function_has_nvccs_values_where_cuda_has_an_overload(tmp_path: Path) -> None:
    lines, wanted = [HAS, *map(ACCEPTS.format, syntax.FUNCTIONS)], {}
    for text, a, b in operations():
        function = text.partition("(")[0]
        if function not in syntax.FUNCTIONS:
            continue
        given = [a, b][: syntax.FUNCTIONS[function]]
        takes = cuda_takes(function, [TYPES[argument] for argument in given])
        listed = ", ".join(IN_C[argument] for argument in given)
        lines.append(f"static_assert(decltype({function}_of<{listed}>(0))::value == {str(takes).lower()});")
        meant = of_us(text, a, b)
        if not takes or (function == "abs" and promote(TYPES[a]) != INT):
            continue  # abs of 64 bits: the report says that CUDA's differs
        for x, y in product(edges(TYPES[a], few=True), edges(TYPES[b], few=True)):
            if (value := value_at(meant, x, y)) is not None:
                name = f"f{len(wanted)}"
                lines.append(f'extern "C" __device__ long long {name}() {{ return {with_points(text, a, b, x, y)}; }}')
                wanted[name] = value
    ptx = compile_source(tmp_path, "\n".join(lines), "-rdc=true")
    returned = re.findall(r"\.func\s+\(\.param \.b64 func_retval0\) (f\d+)\(\s*\)\s*\{(.*?)\n\}", ptx, re.DOTALL)
    theirs = {name: _constant(body) for name, body in returned}
    assert theirs == wanted
    assert len(wanted) > 1000


def _constant(body: str) -> int:
    """The constant that a function of PTX returns."""
    (stored,) = re.findall(r"st\.param\.b64\s+\[func_retval0(?:\+0)?\], (\S+);", body)
    if stored.startswith("%"):
        (stored,) = re.findall(rf"mov\.[bu]64\s+{stored}, (\S+);", body)
    value = int(stored)
    return value - (1 << 64) * (value >= 1 << 63)


# CPython: values with their types

PYTHON_VALUES = (0, 1, -1, 2, -2, 3, 7, -7, 31, 64, (1 << 31) - 1, -(1 << 31), (1 << 63) - 1, -(1 << 63))
IN_PYTHON = [
    *(f"a {op} b" for level in syntax.BINARY[PYTHON] for op in level),
    *(f"a {op} b" for op in (*syntax.COMPARISONS, "and", "or")),
    *(f"{op} a" for op in (*syntax.UNARY[PYTHON], "not")),
    *(f"{name}({', '.join('ab'[:count])})" for name, count in syntax.FUNCTIONS.items()),
    *("int(a)", "int(a / b)", "a / b // 1", "a / b % b", "min(a / b, b)", "abs(a / b)", "a / b < b"),
    *("a if b else a / b", "a < b < a", "a <= b == b", "(a < b) + (a > b)", "min(a < b, a)", "not a == b"),
]


def evaluate_text(text: str, a: int, b: int) -> object:
    try:
        value = eval(text, {"__builtins__": {"min": min, "max": max, "abs": abs, "int": int}}, {"a": a, "b": b})
    except (ArithmeticError, ValueError, TypeError):
        return "error"
    return type(value), value


@pytest.mark.parametrize("text", IN_PYTHON)
def test_every_operation_has_pythons_values_and_types(text: str) -> None:
    ours = python_meaning(parse(text, PYTHON).result, ("a", "b"), text)
    for a, b in product(PYTHON_VALUES, PYTHON_VALUES):
        try:
            value = ours({"a": a, "b": b})
            outcome: object = type(value), value
        except Undefined as error:
            outcome = "large" if "64 bits" in str(error) or "a shift by" in str(error) else "error"
        if outcome == "large":  # here alone: nothing is computed of it
            assert abs(b) > 60 or abs(eval(text, {"a": a, "b": b})) >= 1 << 64
        else:
            assert outcome == evaluate_text(text, a, b), (text, a, b)
