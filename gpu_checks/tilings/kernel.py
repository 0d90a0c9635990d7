# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ of a tiling, from its layouts alone.

A CTA walks the tiles along k: global memory to shared memory, to registers or descriptors, through the instruction
into accumulators, which are stored at the end; where several threads hold partial sums they are added. With a reuse
the accumulators of the first product become, narrowed, A of the second.
"""

from __future__ import annotations

from textwrap import indent

from gpu_checks.kernels.modules import COMMON
from gpu_checks.kernels.smem_matrix import ALIGNMENT
from gpu_checks.kernels.templates import beside
from gpu_checks.tilings import parts
from gpu_checks.tilings.parts import KernelOperand
from gpu_checks.tilings.strided import Strided
from gpu_checks.tilings.tiling import Reuse, TilingError, TilingKernel, check

NAME = "tiling"
SHARED = 48 * 1024  # bytes of shared memory without cudaFuncSetAttribute: CUDA C++ Programming Guide
_CUDA = beside(__file__)
_FENCE, _WAIT = (_CUDA[name].template for name in ("fence", "wait"))


def kernel(tiling: TilingKernel) -> str:
    """Return the whole text, helpers included. TilingError where the layouts do not fit each other."""
    check(tiling)
    operands = kernel_operands(tiling)
    used = sum(operand.room * operand.fragment.bits // 8 for operand in operands.values())
    if used > SHARED:
        raise TilingError(f"{tiling.name}: its tiles take {used} bytes of shared memory; a kernel has {SHARED}")
    text = [COMMON, parts.HELPERS, parts.NOTHING if tiling.short else ""]
    text.append(parts.namespace("first", tiling.product, _majors(operands, "A", "B")))
    if tiling.reuse:
        text.append(parts.namespace("second", tiling.reuse.product, _majors(operands, "P", "V")))
        text.append(parts.narrowing(tiling.reuse))
    name = "D" if tiling.reuse else "C"  # of the result
    text += ["\n", *map(parts.indices, operands.values()), parts.index(f"{name}_fragment", tiling.last.C, "t", "v")]
    rows = Strided(tiling.last.extent("C"), (tiling.extents["C"][1], 1))
    text += [parts.index(f"{name}_global", rows, "x"), _main(tiling, operands, name)]
    return "".join(text)


def kernel_operands(tiling: TilingKernel) -> dict[str, KernelOperand]:
    """Return the operands in memory: A and B, and V of a reuse."""
    operands = {}
    for name, (feed, product, role) in tiling.feeds.items():
        mn, k = tiling.extents[name]
        limits = (mn, k) if tiling.short else None
        operands[name] = KernelOperand(name, feed, product, role, (k, 1) if feed.major == "K" else (1, mn), limits)
    return operands


def _majors(operands: dict[str, KernelOperand], *names: str) -> tuple[str, str]:
    """Return the majors of A and B in shared memory, as an instruction's text gives them; K for registers."""
    descriptors = [operands[name].descriptor if name in operands else None for name in names]
    a, b = (descriptor.major if descriptor else "K" for descriptor in descriptors)
    return a, b


def _main(tiling: TilingKernel, operands: dict[str, KernelOperand], result: str) -> str:
    kind = parts.TYPES[tiling.last.fragment("C").bits]
    given = [f"const {parts.TYPES[operand.fragment.bits]}* {name}_matrix" for name, operand in operands.items()]
    memory = _CUDA["memory"].substitute
    body = "".join(
        memory(alignment=ALIGNMENT, type=parts.TYPES[operand.fragment.bits], name=name, room=operand.room)
        for name, operand in operands.items()
    )
    body += parts.accumulators(tiling.last, result)
    body += _attention(tiling, tiling.reuse, operands) if tiling.reuse else _gemm(tiling, operands, "blockIdx.y")
    return "\n" + _CUDA["kernel"].substitute(
        threads=tiling.threads,
        kernel=NAME,
        parameters=", ".join([*given, f"{kind}* result"]),
        body=indent(body + _store(tiling, result), "  "),
    )


def _gemm(tiling: TilingKernel, operands: dict[str, KernelOperand], tile_n: str) -> str:
    """Return the first product over all tiles along k."""
    a, b = operands["A"], operands["B"]
    body = parts.write_copies(a, "blockIdx.x", "tile_k", tiling.threads)
    body += parts.write_copies(b, tile_n, "tile_k", tiling.threads)
    body += _ready(a, b) + parts.write_loads(a) + parts.write_loads(b)
    body += parts.write_products("first", tiling.product, a, b, "C") + _WAIT
    return _CUDA["loop"].substitute(tile="tile_k", count=tiling.tiles[2], body=indent(body, "  "))


def _attention(tiling: TilingKernel, reuse: Reuse, operands: dict[str, KernelOperand]) -> str:
    """Return the first product's tiles along n, each at once multiplied by its rows of V."""
    v = operands["V"]
    body = parts.accumulators(tiling.product, "C") + _gemm(tiling, operands, "tile_n")
    body += parts.write_narrowing(tiling.product, reuse)
    body += parts.write_copies(v, "blockIdx.y", "tile_n", tiling.threads) + _ready(v) + parts.write_loads(v)
    body += parts.write_products("second", reuse.product, "P", v, "D") + _WAIT
    return _CUDA["loop"].substitute(tile="tile_n", count=tiling.walked, body=indent(body, "  "))


def _ready(*operands: KernelOperand) -> str:
    """Return what has to happen before shared memory is read."""
    return (_FENCE if any(operand.descriptor for operand in operands) else "") + _WAIT


def _store(tiling: TilingKernel, name: str) -> str:
    """Accumulators to global memory; partial sums are added."""
    product = tiling.last
    fragment, space = product.fragment("C"), "second" if tiling.reuse else "first"
    store = _CUDA["put"].substitute(packing=parts.packing(fragment), name=name)
    if product.splits > 1:
        if fragment.type not in parts.SUMS:
            raise TilingError(f"{tiling.name}: partial sums of {fragment.type} cannot be added in memory")
        store = _CUDA["add"].substitute(type=parts.SUMS[fragment.type], space=space, name=name)
    m, n = product.extent("C")
    columns = tiling.extents["C"][1]
    if tiling.short:
        within = parts.inside(("blockIdx.x", "blockIdx.y"), (m, n), tiling.extents["C"])
        store = _CUDA["put_inside"].substitute(name=name, within=within, store=store)
    origin = f"blockIdx.x * {m * columns} + blockIdx.y * {n}"
    values = product.C.modes[1].size
    return _CUDA["store"].substitute(values=values, origin=origin, name=name, store=store)
