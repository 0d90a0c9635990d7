# SPDX-License-Identifier: Apache-2.0
"""The parser of PTX: one kernel of a file, as instructions with operands, each with its line.

`parse_kernel(text, entry)` returns a `Kernel` or raises `PtxError` with the line; `literal` reads a number, `split` a
list.
Nested scopes rename their registers and labels; comments, debug sections and directives without effect on values are
skipped; any other directive is an error.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Sequence
from math import prod

from verify.kernel.ptx.source import (
    WIDTHS,
    Address,
    Immediate,
    Kernel,
    Operand,
    PtxError,
    PtxInstruction,
    Register,
    Symbol,
    Variable,
    Vector,
)

SYSTEM = ("__assertfail", "vprintf")  # functions without a body that a call may name
# Far above any kernel that a compiler makes: they bound what a file of somebody else can cost.
MAX_BYTES = 64 << 20
MAX_DEPTH = 64  # of nested scopes
MAX_REGISTERS = 1 << 20
MAX_CALLS = 32  # within each other
MAX_BODIES = 1 << 14  # calls that are replaced
MAX_STATEMENTS = 1 << 21  # labels and empty ones too
MAX_BRACKETS = 32  # and signs of an instruction
MAX_LOCAL = 512 << 10  # bytes of a thread: CUDA C++ Programming Guide, technical specifications
MAX_INSTRUCTIONS = 1 << 18  # after every call is replaced by the function's body
SPECIAL = re.compile(
    r"%(?:(?:tid|ntid|ctaid|nctaid|clusterid|nclusterid|cluster_\w+)\.[xyz]|cluster_n?ctarank|laneid|warpid|nwarpid|smid|clock\w*|globaltimer\w*)"
)


_COMMENT = re.compile(r'/\*.*?(?:\*/|\Z)|//[^\n]*|"[^"\n]*"', re.S)
_INLINE = re.compile(r"// begin inline asm.*?// end inline asm", re.S)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{};]*)\{")
_FUNCTION = re.compile(r"\.func\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?[^{};]*\{")
_CALL = re.compile(r"call(?:\.uni)?\s*(?:\(([^)]*)\)\s*,)?\s*([\w$]+)\s*(?:,\s*\(([^)]*)\))?\s*")
_STATEMENT = re.compile(
    r"\s*(?:(?P<open>\{)|(?P<close>\})|(?P<label>[\w$]+)\s*:(?!:)|(?P<loc>\.loc\b[^\n]*)"
    r"|(?P<text>[^;{}]*(?:\{[^{}]*\}[^;{}]*)*);)"
)
_VARIABLE = re.compile(r"\.(?:align\s+(\d+)\s+)?(?:\.)?([busf]\d+|f16x2|bf16)\s+([\w$]+)\s*((?:\[\s*\d*\s*\])*)$")
_MODULE = re.compile(
    r"^\s*(?:\.(?:visible|weak|extern|common)\s+)?\.(?:global|const)\s+[^;={}]*?([\w$]+)\s*(?:\[\s*\d*\s*\]\s*)*[;=]",
    re.M,
)
_ALIGN = re.compile(r"\.align\s+(\d+)")
_REG = re.compile(r"\.reg\s+(?:\.v[24]\s+)?\.(\w+)\s+(.*)", re.S)
_GUARD = re.compile(r"@\s*(!?)\s*([%\w$]+)\s+")
_OPCODE = re.compile(r"[a-z][\w.:]*")
_SEPARATOR = re.compile(r"[][{}(),]")
_ADDRESS = re.compile(r"\[\s*([%\w$.]+)\s*(?:([+-])\s*(-?\w+)\s*)?(?:,\s*(\{.*\})\s*)?\]", re.S)
_BITS = re.compile(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}")
_DECIMAL = re.compile(r"[+-]? ?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
_NUMBER = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(0[0-7]*)|([1-9][0-9]*))U?")


def literal(text: str) -> Immediate | None:
    """Return the number that a PTX literal is; None if the text isn't one.

    A float with a decimal point or an exponent is a double, however it is used.

    >>> literal("-0x10").bits, literal("0f3F800000").bits == 0x3F800000, literal("1e3").kind, literal("%r1")
    (-16, True, 'f64', None)
    """
    if _BITS.fullmatch(text):
        return Immediate(int(text[2:], 16), text, "f32" if text[1] in "fF" else "f64")
    if _DECIMAL.fullmatch(text):
        return Immediate(int.from_bytes(struct.pack(">d", float(text.replace(" ", "")))), text, "f64")
    bits = number(text)
    return None if bits is None else Immediate(bits, text)


def number(text: str) -> int | None:
    """Return the number of a PTX literal of an integer; None where the text is none.

    >>> number("-0x10"), number("017U"), number("0f3F800000"), number("%r1")
    (-16, 15, None, None)
    """
    match = _NUMBER.fullmatch(text)
    if not match:
        return None
    sign, hexadecimal, binary, octal, decimal = match.groups()
    value = next(
        int(digits, base) for digits, base in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10)) if digits
    )
    return -value if sign else value


def split(text: str) -> list[str]:
    """Return the parts between commas that are in no brackets.

    >>> split("{%f1, %f2}, [%rd1+4], %p")
    ['{%f1, %f2}', '[%rd1+4]', '%p']
    """
    parts, depth, start = [], 0, 0
    for separator in _SEPARATOR.finditer(text):
        letter = separator[0]
        if letter in "{[(":
            depth += 1
        elif letter in "}])":
            depth -= 1
        elif not depth:
            parts.append(text[start : separator.start()].strip())
            start = separator.end()
    last = text[start:].strip()
    return [*parts, last] if last else parts


def parse_kernel(text: str, entry: str = "") -> Kernel:
    """Return the kernel of a PTX file whose name has `entry` in it; raise PtxError.

    An exact name is preferred to a part of one. Without `entry` the file must have just one kernel.
    """
    if len(text) > MAX_BYTES:
        raise PtxError(1, f"the file has more than {MAX_BYTES >> 20} MiB")
    if "\0" in text[:4096]:
        raise PtxError(1, "this isn't PTX text: it has zero bytes")
    plain = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), _INLINE.sub(_keep_place, text))
    entries = list(_ENTRY.finditer(plain))
    if not entries:
        raise PtxError(1, "no .entry: the file has no kernel")
    chosen = [match for match in entries if match[1] == entry] or [match for match in entries if entry in match[1]]
    if len(chosen) != 1:
        names = ", ".join(match[1] for match in entries[:6])
        problem = f"{len(chosen) or 'no'} kernels have {entry!r} in their name" if entry else "several kernels"
        raise PtxError(plain.count("\n", 0, entries[0].start()) + 1, f"{problem}; there are: {names}")
    return _KernelReader(text, plain, chosen[0]).kernel


def _keep_place(assembly: re.Match[str]) -> str:
    """Return inline assembly at one place of the source: LLVM counts its lines on from there."""
    first, loc, rest = assembly[0].partition(".loc")
    return first + loc + re.sub(r"\.loc\b[^\n]*", "", rest)


class _KernelReader:
    """The reading of one kernel."""

    def __init__(self, text: str, plain: str, entry: re.Match[str]) -> None:
        self.plain = plain
        self.newlines = [newline.start() for newline in re.finditer("\n", plain)]
        self.scopes: list[dict[str, Register]] = [{}]  # by name
        self.families: list[list[tuple[str, int, int]]] = [[]]  # (prefix, count, first number)
        self.marks: list[dict[str, int]] = [{}]  # label -> number of an instruction
        self.branches: list[tuple[PtxInstruction, list[dict[str, int]]]] = []
        self.tables: list[dict[str, list[str]]] = [{}]
        self.variables: list[dict[str, str]] = [{}]  # local variable or parameter of a call -> its name in the kernel
        self.returns: list[list[PtxInstruction]] = []  # of the functions that are being read, innermost last
        self.bodies = self.statements = 0  # calls and statements so far
        self.functions = {function[2]: function for function in _FUNCTION.finditer(plain)}
        target = re.search(r"\.target\s+(\w+)", plain)
        self.kernel = Kernel(entry[1], target[1] if target else "", {}, {}, {}, [], [], [], None)
        self.source: tuple[int, int] | None = None
        self.column = 0
        self.line = self.line_of(entry.start())
        self._header(entry)
        for file in re.finditer(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M):
            self.kernel.files[int(file[1])] = file[2]
        self._module(plain)
        self._body(entry.end())
        self._resolve()

    def line_of(self, place: int) -> int:
        """Return the line of a place in the text, from 1."""
        return bisect_right(self.newlines, place - 1) + 1

    def _header(self, entry: re.Match[str]) -> None:
        for position, text in enumerate(split(entry[2] or "")):
            name, variable = self._variable(re.sub(r"^\.param\b", "", " ".join(text.split())), position)
            self.kernel.parameters[name] = variable
        block = re.search(r"\.reqntid\s+([\d,\s]+)", entry[3])
        if block:
            self.kernel.block = tuple(int(extent) for extent in block[1].split(",") if extent.strip())
        most = re.search(r"\.maxntid\s+([\d,\s]+)", entry[3])
        self.kernel.most = prod(int(extent) for extent in most[1].split(",") if extent.strip()) if most else 0
        cluster = re.search(r"\.reqnctapercluster\s+([\d,\s]+)", entry[3])
        if cluster and any(int(extent) > 1 for extent in cluster[1].split(",") if extent.strip()):
            self.kernel.clusters = (self.line_of(entry.start(3) + cluster.start()), " ".join(cluster[0].split()))

    def _module(self, plain: str) -> None:
        """Variables outside of any function."""
        for declared in re.finditer(r"^\s*(?:\.visible\s+|\.weak\s+)?(\.extern\s+)?\.shared\s+([^;{}]*);", plain, re.M):
            self.line = self.line_of(declared.start())
            name, variable = self._variable(" ".join(declared[2].split()))
            (self.kernel.dynamic if declared[1] else self.kernel.shared)[name] = variable
        for declared in _MODULE.finditer(plain):
            self.kernel.module.setdefault(declared[1], len(self.kernel.module))

    def _variable(self, text: str, position: int = 0) -> tuple[str, Variable]:
        """(name, variable) of a declaration after its space: `.align 16 .b8 name[32]`."""
        align = _ALIGN.search(text)
        rest = re.sub(r"\.ptr\b(\s*\.(?:global|shared|const|local))?", "", _ALIGN.sub("", text)).split()
        kind = next((word[1:] for word in rest if word[1:] in WIDTHS and word[0] == "."), "")
        name = re.fullmatch(r"([\w$%]+)((?:\[\d*\])*)", rest[-1]) if rest else None
        if not kind or name is None:
            raise PtxError(self.line, f"cannot read the declaration {text[:60]!r}")
        count = 1
        for extent in re.findall(r"\[(\d*)\]", name[2]):
            count *= int(extent or 0)
        width = WIDTHS[kind] // 8
        return name[1], Variable(width * count, int(align[1]) if align else width, position)

    def _body(self, place: int) -> None:
        depth = 1
        while depth:
            statement = _STATEMENT.match(self.plain, place)
            if statement is None:
                rest = self.plain[place : place + 4096]
                begin = place + len(rest) - len(rest.lstrip())
                raise PtxError(self.line_of(begin), "the kernel ends within a statement")
            self.statements += 1
            if self.statements > MAX_STATEMENTS:
                raise PtxError(self.line_of(place), f"more than {MAX_STATEMENTS} statements")
            place, kind = statement.end(), statement.lastgroup
            self.line = self.line_of(statement.start(kind or 0))
            if kind == "open":
                depth += 1
                if depth > MAX_DEPTH:
                    raise PtxError(self.line, f"more than {MAX_DEPTH} nested scopes")
                self._open()
            elif kind == "close":
                depth -= 1
                if depth:
                    self._close()
            elif kind == "label":
                self._label(statement["label"], statement.end())
            elif kind == "loc":
                numbers = re.findall(r"\d+", statement["loc"].partition("//")[0])
                self.source = (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else None
                self.column = int(numbers[2]) if len(numbers) > 2 else 0
            else:
                self._statement(" ".join(statement["text"].split()))

    def _open(self) -> None:
        """Begin a scope."""
        self.scopes.append({})
        self.families.append([])
        self.marks.append({})
        self.tables.append({})
        self.variables.append({})

    def _close(self) -> None:
        for stack in (self.scopes, self.families, self.marks, self.tables, self.variables):
            stack.pop()

    def _call(self, text: str) -> None:
        """Put a function's body in place of its call; its parameters are the variables that the call gives."""
        call = _CALL.fullmatch(text)
        if call and call[2] in SYSTEM and call[2] not in self.functions:
            self.kernel.instructions.append(PtxInstruction(self.line, text, ("call", call[2]), None, (), self.source))
            return
        function = self.functions.get(call[2]) if call else None
        if call is None or function is None:
            raise PtxError(self.line, f"no function is there for {text[:80]!r}")
        if len(self.returns) >= MAX_CALLS:
            raise PtxError(self.line, f"more than {MAX_CALLS} calls within each other")
        self.bodies += 1
        if self.bodies > MAX_BODIES:
            raise PtxError(self.line, f"more than {MAX_BODIES} calls")
        line, source = self.line, self.source
        given = [self._name(argument) for part in (call[1], call[3]) for argument in split(part or "")]
        formal = [
            parameter.split("[")[0].split()[-1]
            for part in (function[1], function[3])
            for parameter in split(part or "")
        ]
        if len(given) != len(formal):
            raise PtxError(self.line, f"{call[2]} has {len(formal)} parameters, the call gives {len(given)}")
        self._open()
        self.variables[-1].update(zip(formal, given, strict=True))
        self.returns.append([])
        self._body(function.end())
        for jump in self.returns.pop():
            jump.target, jump.targets = len(self.kernel.instructions), (len(self.kernel.instructions),)
        self._close()
        self.line, self.source = line, source

    def _name(self, name: str) -> str:
        """Return the name in the kernel of a local variable or of a parameter of a call."""
        return next((scope[name] for scope in reversed(self.variables) if name in scope), name)

    def _label(self, name: str, place: int) -> None:
        listed = re.compile(r"\s*\.branchtargets\s+([^;]*);").match(self.plain, place)
        if listed:
            self.tables[-1][name] = [label.strip() for label in listed[1].split(",")]
        self.marks[-1][name] = len(self.kernel.instructions)

    def _statement(self, text: str) -> None:
        if not text or text.startswith((".pragma", ".branchtargets", ".file")):
            return
        if text.startswith(".reg"):
            self._registers(text)
        elif text.startswith((".shared", ".local", ".param")):
            space, _, rest = text[1:].partition(" ")
            name, variable = self._variable(rest)
            if space == "shared":
                self.kernel.shared[name] = variable
            else:
                self.variables[-1][name] = f"{name}#{len(self.kernel.local)}"
                self.kernel.local[self.variables[-1][name]] = variable
                if variable.size > MAX_LOCAL:
                    problem = f"{name} has {variable.size} bytes, a thread {MAX_LOCAL} of local memory"
                    raise PtxError(self.line, problem)
        elif text.startswith("."):
            raise PtxError(self.line, f"the directive {text[:60]!r} has no meaning here")
        elif text.startswith("call"):
            self._call(text)
        else:
            if len(self.kernel.instructions) >= MAX_INSTRUCTIONS:
                raise PtxError(self.line, f"more than {MAX_INSTRUCTIONS} instructions")
            self.kernel.instructions.append(self._instruction(text))

    def _registers(self, text: str) -> None:
        declared = _REG.fullmatch(text)
        if declared is None or declared[1] not in WIDTHS:
            raise PtxError(self.line, f"cannot read the declaration {text[:60]!r}")
        for name in declared[2].split(","):
            many = re.fullmatch(r"([%\w$]+)<(\d+)>", name.strip())
            first = len(self.kernel.registers)
            count = int(many[2]) if many else 1
            if first + count > MAX_REGISTERS:
                raise PtxError(self.line, f"more than {MAX_REGISTERS} registers")
            self.kernel.registers += [declared[1]] * count
            if many:
                self.families[-1].append((many[1], count, first))
                self.kernel.names += [f"{many[1]}{number}" for number in range(count)]
            else:
                self.scopes[-1][name.strip()] = Register(name.strip(), first)
                self.kernel.names.append(name.strip())

    def _register(self, name: str) -> Register | None:
        """Return the register of a name, innermost scope first; None if no scope declares it."""
        for scope, families in zip(reversed(self.scopes), reversed(self.families), strict=True):
            if name in scope:
                return scope[name]
            for prefix, count, first in families:
                digits = name[len(prefix) :]
                if name.startswith(prefix) and digits.isdigit() and digits.isascii() and int(digits) < count:
                    scope[name] = Register(name, first + int(digits))
                    return scope[name]
        return None

    def _instruction(self, text: str) -> PtxInstruction:
        rest, guard = text, None
        if sum(map(text.count, "{[(!")) > MAX_BRACKETS:
            raise PtxError(self.line, f"more than {MAX_BRACKETS} brackets and signs in {text[:60]!r}")
        guarded = _GUARD.match(text)
        if guarded:
            operand = self._operand(guarded[1] + guarded[2])
            rest = text[guarded.end() :]
            if not isinstance(operand, Register):
                raise PtxError(self.line, f"the guard of {text[:80]!r} isn't a predicate")
            guard = operand
        opcode = _OPCODE.match(rest)
        if opcode is None:
            raise PtxError(self.line, f"cannot read {text[:80]!r}")
        words = tuple(opcode[0].split("."))
        branch = words[0] in ("bra", "brx")
        parts = split(rest[opcode.end() :])
        operands = tuple(Symbol(part) if branch and not part.startswith("%") else self._operand(part) for part in parts)
        made = PtxInstruction(self.line, text, words, guard, operands, self.source, column=self.column)
        if words[0] == "ret" and self.returns:
            made.words, made.operands = ("bra",), (Symbol("the call's end"),)
            self.returns[-1].append(made)
        if branch:
            self.branches.append((made, self.marks.copy()))
            if words[0] == "brx" and isinstance(operands[-1], Symbol):
                name = operands[-1].name
                listed = next((table[name] for table in reversed(self.tables) if name in table), [])
                made.operands = (*operands[:-1], Vector(tuple(map(Symbol, listed))))
        return made

    def _operand(self, text: str) -> Operand:  # noqa: PLR0911 - one for each kind of operand
        first = text[:1]
        if first in ("{", "("):
            parts = split(text[1:-1])
            if not parts:
                raise PtxError(self.line, "empty braces: registers are expected in them")
            return Vector(tuple(map(self._operand, parts)))
        if first == "[":
            return self._address(text)
        if first == "!":
            register = self._operand(text[1:].strip())
            if isinstance(register, Register):
                return Register(register.name, register.index, True)
        if "|" in text:
            return Vector(tuple(self._operand(part.strip()) for part in text.split("|")), pair=True)
        known = self._register(text)
        if known is not None:
            return known
        immediate = literal(text)
        if immediate is not None:
            return immediate
        if text == "WARP_SZ":
            return Immediate(32, text)
        if text == "_" or SPECIAL.fullmatch(text):
            return Symbol(text)
        symbol = re.fullmatch(r"([\w$]+)\s*(?:\+\s*(\d+))?", text)
        if symbol:
            return Symbol(self._name(symbol[1]), int(symbol[2] or 0))
        if first == "%":
            raise PtxError(self.line, f"the register {text[:40]!r} is not declared")
        raise PtxError(self.line, f"cannot read the operand {text[:60]!r}")

    def _address(self, text: str) -> Address:
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise PtxError(self.line, f"cannot read the address {text[:60]!r}")
        offset = number(match[3]) if match[3] else 0
        if offset is None:
            raise PtxError(self.line, f"cannot read the address {text[:60]!r}")
        tensor = self._operand(match[4]) if match[4] else Vector(())
        coordinates = tensor.items if isinstance(tensor, Vector) else ()
        return Address(self._operand(match[1]), -offset if match[2] == "-" else offset, coordinates)

    def _resolve(self) -> None:
        """Put the numbers of their targets into branches; PtxError for a label that is not there."""
        for branch, marks in self.branches:
            last = branch.operands[-1] if branch.operands else None
            names: Sequence[Operand] = last.items if isinstance(last, Vector) else (last,) if last else ()
            places = []
            for name in names:
                label = name.name if isinstance(name, Symbol) else ""
                place = next((scope[label] for scope in reversed(marks) if label in scope), None)
                if place is None:
                    raise PtxError(branch.line, f"there is no label {label!r}")
                places.append(place)
            if not places:
                raise PtxError(branch.line, "a branch without a target")
            branch.target, branch.targets = places[0], tuple(places)
