# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic as a syntax tree: a parser for the expressions of C and of Python, each with its own precedence.

Texts are parsed and never executed. `lane & 3 == 0` is `lane & (3 == 0)` in C and `(lane & 3) == 0` in Python: so one
text has two trees. Limits on length, depth and size make a hostile text an error of one line.

`parse(text, language)`   the code of a text: its declarations, and the expression after them
`BINARY`, `UNARY`         the operators of a language, by precedence
`TYPES`, `FUNCTIONS`      the words of C for types, and the functions that are known

>>> parse("lane & 3 == 0", C).result, parse("lane & 3 == 0", PYTHON).result  # doctest: +NORMALIZE_WHITESPACE
(Binary('&', Name('lane'), Binary('==', Number(3), Number(0))),
 Compare([Binary('&', Name('lane'), Number(3)), Number(0)], ['==']))
"""

from __future__ import annotations

import re
from functools import lru_cache

from verify.maps.tree import (
    Binary,
    Call,
    Cast,
    Code,
    Compare,
    Declaration,
    ExpressionError,
    Name,
    Number,
    Ternary,
    Tree,
    Unary,
)

C, PYTHON = "c", "python"
MAX_TEXT = 16 * 1024
MAX_DEPTH = 40  # of brackets
MAX_CHAIN = 200  # of operators that group from the left
MAX_NODES = 4096
MAX_DIGITS = {"0b": 64, "0o": 22}  # by base; 20 elsewhere: all that 64 bits can need
TYPES = {  # C's words for a type -> the type; `long` and plain `char` are refused: machines differ
    **dict.fromkeys(("int", "int32_t", "signed", "signed int"), "int"),
    **dict.fromkeys(("unsigned", "unsigned int", "uint32_t", "uint"), "unsigned"),
    **dict.fromkeys(("signed char", "int8_t"), "int8"),
    **dict.fromkeys(("unsigned char", "uint8_t", "uchar"), "uint8"),
    **dict.fromkeys(("short", "short int", "int16_t"), "int16"),
    **dict.fromkeys(("unsigned short", "unsigned short int", "uint16_t", "ushort"), "uint16"),
    **dict.fromkeys(("long long", "long long int", "int64_t"), "int64"),
    **dict.fromkeys(("unsigned long long", "unsigned long long int", "uint64_t", "size_t"), "uint64"),
    "bool": "bool",
}
WORDS = {word for words in TYPES for word in words.split()}
SUFFIXES = {"": "", **{word: word.lower().replace("llu", "ull") for word in (
    "u", "U", "ll", "LL", "ull", "uLL", "Ull", "ULL", "llu", "llU", "LLu", "LLU")}}  # fmt: skip
CHARACTER = re.compile(r"'(.)'")
QUALIFIERS = ("const", "constexpr", "static")
FUNCTIONS = {"min": 2, "max": 2, "abs": 1}
KEYWORDS = {"if", "else", "and", "or", "not", "in", "is", "lambda", "return", "auto", *QUALIFIERS}
TOKEN = re.compile(
    r"(?P<number>0[xX][0-9A-Fa-f_']*|0[bB][01_']*|0[oO][0-7_']*|[0-9][0-9_']*)(?P<suffix>[A-Za-z0-9_.]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[xyz]\b)?)"
    r"|(?P<mark><<=?|>>=?|<=|>=|==|!=|&&|\|\||//|\*\*|[-+*/%&|^~!<>?:(),;=\[\]{}.])"
)
SPACE = {C: re.compile(r"(?:[ \t\r\n]|/\*(?:[^*]|\*(?!/))*+\*/)*+"), PYTHON: re.compile(r"(?:[ \t\r]|#[^\n]*)*+")}
LINES = {C: re.compile(r"(?:[ \t\r\n]|/\*(?:[^*]|\*(?!/))*+\*/|//[^\n]*)*+"), PYTHON: re.compile(r"(?:\s|#[^\n]*)*+")}
BINARY = {  # operators from those that bind last to those that bind first
    C: [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
        ("*", "/", "%")],
    PYTHON: [("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "//", "%")],
}  # fmt: skip
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
UNARY = {C: ("-", "+", "~", "!"), PYTHON: ("-", "+", "~")}


@lru_cache(maxsize=64)  # a repair parses texts again of which it has changed another
def parse(text: str, language: str, comments: bool = False) -> Code:
    """Return the tree of a text in a language, C or PYTHON.

    In C `//` begins a comment, which ends a text at once: it is an error before a `;`, unless `comments` allows it.

    >>> [d.name for d in parse("const int g = lane >> 2; return g + 8;", C).declarations]
    ['g']

    Raises ExpressionError.
    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"a text of more than {MAX_TEXT} characters", text, 0)
    return _Parser(text, language, comments).code()


