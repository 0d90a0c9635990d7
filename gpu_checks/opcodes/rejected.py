# SPDX-License-Identifier: Apache-2.0
"""The forms that ptxas rejects for sm_90a, each with its message: `rejected.txt`, made by `python -m` this module.

A paragraph begins with the message. Its lines are forms; `<a b>` stands for each of its words in turn.
"""

from __future__ import annotations

import re
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from gpu_checks.opcodes.forms import OpcodeForm, candidates
from gpu_checks.opcodes.text import HEAD, Probe
from lanecheck.console.outputs import write_file

FILE = Path(__file__).with_suffix(".txt")
ARCHITECTURE = "sm_90a"
_CHUNK = 512  # forms of a module
_LINE = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")
_CRASH = "ptxas ends with signal {}"


@cache
def list_rejected(file: Path = FILE) -> Mapping[str, str]:
    """Return the name of each form that ptxas rejects -> its message."""
    messages: dict[str, str] = {}
    for paragraph in file.read_text("utf-8").split("\n\n")[1:]:
        lines = paragraph.strip().splitlines()
        messages |= dict.fromkeys((name for line in lines[1:] for name in expand(line)), lines[0])
    return messages


@cache
def accepted_forms() -> tuple[OpcodeForm, ...]:
    """Return the forms that ptxas takes."""
    rejected = list_rejected()
    return tuple(form for form in candidates() if form.name not in rejected)


def expand(line: str) -> Iterator[str]:
    """Yield the names that a line stands for.

    >>> list(expand("cvt.<u8 s8>.s32 d, a"))
    ['cvt.u8.s32 d, a', 'cvt.s8.s32 d, a']
    """
    before, brace, rest = line.partition("<")
    if not brace:
        yield line
        return
    words, _, after = rest.partition(">")
    for word in words.split(" "):
        yield from (before + word + tail for tail in expand(after))


def fold(names: Sequence[str]) -> Iterator[str]:
    """Yield lines that stand for the names: those that differ in the last two words of their opcode are one line.

    >>> list(fold(["cvt.u8.s32 d, a", "cvt.s8.s32 d, a"]))
    ['cvt.<u8 s8>.s32 d, a']
    """
    lines: dict[tuple[str, str], list[str]] = {}
    for name in names:
        opcode, _, operands = name.partition(" ")
        stem, _, word = opcode.rpartition(".")
        lines.setdefault((stem, operands), []).append(word)
    wider: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (stem, operands), last in lines.items():
        head, _, word = stem.rpartition(".")
        wider.setdefault((head, operands, tuple(last)), []).append(word)
    for (head, operands, words), stems in wider.items():
        first = f"{head}.{_choice(stems)}" if head else _choice(stems)
        yield f"{first}.{_choice(words)} {operands}".lstrip(".")


def _choice(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"<{' '.join(words)}>"


def validate(probes: Sequence[Probe]) -> dict[str, str]:
    """Return the names of the forms that ptxas rejects, each with its message."""
    messages: dict[str, str] = {}
    for start in range(0, len(probes), _CHUNK):
        messages |= _faults(list(probes[start : start + _CHUNK]))
        print(f"{start + _CHUNK} of {len(probes)}: {len(messages)} rejected", file=sys.stderr, flush=True)
    return messages


def _faults(probes: Sequence[Probe]) -> dict[str, str]:
    """Return what is wrong with these forms, which are assembled as one module until none is rejected."""
    messages: dict[str, str] = {}
    left = list(probes)
    while left:
        texts = [probe.text(f"p{number}") for number, probe in enumerate(left)]
        done = subprocess.run(
            ["ptxas", f"-arch={ARCHITECTURE}", "-O0", "-o", "/dev/null", "-"],
            input=HEAD + "".join(texts), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not done.returncode:
            break
        if done.returncode < 0:
            if len(left) == 1:
                return messages | {left[0].form.name: _CRASH.format(-done.returncode)}
            half = len(left) // 2
            return messages | _faults(left[:half]) | _faults(left[half:])
        starts = [HEAD.count("\n") + 1]
        for text in texts:
            starts.append(starts[-1] + text.count("\n"))
        wrong = {bisect_right(starts, int(line)) - 1: message for line, message in _LINE.findall(done.stderr)[::-1]}
        if not wrong:
            raise RuntimeError(done.stderr.strip() or f"ptxas ends with {done.returncode}")
        messages |= {left[number].form.name: message for number, message in wrong.items()}
        left = [probe for number, probe in enumerate(left) if number not in wrong]
    return messages


def main() -> int:
    """Assemble every candidate and write the file."""
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    messages = validate([Probe(form) for form in candidates()])
    known: dict[str, list[str]] = {message: [] for message, _ in Counter(messages.values()).most_common()}
    for name, message in messages.items():
        known[message].append(name)
    parts = [f"# Forms that ptxas {version} rejects for {ARCHITECTURE}, by its message."]
    parts += ["\n".join((message, *fold(names))) for message, names in known.items()]
    write_file(FILE, "\n\n".join(parts) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
