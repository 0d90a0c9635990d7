# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels by a wrong meaning: another modifier, type, rounding, scope, mask, sign or alignment at one place.

The opcodes come from `isa_tables`: those that differ from the one of the text in one word, of any row with its head;
of matrix instructions the mnemonics of the same shape. ptxas decides which of them exist.

>>> text = "{\\n bar.warp.sync 0xffffffff;\\n add.rn.f32 %f1, %f2, %f3;\\n}"
>>> sorted({edit.sort for edit in misread(text)})
['masks', 'modifiers', 'negations', 'rounding', 'widths']
>>> [edit.new.strip() for edit in misread(text) if edit.sort == "rounding"][:2]
['add.f32 %f1, %f2, %f3;', 'add.rz.f32 %f1, %f2, %f3;']
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from benchmarks.kernels.edits import Edit
from isa_tables.semantics import Meaning, Row, meaning, rows
from isa_tables.signature import mnemonics

SORTS = ("modifiers", "signedness", "widths", "rounding", "scopes", "masks", "negations", "alignments")
MASKS = ("0x0000ffff", "0x7fffffff", "0xfffffffe", "0x00000001")
_SIZES = ("size", "valid", "bytes", "columns", "count", "amount")  # roles
_INSTRUCTION = re.compile(r"(?:@!?(?P<guard>%?[\w$]+)\s+)?(?P<opcode>[a-z]\w*(?:\.[\w:]+)+)(?P<operands>[^;]*);")
_ALIGN = re.compile(r"(?<=\.align )\d+")
_SHAPE = re.compile(r"m\d+n\d+(k\d+)?")
_TYPE = re.compile(r"(pred|[busf]f?|e\dm)(\d+)(?:x\d)?")
_ROUNDING = re.compile(r"r[nzmp]i?|rna|rs")
_SCOPE = re.compile(r"cta|cluster|gpu|gl|sys|sc|weak|volatile|relaxed.*|acquire.*|release.*|acq_rel.*|gpu\..*")
_WIDTH = re.compile(r"v[248]|x\d+|wide|lo|hi|[1-5]d|\d+x\d+b")
_NEGATES = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16", "s64": "s64", "u64": "s64", "b64": "s64",
            "s32": "s32", "u32": "s32", "b32": "s32", "s16": "s16", "u16": "s16"}  # fmt: skip
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
_UNKNOWN = "add.f32 unknown, unknown, unknown;"
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*:")
_FLOAT = re.compile(r"0[fFdD](?:[0-9a-fA-F]{8}){1,2}")


