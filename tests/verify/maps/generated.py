# SPDX-License-Identifier: Apache-2.0
"""Random index arithmetic as text, in C or in Python, for comparison with a compiler and with Python itself."""

from __future__ import annotations

import re
from random import Random

BINARY = ["+", "-", "*", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!="]
LITERALS = ["0", "1", "2", "3", "4", "7", "8", "16", "31", "32", "64", "255", "0x1f", "2147483647"]
TYPES = ["int", "unsigned", "int8_t", "uint8_t", "short", "uint16_t", "long long", "uint64_t", "bool"]
NAMES = ["lane", "i", "u"]
C_LITERALS = [*LITERALS, "1u", "3u", "010", "0xffffffff", "4294967295", "5ll", "2ull"]
WORDS = {  # language -> what each letter of a form is one of
    "c": {"B": [*BINARY, "/", "&&", "||"], "L": C_LITERALS, "T": TYPES, "U": ["-", "~", "!"], "N": NAMES},
    "python": {"B": [*BINARY, "//", "and", "or"], "L": LITERALS, "U": ["-", "~", "not"], "N": NAMES},
}
# form -> how often, E an expression: the precedence of operators without brackets is part of what is compared
FORMS = {
    "c": {"N": 9, "L": 6, "E B E": 60, "(E)": 10, "(E ? E : E)": 5, "(T)(E)": 5, "U (E)": 5},
    "python": {"N": 9, "L": 6, "E B E": 60, "(E)": 10, "(E if E else E)": 8, "(U (E))": 7},
}


def generate(rng: Random, language: str, depth: int = 4) -> str:
    """An expression of a language; brackets are at random."""
    forms = FORMS[language] if depth else {form: count for form, count in FORMS[language].items() if "E" not in form}
    (form,) = rng.choices([*forms], [*forms.values()])

    def part(letter: re.Match[str]) -> str:
        return generate(rng, language, depth - 1) if letter[0] == "E" else rng.choice(WORDS[language][letter[0]])

    return re.sub(r"\b[A-Z]\b", part, form)
