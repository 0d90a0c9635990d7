# SPDX-License-Identifier: Apache-2.0
"""Kernels without a claim, for `--safety`; with Triton 3.9, `python tests/kernels/safe/kernels.py` writes their PTX."""

# ruff: noqa

from pathlib import Path

import triton
import triton.language as tl

HOME = Path(__file__).parent


@triton.jit
def layernorm(x, y, w, b, mean, rstd, ld, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        acc += tl.load(x + row * ld + c, mask=c < N, other=0.0).to(tl.float32)
    m = tl.sum(acc, 0) / N
    var = tl.zeros([BLOCK], tl.float32)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        v = tl.load(x + row * ld + c, mask=c < N, other=0.0).to(tl.float32)
        v = tl.where(c < N, v - m, 0.0)
        var += v * v
    r = 1 / tl.sqrt(tl.sum(var, 0) / N + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        mask = c < N
        ww = tl.load(w + c, mask=mask)
        bb = tl.load(b + c, mask=mask)
        v = tl.load(x + row * ld + c, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + row * ld + c, (v - m) * r * ww + bb, mask=mask)


@triton.jit
def histogram(x, h, N, BINS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + c, mask=c < N, other=0)
    tl.atomic_add(h + (v & (BINS - 1)), 1, mask=c < N)


@triton.jit
def histogram_own(x, h, N, BINS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + c, mask=c < N, other=0)
    t = tl.histogram(v & (BINS - 1), BINS)
    tl.atomic_add(h + tl.arange(0, BINS), t)


@triton.jit
def gather(x, i, y, N, LIMIT, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(i + c, mask=c < N, other=0)
    k = tl.minimum(tl.maximum(k, 0), LIMIT - 1)
    tl.store(y + c, tl.load(x + k), mask=c < N)


@triton.jit
def persistent(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, tl.num_programs(0), flatten=False):
        pm = tile // nn
        pn = tile % nn
        rm = pm * BM + tl.arange(0, BM)
        rn = pn * BN + tl.arange(0, BN)
        rk = tl.arange(0, BK)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            x = tl.load(
                a + rm[:, None] * lda + (k * BK + rk)[None, :],
                mask=(rm[:, None] < M) & ((k * BK + rk)[None, :] < K),
                other=0.0,
            )
            y = tl.load(
                b + (k * BK + rk)[:, None] * ldb + rn[None, :],
                mask=((k * BK + rk)[:, None] < K) & (rn[None, :] < N),
                other=0.0,
            )
            acc = tl.dot(x, y, acc)
        tl.store(c + rm[:, None] * ldc + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def elementwise(x, y, z, N, alpha, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = alpha * tl.load(x + c, mask=c < N) + tl.load(y + c, mask=c < N)
    tl.store(z + c, tl.where(v > 0, v, 0.1 * v), mask=c < N)


@triton.jit
def reduction(x, y, total, ld, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        acc += tl.load(x + row * ld + c, mask=c < N, other=0.0)
    s = tl.sum(acc, 0)
    tl.store(y + row, s)
    tl.atomic_add(total, s)


def main() -> None:
    """Write the PTX of every kernel for sm_80; pointers and leading dimensions are multiples of 16."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    pointers = {"x": "*fp32", "y": "*fp32", "h": "*i32", "i": "*i32", "a": "*fp16", "b": "*fp16", "c": "*fp16"}
    half = dict.fromkeys("xywb", "*fp16") | dict.fromkeys(("mean", "rstd"), "*fp32") | {"eps": "fp32"}
    for function, types, constants in (
        (layernorm, half, {"BLOCK": 256}),
        (histogram, {"x": "*i32"}, {"BINS": 64, "BLOCK": 512}),
        (histogram_own, {"x": "*i32"}, {"BINS": 64, "BLOCK": 512}),
        (gather, {}, {"BLOCK": 256}),
        (elementwise, {"z": "*fp32", "alpha": "fp32"}, {"BLOCK": 256}),
        (reduction, {"total": "*fp32"}, {"BLOCK": 256}),
        (persistent, {}, {"BM": 64, "BN": 64, "BK": 32}),
    ):
        names = function.arg_names
        kinds = pointers | types
        signature = {
            argument: "constexpr" if argument in constants else kinds.get(argument, "i32") for argument in names
        }
        aligned = [
            at for at, argument in enumerate(names) if signature[argument][0] == "*" or argument.startswith("ld")
        ]
        source = ASTSource(function, signature, constants, {(at,): [["tt.divisibility", 16]] for at in aligned})
        options = {"num_warps": 4, "num_stages": 3, "ptx_version": 87}
        made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options)
        text = made.asm["ptx"]
        cut = text.find("\t.section\t.debug")
        (HOME / f"{function.__name__}.ptx").write_text(text if cut < 0 else text[:cut])


if __name__ == "__main__":
    main()
