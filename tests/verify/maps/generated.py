# SPDX-License-Identifier: Apache-2.0
"""Random index arithmetic as text, in C or in Python, for comparison with a compiler and with Python itself."""

from __future__ import annotations

from random import Random

C_BINARY = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]
PYTHON_BINARY = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "and", "or"]
LITERALS = ["0", "1", "2", "3", "4", "7", "8", "16", "31", "32", "64", "255", "0x1f", "2147483647"]
C_LITERALS = [*LITERALS, "1u", "3u", "010", "0xffffffff", "4294967295", "5ll", "2ull"]
TYPES = ["int", "unsigned", "int8_t", "uint8_t", "short", "uint16_t", "long long", "uint64_t", "bool"]
NAMES = ["lane", "i", "u"]


def c_text(rng: Random, depth: int = 4) -> str:
    """An expression of C, brackets at random: the precedence of its operators is part of what is compared."""
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        return rng.choice(NAMES) if rng.random() < 0.6 else rng.choice(C_LITERALS)
    if kind < 0.75:
        return f"{c_text(rng, depth - 1)} {rng.choice(C_BINARY)} {c_text(rng, depth - 1)}"
    if kind < 0.85:
        return f"({c_text(rng, depth - 1)})"
    if kind < 0.90:
        return f"({c_text(rng, depth - 1)} ? {c_text(rng, depth - 1)} : {c_text(rng, depth - 1)})"
    if kind < 0.95:
        return f"({rng.choice(TYPES)})({c_text(rng, depth - 1)})"
    return f"{rng.choice('-~!')} ({c_text(rng, depth - 1)})"


def python_text(rng: Random, depth: int = 4) -> str:
    """An expression of Python."""
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        return rng.choice(NAMES) if rng.random() < 0.6 else rng.choice(LITERALS)
    if kind < 0.75:
        return f"{python_text(rng, depth - 1)} {rng.choice(PYTHON_BINARY)} {python_text(rng, depth - 1)}"
    if kind < 0.85:
        return f"({python_text(rng, depth - 1)})"
    if kind < 0.93:
        first, test, last = (python_text(rng, depth - 1) for _ in range(3))
        return f"({first} if {test} else {last})"
    return rng.choice(["- ({})", "~ ({})", "(not ({}))"]).format(python_text(rng, depth - 1))
