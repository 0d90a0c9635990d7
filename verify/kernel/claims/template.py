# SPDX-License-Identifier: Apache-2.0
"""What `lanecheck init claim` asks for, and the file that it writes of the answers."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence

from verify.core.errors import SpecError
from verify.kernel.claims import expression
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.guess import derive_answers, read_kernel
from verify.kind import Question, Template

QUESTIONS = (
    Question("kernel", "the compiled kernel, as gemm.ptx or gemm.ptx::name; empty: none is read", needed=False),
    Question("claim", "what it computes, as C[m,n] = sum_k A[m,k]*B[k,n]"),
    Question("types", "the type of each array, as A=f16 B=f16 C=f32"),
    Question("grid", "CTAs in x, y and z, as cdiv(M,64) cdiv(N,64)"),
    Question("block", "threads of a CTA, as 128"),
    Question("params", "the parameters in order, as A B C M N K lda ldb ldc; - for one that it doesn't read"),
    Question("smem", "bytes of dynamic shared memory; empty: none", needed=False),
    Question("sizes", "sizes to run, as M=128 N=192 K=160; empty: chosen so that they hide nothing", needed=False),
    Question("scalars", "the numbers that the claim names, as alpha=2.0; empty: none", needed=False),
)
ASKED = {"arrays": "types", "tiles": "sizes"}  # the question that a key of the file comes from, if it has another name


def write(answers: Mapping[str, str]) -> str:
    """Return the claim's file. Raises SpecError, its key that of a question, for answers that make none."""
    packed = answers["kernel"] != "" and not re.search(r"\bld", answers["params"])  # no stride is a parameter
    arrays = _arrays(answers["claim"], _pairs("types", answers["types"]), packed)
    params = ["{ unused = true }" if word == "-" else json.dumps(word) for word in _words(answers["params"])]
    lines = ["# A claim that `lanecheck init claim` began; docs/kernel.md has every key."]
    if answers["kernel"]:
        kernel = read_kernel(answers["kernel"])
        if kernel.dynamic and not answers["smem"]:
            raise SpecError("smem", f"{kernel.name} has dynamic shared memory: give its bytes")
        lines += [f"kernel = {json.dumps(kernel.name)}"]
    lines += [f"grid   = {_numbers(answers['grid'])}", f"block  = {_numbers(answers['block'])}"]
    lines += [f"smem   = {_numbers(answers['smem'])}"] if answers["smem"] else []
    for key in ("sizes", "scalars"):
        if answers[key]:
            inner = ", ".join(f"{name} = {value}" for name, value in _pairs(key, answers[key]).items())
            lines.append(f"{key:<7}= {{ {inner} }}")
    lines += [f"claim  = {json.dumps(answers['claim'])}", f"params = [{', '.join(params)}]", "", "[arrays]", *arrays]
    text = "".join(f"{line}\n" for line in lines)
    try:
        claim_of(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SpecError("", f"the answers make no TOML: {error}") from error
    except SpecError as error:
        root = re.split(r"[.\[]", error.key)[0]
        raise SpecError(ASKED.get(root, root), error.problem) from error
    return text


def _arrays(claim: str, types: Mapping[str, str], packed: bool) -> list[str]:
    """Return the lines of the arrays that a claim names, with their indices as there, and their strides if packed."""
    target, value = expression.read_claim(claim)
    dims = {element.name: element.indices for element in (*expression.elements(value), target)}
    if missing := [name for name in dims if name not in types]:
        raise SpecError("types", f"give the type of {', '.join(missing)} too")
    if unknown := [name for name in types if name not in dims]:
        raise SpecError("types", f"no array of the claim is named {unknown[0]}")
    return [
        f"{name} = {{ dims = {json.dumps(''.join(indices))}, type = {json.dumps(types[name])}"
        f"{f', strides = {_pack(indices)}' if packed else ''}{', out = true' if name == target.name else ''} }}"
        for name, indices in dims.items()
    ]


def _pack(indices: Sequence[str]) -> str:
    """Return the strides of an array without padding, as TOML has them.

    >>> _pack(["b", "m", "k"])
    '["M*K", "K", 1]'
    """
    inner = ["*".join(indices[at:]).upper() for at in range(1, len(indices))]
    return f"[{', '.join([*map(json.dumps, inner), '1'])}]"


def _words(text: str) -> list[str]:
    """Return words that blanks or commas outside of parentheses separate."""
    return [word for word in re.split(r"[\s,]+(?![^(]*\))", text.strip()) if word]


def _numbers(text: str) -> str:
    """Return numbers and expressions of sizes as TOML has them."""
    made = [word if word.isdecimal() else json.dumps(word) for word in _words(text)]
    return made[0] if len(made) == 1 else f"[{', '.join(made)}]"


def _pairs(key: str, text: str) -> dict[str, str]:
    """Return the pairs of a text as `A=f16 B=f16`. Raises SpecError for another text."""
    pairs = [word.partition("=") for word in _words(re.sub(r"\s*=\s*", "=", text))]
    if not pairs or not all(re.fullmatch(r"\w+", name) and value for name, _, value in pairs):
        raise SpecError(key, f"expected pairs, as A=1 B=2, found {text!r:.60}")
    return {name: value for name, _, value in pairs}


def name_next(answers: Mapping[str, str]) -> str:
    """Return the command that checks the claim, {} for its file."""
    file = answers["kernel"].partition("::")[0] or "KERNEL.ptx"
    return f"lanecheck check {shlex.quote(file)} {{}}"


TEMPLATE = Template(
    "claim", "a compiled kernel, and what it should compute", QUESTIONS, write, name_next, derive_answers
)