class _Parser:
    """A parser by descent: a text, the position up to which it is read, and the depth."""

    def __init__(self, text: str, language: str, comments: bool) -> None:
        self.text, self.language, self.comments = text, language, comments
        self.at = self.end = self.depth = self.nodes = self.brackets = 0

    def fail(self, problem: str, at: int | None = None) -> ExpressionError:
        return ExpressionError(problem, self.text, self.at if at is None else at)

    def blank(self, lines: bool = False) -> None:
        """Skip blanks; in Python a line ends a statement outside brackets, in C `//` before a `;` is no comment."""
        spaces = LINES if lines or (self.brackets if self.language == PYTHON else self.comments) else SPACE
        match = spaces[self.language].match(self.text, self.at)
        self.at = match.end() if match else self.at

    def peek(self) -> str:
        """Return the next name or mark; "0" for a number, empty at the end of the text, or of a line in Python."""
        self.blank()
        match = TOKEN.match(self.text, self.at)
        if match is None:
            if self.at < len(self.text) and self.text[self.at] != "\n":
                raise self.fail(self.outlandish())
            return ""
        return "0" if match["number"] else match[0]

    def outlandish(self) -> str:
        """Return why the next character begins no token."""
        if self.text[self.at] != "'":
            return f"{self.text[self.at]!r} has no place in an expression"
        match = CHARACTER.match(self.text, self.at)
        what = "a character constant" if self.language == C else "a string"
        return f"{match[0]} is {what}: write {ord(match[1])}" if match else f"{what} has no place in an expression"

    def take(self, mark: str = "") -> str:
        """Read the next token, which must be `mark` if one is given."""
        seen = self.peek()
        if mark and seen != mark:
            shown = repr(seen) if seen and seen != "0" else "a number" if seen else "the end"
            raise self.fail(f"expected {mark!r}, found {shown}")
        match = TOKEN.match(self.text, self.at)
        if match is None:
            raise self.fail("expected a name, a number or '(', found the end")
        self.at = self.end = match.end()
        return match[0]

    def sees(self, *marks: str) -> bool:
        seen = self.peek()
        return seen in marks

    def place(self, node: Tree, start: int) -> Tree:
        """Return the node with its place, counted."""
        node.start, node.end = start, self.end
        node.depth = 1 + max((part.depth for part in node.parts), default=0)
        self.nodes += 1
        if node.depth > MAX_CHAIN:
            raise self.fail(f"more than {MAX_CHAIN} operators in a row")
        if self.nodes > MAX_NODES:
            raise self.fail(f"an expression of more than {MAX_NODES} parts")
        return node

    def code(self) -> Code:
        declarations: list[Declaration] = []
        self.blank(lines=True)
        while (declared := self.declaration()) is not None:
            declarations.append(declared)
            self.blank(lines=True)
        if self.sees("return"):
            self.take()
        result = self.expression()
        while self.sees(";"):
            self.take()
            self.blank(lines=True)
        if self.language == C and self.sees("//"):
            raise self.fail("'//' begins a comment in C: write '/', or state that the language is Python")
        self.blank(lines=True)
        if seen := self.peek():
            raise self.fail(self.describe_misplaced(seen))
        return Code(self.text, self.language, tuple(declarations), result, self.nodes)

    def describe_misplaced(self, seen: str) -> str:
        """Why a token cannot be after an expression."""
        hints = {
            "//": "write '/'", "and": "write '&&'", "or": "write '||'", "if": "write 'a ? b : c'",
        } if self.language == C else {
            "&&": "write 'and'", "||": "write 'or'", "?": "write 'a if b else c'",
        }  # fmt: skip
        if seen in hints:
            name = {C: "C", PYTHON: "Python"}[self.language]
            return f"{seen!r} is not {name}: {hints[seen]}"
        shown = {"=": "'='; a comparison is '=='", "0": "a number"}.get(seen, repr(seen))
        return f"expected an operator or the end, found {shown}"

    def declaration(self) -> Declaration | None:
        """`type name = value;`, or in Python `name = value` on a line; None, and nothing read, for anything else."""
        start, type_ = self.at, ""
        if self.language == C:
            while self.sees(*QUALIFIERS):
                self.take()
            type_ = "auto" if self.sees("auto") else self.type_words()
            if type_ == "auto":
                self.take()
        name = self.peek()
        if name.isidentifier() and name not in KEYWORDS and name not in FUNCTIONS:
            self.take()
            if self.sees("="):
                if self.language == C and not type_:
                    raise self.fail(self.describe_misplaced("="))
                self.take()
                value = self.expression()
                if self.language == C:
                    self.take(";")
                elif self.sees(";"):
                    self.take()
                elif self.peek():
                    raise self.fail(self.describe_misplaced(self.peek()))
                return Declaration(name, "" if type_ == "auto" else type_, value)
        self.at = start
        return None

    def type_words(self) -> str:
        """Return the type that the next words are; empty, and nothing read, where they are none."""
        start, words = self.at, []
        while self.peek() in WORDS:
            words.append(self.take())
        joined = " ".join(sorted(words, key=lambda word: word not in ("unsigned", "signed")))
        if "long" in words and words.count("long") < 2:
            raise self.fail("long has 32 bits on some machines and 64 on others: write int or long long", start)
        if joined == "char":
            raise self.fail("char is signed on some machines and unsigned on others: write int8_t or uint8_t", start)
        if words and joined not in TYPES:
            raise self.fail(f"{joined!r} isn't a type: known are int, unsigned, char, short, long long, bool", start)
        return TYPES[joined] if words else ""

    def expression(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH}")
        self.peek()
        start = self.at
        first = self.binary(0) if self.language == C else self.disjunction()
        if self.language == C and self.sees("?"):
            self.take()
            then = self.expression()
            self.take(":")
            first = self.place(Ternary(first, then, self.expression()), start)
        elif self.language == PYTHON and self.sees("if"):
            self.take()
            test = self.disjunction()
            self.take("else")
            first = self.place(Ternary(test, first, self.expression()), start)
        self.depth -= 1
        return first

    def binary(self, level: int) -> Tree:
        """Return a sum, product, ... of one level of precedence, grouped from the left."""
        levels = BINARY[self.language]
        if level == len(levels):
            return self.unary()
        self.peek()
        start = self.at
        left = self.binary(level + 1)
        while self.sees(*levels[level]):
            op = self.take()
            left = self.place(Binary(op, left, self.binary(level + 1)), start)
        return left

    def disjunction(self) -> Tree:
        """Python's `or`, above `and`, above `not`, above comparisons."""
        return self.join("or", "||", lambda: self.join("and", "&&", self.negation))

    def join(self, word: str, op: str, part: object) -> Tree:
        self.peek()
        start = self.at
        left: Tree = part()  # type: ignore[operator]
        while self.sees(word):
            self.take()
            left = self.place(Binary(op, left, part()), start)  # type: ignore[operator]
        return left

    def negation(self) -> Tree:
        self.peek()
        start, count = self.at, 0
        while self.sees("not"):
            self.take()
            count += 1
        tree = self.comparison()
        for _ in range(count):
            tree = self.place(Unary("!", tree), start)
        return tree

    def comparison(self) -> Tree:
        self.peek()
        start = self.at
        operands, ops = [self.binary(0)], []
        while self.sees(*COMPARISONS):
            ops.append(self.take())
            operands.append(self.binary(0))
        return self.place(Compare(operands, ops), start) if ops else operands[0]

    def unary(self) -> Tree:
        """Signs and casts before a name, a number, a call or brackets."""
        self.peek()
        before: list[tuple[str, str, int]] = []
        while True:
            start = self.at
            if self.sees(*UNARY[self.language]):
                before.append(("op", self.take(), start))
            elif self.language == C and self.sees("(") and (type_ := self.cast()):
                before.append(("cast", type_, start))
            else:
                break
            if len(before) + self.depth > MAX_DEPTH:
                raise self.fail(f"nested deeper than {MAX_DEPTH}")
            self.peek()
        tree = self.primary()
        for sort, word, start in reversed(before):
            tree = self.place(Cast(word, tree) if sort == "cast" else Unary(word, tree), start)
        if self.language == PYTHON and self.sees("**"):
            raise self.fail("'**' is not in the language: write a product or a shift")
        return tree

    def cast(self) -> str:
        """Return the type of `(type)`; empty, and nothing read, for any other bracket."""
        start = self.at
        self.take("(")
        type_ = self.type_words()
        if type_:
            self.take(")")
        else:
            self.at = start
        return type_

    def primary(self) -> Tree:
        seen = self.peek()
        start = self.at
        if seen == "0":
            return self.number()
        if seen == "(":
            return self.parse_brackets()
        if self.language == C and seen == "static_cast":
            self.take()
            self.take("<")
            type_ = self.type_words()
            self.take(">")
            return self.place(Cast(type_ or "int", self.parse_brackets()), start)
        if (self.language == C and seen in WORDS) or (self.language == PYTHON and seen == "int"):
            type_ = self.type_words() if self.language == C else self.take()
            return self.place(Cast(type_, self.parse_brackets()), start)
        if seen in FUNCTIONS:
            return self.call(self.take(), start)
        if seen and (seen[0].isalpha() or seen[0] == "_") and seen not in KEYWORDS:
            self.take()
            if self.sees("(", "["):
                raise self.fail(f"{seen!r} isn't a function that is known here (min, max, abs)", start)
            return self.place(Name(seen), start)
        shown = repr(seen) if seen else "the end"
        raise self.fail(f"expected a name, a number or '(', found {shown}")

    def parse_brackets(self) -> Tree:
        self.take("(")
        self.brackets += 1
        tree = self.expression()
        self.brackets -= 1
        self.take(")")
        return tree

    def call(self, function: str, start: int) -> Tree:
        self.take("(")
        self.brackets += 1
        arguments = [self.expression()]
        while self.sees(","):
            self.take()
            arguments.append(self.expression())
        self.brackets -= 1
        self.take(")")
        if len(arguments) != FUNCTIONS[function]:
            raise self.fail(f"{function} takes {FUNCTIONS[function]} arguments, found {len(arguments)}", start)
        return self.place(Call(function, arguments), start)

    def number(self) -> Tree:
        start = self.at
        match = TOKEN.match(self.text, self.at)
        if match is None:
            raise self.fail("expected a number")
        value, digits = self.integer(match["number"]), match["number"]
        suffix = self.suffix(digits, match["suffix"])
        self.at = self.end = match.end()
        # C gives hexadecimal, octal and binary literals other types than decimal ones
        decimal = digits[0] != "0" or not digits.strip("0_'")
        return self.place(Number(value, suffix, decimal), start)

    def integer(self, digits: str) -> int:
        """Return the value of digits; raise ExpressionError for those of another language."""
        c, base = self.language == C, digits[:2].lower()
        separator = "'" if c else "_"
        plain = digits.replace(separator, "")
        if len(plain.removeprefix(base) if base in MAX_DIGITS else plain) > MAX_DIGITS.get(base, 20):
            raise self.fail(f"a number of more than {MAX_DIGITS.get(base, 20)} digits")
        octal = c and plain.isdigit() and plain[0] == "0" and len(plain) > 1
        try:
            if c and (base == "0o" or "_" in digits):
                raise ValueError
            # Python's rule of `_` is C's rule of `'`: one between two digits, but for 0x_1
            value = int(digits.replace(separator, "_"), 8 if octal else 0)
            if c and re.match(r"0[xXbB]'", digits):
                raise ValueError
        except ValueError:
            raise self.fail(f"{digits} isn't a number of {'C' if c else 'Python'}{self.spell(digits)}") from None
        return value

    def spell(self, digits: str) -> str:
        """Return how the language spells a number of the other one; empty if it has none like it."""
        plain = digits.replace("_", "").replace("'", "").lower().replace("0o", "0")
        octal = plain[0] == "0" and plain.strip("0") and not set(plain) - set("01234567")
        if plain.isdigit() and plain[0] == "0" and not octal:
            return f": write {plain.lstrip('0') or '0'}"
        if octal:
            return f": write {plain} for octal" if self.language == C else f": write 0o{plain.lstrip('0')} for octal"
        return f": write {plain}" if len(plain) > 2 or plain.isdigit() else ""

    def suffix(self, digits: str, given: str) -> str:
        """Return the suffix of a literal in small letters, u before ll; raise ExpressionError for any other."""
        if self.language == C and given in SUFFIXES:
            return SUFFIXES[given]
        if not given:
            return ""
        literal = digits + given
        if "." in given or (given[0] in "eE" and digits.isdigit()):
            raise self.fail(f"{literal} isn't an integer")
        if self.language == C and given.lower() in ("l", "ul", "lu"):
            unsigned = "u" in given.lower()
            long, int_ = (f"{digits}ull", f"{digits}u") if unsigned else (f"{digits}ll", digits)
            machines = "long has 64 bits on some machines and 32 on others"
            raise self.fail(f"the suffix of {literal}: {machines}: write {long} or {int_}")
        listed = "u, ll and ull" if self.language == C else "none"
        raise self.fail(
            f"the suffix {given!r} of {literal} is unknown: {'C' if self.language == C else 'Python'} has {listed}"
        )
