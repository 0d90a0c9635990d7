# SPDX-License-Identifier: Apache-2.0
"""What the PTX of a kernel says of its claim: the answers that `lanecheck init claim --kernel` need not ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from verify.core.errors import SpecError
from verify.kernel.claims import expression
from verify.kernel.data.values import SIZE
from verify.kernel.ptx.parse import MAX_BYTES, parse_kernel
from verify.kernel.ptx.source import Kernel, PtxError, PtxInstruction

PRODUCTS = ("mma", "wgmma", "wmma")
POINTER = 8  # bytes of a pointer: of PTX with .address_size 64


def read_kernel(named: str) -> Kernel:
    """Return the kernel of FILE.ptx, or of FILE.ptx::NAME. Raises SpecError for the question `kernel`."""
    file, _, name = named.partition("::")
    try:
        with Path(file).open("rb") as stream:
            text = stream.read(MAX_BYTES + 1).decode("utf-8", "replace")
        return parse_kernel(text, name)
    except OSError as error:
        raise SpecError("kernel", f"{file} cannot be read: {error.strerror or error}") from error
    except PtxError as error:
        way = "" if name else f"; {file}::NAME chooses one" if "several kernels" in str(error) else ""
        raise SpecError("kernel", f"{file}: {error}{way}") from error


def derive_answers(answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answers that follow from those before: threads, types and parameters, as the PTX has them.

    Types are those of the first product of matrices, or the one type of all accesses to global memory. Parameters are
    named in their order: pointers as the arrays of the claim, the target last, then sizes, then leading dimensions.
    What doesn't fit this is left to be asked.
    """
    if not answers.get("kernel"):
        return {}
    kernel = read_kernel(answers["kernel"])
    derived = {"block": " ".join(map(str, kernel.block))} if kernel.block else {}
    if "claim" not in answers:
        return derived
    target, value = expression.read_claim(answers["claim"])
    inputs = {element.name: element.indices for element in expression.elements(value)}
    dims = {**inputs, target.name: target.indices}
    kinds = _find_types(kernel.instructions, len(inputs))
    if kinds and len(kinds) == len(dims):
        derived["types"] = " ".join(f"{name}={kind}" for name, kind in zip(dims, kinds, strict=True))
    indices = dict.fromkeys(index.upper() for name in (target.name, *inputs) for index in dims[name])
    if params := _name_parameters(kernel, [*dims], [name for name in indices if name.isidentifier()]):
        derived["params"] = " ".join(params)
    return derived


def _find_types(instructions: Sequence[PtxInstruction], inputs: int) -> list[str]:
    """Return the types of the inputs and of the target, in this order; none if the instructions don't agree on any."""
    for instruction in instructions:
        if instruction.words[0] in PRODUCTS and inputs == 2:
            kinds = [word for word in instruction.words if word in SIZE]
            if len(kinds) >= 3:
                return [kinds[1], kinds[2], kinds[0]]
    access = [
        instruction.words
        for instruction in instructions
        if instruction.words[0] in ("ld", "st") and "global" in instruction.words
    ]
    kinds = [*{words[-1] for words in access}]
    return kinds * (inputs + 1) if len(kinds) == 1 and re.fullmatch(r"f\d+", kinds[0]) else []


def _name_parameters(kernel: Kernel, arrays: Sequence[str], sizes: Sequence[str]) -> list[str]:
    """Return a name for each parameter, - for one that no instruction reads; none if their number doesn't fit."""
    reads = kernel.parameter_reads()
    widths = [parameter.size if parameter.number in reads else 0 for parameter in kernel.parameters.values()]
    leading = [f"ld{name.lower()}" for name in arrays]
    integers = {0: [], len(sizes): [*sizes], len(sizes) + len(arrays): [*sizes, *leading]}.get(widths.count(4))
    if widths.count(POINTER) != len(arrays) or integers is None or {*widths} - {0, 4, POINTER}:
        return []
    names = {POINTER: iter(arrays), 4: iter(integers), 0: iter("-" * len(widths))}
    return [next(names[width]) for width in widths]