def misread(text: str) -> Iterator[Edit]:
    """Yield every edit of a text's meanings."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = inside or line.strip() == "{"
        if match := _ALIGN.search(line) if ".shared" in line else None:
            for size in (1, 4, int(match[0]) // 2):
                if size < int(match[0]):
                    yield Edit(number, "alignments", line, line[: match.start()] + str(size) + line[match.end() :])
        if inside and not line.lstrip().startswith(("//", ".")):
            for match in _INSTRUCTION.finditer(line):
                for sort, new in dict.fromkeys(_change(match)):
                    yield Edit(number, sort, line, line[: match.start()] + new + line[match.end() :])


def draw_meanings(text: str, count: int, seed: int) -> list[Edit]:
    """Draw edits that ptxas takes, as many of each class and of each opcode in it as there are, without repetition."""
    draw = random.Random(seed)
    left: dict[str, dict[str, list[Edit]]] = {}
    for edit in take(text, list(misread(text))):
        head = _INSTRUCTION.search(edit.old)
        left.setdefault(edit.sort, {}).setdefault(head["opcode"] if head else "", []).append(edit)
    drawn: list[Edit] = []
    while left and len(drawn) < count:
        for sort in sorted(left):
            opcode = draw.choice(sorted(left[sort]))
            edits = left[sort][opcode]
            drawn.append(edits.pop(draw.randrange(len(edits))))
            if not edits:
                del left[sort][opcode]
            if not left[sort]:
                del left[sort]
    return drawn[:count]


def take(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits whose instruction ptxas takes: it reads one of each form next to its line."""
    forms = {_form(edit): edit for edit in edits if edit.sort != "alignments"}
    lines, target = text.splitlines(), re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
    end = max(number for number, line in enumerate(lines, 1) if re.match(r"\s*ret\b", line))
    while True:
        tried: list[Edit | str] = []
        added: dict[int, list[Edit]] = {}
        for edit in forms.values():
            added.setdefault(edit.line, []).append(edit)
        for number, line in enumerate(lines, 1):
            tried += [_UNKNOWN] if number == end else []  # an error in any case: machine code takes long
            closes = line.count("}") > line.count("{")  # a scope whose registers the edits name
            tried += [*added.get(number, ()), line] if closes else [line, *added.get(number, ())]
        source = "\n".join(_balanced(part.new) if isinstance(part, Edit) else part for part in tried) + "\n"
        command = ["ptxas", f"-arch={target[1] if target else 'sm_80'}", "-O0", "-o", os.devnull, "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        wrong = [tried[int(number) - 1] for number in _ERROR.findall(done.stderr)]
        rejected = {_form(part) for part in wrong if isinstance(part, Edit)}
        if not rejected and not any(part == _UNKNOWN for part in wrong):
            raise RuntimeError(done.stderr.strip() or f"ptxas ends with {done.returncode}")
        if not rejected:
            return [edit for edit in edits if edit.sort == "alignments" or _form(edit) in forms]
        forms = {form: edit for form, edit in forms.items() if form not in rejected}


def _balanced(line: str) -> str:
    """Return a line without a brace that opens or closes a scope of other lines."""
    surplus = line.count("{") - line.count("}")
    return line.replace("{", "", surplus) if surplus > 0 else line[::-1].replace("}", "", -surplus)[::-1]


def _form(edit: Edit) -> str:
    """Return an edited instruction without the numbers of its registers, of which its validity does not depend."""
    return re.sub(r"(%[a-z]+)\d+", r"\1", edit.new)


@cache
def respelled(opcode: str) -> tuple[tuple[str, str], ...]:
    """Return (class, opcode) of each opcode with a meaning that has one word more, less or another."""
    here = meaning(opcode)
    if here is None:
        return ()
    words = _words(opcode, here)
    if here.row.spelling.endswith("*"):
        made = [_words(name, here) for name in mnemonics(f"{words[0]}*")]
        near = [spelled for spelled in made if _shapes(spelled) == _shapes(words) and _distance(spelled, words) <= 2]
    else:
        known = vocabulary(words[0])
        near = [[*words[:at], *new, *words[end:]]
                for at in range(1, len(words) + 1) for end in (at, at + 1) for new in ([], *([word] for word in known))
                if end <= len(words)]  # fmt: skip
    names = dict.fromkeys(".".join(spelled) for spelled in near)
    return tuple((sort_of(opcode, name), name) for name in names if name != opcode and meaning(name) is not None)


@cache
def vocabulary(head: str) -> tuple[str, ...]:
    """Return every word that a row with this head may have."""
    words: dict[str, None] = {}
    for row in rows_of(head):
        for part in row.spelling.split(".")[1:]:
            word = part.rstrip("?")
            words |= dict.fromkeys(row.words[word[1:-1]] if word[0] == "{" else (word,))
    return tuple(words)


def rows_of(head: str) -> list[Row]:
    """Return the rows whose opcodes may begin with this word."""
    return [row for row in rows() if head in row.begins()]


def sort_of(old: str, new: str) -> str:
    """Return the class of a change of one opcode to another.

    >>> sort_of("shr.s32", "shr.u32"), sort_of("ld.global.u16", "ld.global.u8"), sort_of("fence.sc.gpu", "fence.sc.cta")
    ('signedness', 'widths', 'scopes')
    """
    before, after = old.split("."), new.split(".")
    gone = [word for word in before if word not in after]
    come = [word for word in after if word not in before] or [word for word in after if after.count(word) > 1]
    changed = [*gone, *come]
    if len(gone) == len(come) and all(_TYPE.fullmatch(word) for word in changed):
        types = [(_TYPE.fullmatch(left), _TYPE.fullmatch(right)) for left, right in zip(gone, come, strict=True)]
        if any(left and right and left[2] != right[2] for left, right in types):
            return "widths"
        signs = {match[1] for pair in types for match in pair if match}
        return "signedness" if signs <= {"s", "u", "b"} else "modifiers"
    for sort, pattern in (("rounding", _ROUNDING), ("scopes", _SCOPE), ("widths", _WIDTH)):
        if changed and all(pattern.fullmatch(word) for word in changed):
            return sort
    return "modifiers"


def excused(old: str, new: str) -> str:
    """Return the reason of a row for which a change of opcode has no effect; "" if there is none.

    >>> excused("ld.global.f32", "ld.global.ca.f32")
    '9.7.9.8, a cache operator is a hint of speed'
    """
    before, after = meaning(old), meaning(new)
    if before is None or after is None or before.row is not after.row:
        return ""
    free = before.row.no_effect
    changed = [name for name in {**before.words, **after.words} if before.words.get(name) != after.words.get(name)]
    reasons = [_reason(name, decoded.words.get(name), free) for name in changed for decoded in (before, after)]
    return "" if None in reasons else "; ".join(dict.fromkeys(reason for reason in reasons if reason))


def excuse(edit: Edit) -> str:
    """Return the reason of a row for which an edit of one opcode has no effect; "" if there is none."""
    before, after = (
        [(match["guard"], match["opcode"], match["operands"]) for match in _INSTRUCTION.finditer(line)]
        for line in (edit.old, edit.new)
    )
    if len(before) != len(after):
        return ""
    changed = [(left, right) for left, right in zip(before, after, strict=True) if left != right]
    if len(changed) != 1 or changed[0][0][::2] != changed[0][1][::2]:
        return ""
    return excused(changed[0][0][1], changed[0][1][1])


def _reason(name: str, word: str | None, free: Mapping[str, str]) -> str | None:
    """Return the reason for a word of a list, "" if the opcode lacks it, None if it has an effect."""
    return "" if word is None else free.get(name, free.get(word))


def _words(opcode: str, decoded: Meaning) -> list[str]:
    """Return the words of an opcode, those of its lists whole, such as `relaxed.gpu`."""
    whole = sorted((word for word in decoded.words.values() if "." in word and word in opcode), key=len, reverse=True)
    listed = "|".join(map(re.escape, whole if not decoded.row.spelling.endswith("*") else ()))
    return re.findall(rf"(?<![^.])(?:{listed + '|' if listed else ''}[\w:]+)(?![^.])", opcode)


def _shapes(words: Sequence[str]) -> list[str]:
    return [word for word in words if _SHAPE.fullmatch(word)]


def _distance(left: Sequence[str], right: Sequence[str]) -> int:
    """Return how many words must be changed, if the lengths agree; with one word more, 2 if the others agree."""
    if len(left) == len(right):
        return sum(word != word_there for word, word_there in zip(left, right, strict=True))
    short, long = sorted((list(left), list(right)), key=len)
    near = len(long) == len(short) + 1 and any(short == [*long[:at], *long[at + 1 :]] for at in range(len(long)))
    return 2 if near else len(long)


def _change(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield (class, text) of each change of one instruction."""
    whole, start = match[0], match.start()
    opcode, operands = match["opcode"], match["operands"]
    if guard := match["guard"]:
        yield "negations", whole.replace("@!", "@", 1) if "@!" in whole else whole.replace("@", "@!", 1)
    here = meaning(opcode)
    if here is None:
        return
    before, after = whole[: match.start("opcode") - start], whole[match.end("opcode") - start :]
    for sort, new in respelled(opcode):
        yield sort, before + new + after
    spans = _spans(operands)
    base = match.start("operands") - start
    for (role, _, _), (low, high) in zip(here.row.operands, spans, strict=False):
        text = operands[low:high]
        for sort, new in _other_operands(role, here, text):
            yield sort, whole[: base + low] + new + whole[base + high :]
    yield from (("negations", f"{before}{new}") for new in _negate(here, opcode, operands, spans, guard))


def _spans(operands: str) -> list[tuple[int, int]]:
    """Return where each operand begins and ends: commas within brackets and braces do not part them."""
    depth, cuts = 0, [-1]
    for at, letter in enumerate(operands):
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and not depth:
            cuts.append(at)
    spans = []
    for low, high in pairwise([*cuts, len(operands)]):
        inner = operands[low + 1 : high]
        spans.append((low + 1 + len(inner) - len(inner.lstrip()), high - len(inner) + len(inner.rstrip())))
    return spans if operands.strip() else []


def _other_operands(role: str, here: Meaning, text: str) -> Iterator[tuple[str, str]]:
    if role == "mask":
        yield from (("masks", mask) for mask in MASKS)
    elif role in _SIZES and text.isdigit():
        yield from (("widths", str(size)) for size in (int(text) // 2, int(text) * 2))
    elif _FLOAT.fullmatch(text):
        yield "negations", f"{text[:2]}{int(text[2], 16) ^ 8:X}{text[3:]}"
    elif _INTEGER.fullmatch(text) and text.strip("-0x"):
        yield "negations", text[1:] if text[0] == "-" else f"-{text}"
    elif here.types.get(role) == "pred" and role != here.row.operands[0][0]:
        yield "negations", text[1:] if text[0] == "!" else f"!{text}"


def _negate(
    here: Meaning, opcode: str, operands: str, spans: Sequence[tuple[int, int]], guard: str | None
) -> Iterator[str]:
    """Yield the instruction with one of its sources negated first, in the register of its result."""
    roles = [role for role, _, _ in here.row.operands]
    texts = [operands[low:high] for low, high in spans]
    if guard or not texts or not re.fullmatch(r"%[a-z]+\d+", texts[0]) or roles[0] not in here.types:
        return
    for at, text in enumerate(texts[1 : len(roles)], 1):
        kind = _NEGATES.get(here.types.get(roles[at], ""))
        same = re.fullmatch(r"%([a-z]+)\d+", text)
        if kind and same and texts[0].startswith(f"%{same[1]}") and texts[0] not in texts[1:]:
            again = ", ".join(texts[0] if number == at else operand for number, operand in enumerate(texts))
            yield f"neg.{kind} {texts[0]}, {text}; {opcode} {again};"
