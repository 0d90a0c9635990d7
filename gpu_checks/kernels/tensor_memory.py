# SPDX-License-Identifier: Apache-2.0
"""The kernel of tcgen05.ld and tcgen05.st: Tensor Memory is filled, the instruction issued, Tensor Memory read back.

It is filled and read back a column at a time, by the four warps, with .32x32b.x1. So the lanes and columns that are
observed are those of that form: the premise is that thread t of warp w has lane 32 * w + t of a column there. The
instruction itself is warp 0's, which reaches the lanes 0 to 31.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from gpu_checks.kernels.assembly import register_inputs

if TYPE_CHECKING:
    from isa_tables.signature import Signature

LANES, COLUMNS, THREADS = 128, 512, 128

_MOVE = Template("""\
// $mnemonic
extern "C" __global__ void __launch_bounds__($threads) move_$index(
    u32* memory, const u32* columns, const u32* given, u32* taken) {
  __shared__ u32 home;
  const int thread = threadIdx.x, warp = thread / 32, place = blockIdx.x * 32 + thread;
  memory += (blockIdx.x * $lanes + thread) * $all;
  if (warp == 0)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], $all;"
        : : "r"((u32)__cvta_generic_to_shared(&home)) : "memory");
  $barrier
  const u32 mine = home + (warp * 32 << 16);
  for (int c = 0; c < $all; ++c)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" : : "r"(mine + c), "r"(memory[c]) : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;" : : : "memory");
  $barrier
  if (warp == 0) {
    const u32 p = home + columns[place];
    u32 r[$registers];
    for (int w = 0; w < $registers; ++w) r[w] = given[place * $registers + w];
    asm volatile("$mnemonic $operands; tcgen05.wait::$wait.sync.aligned;" : $outputs : $inputs : "memory");
    for (int w = 0; w < $registers; ++w) taken[place * $registers + w] = r[w];
  }
  $barrier
  for (int c = 0; c < $all; ++c) {
    u32 word;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1]; tcgen05.wait::ld.sync.aligned;"
        : "=r"(word) : "r"(mine + c) : "memory");
    memory[c] = word;
  }
  $barrier
  if (warp == 0)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, $all; "
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" : : "r"(home) : "memory");
}
""")
_BARRIER = """\
asm volatile("tcgen05.fence::before_thread_sync;" : : : "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory");"""


def fits(signature: Signature) -> bool:
    """Whether it moves between Tensor Memory and registers, and nothing else."""
    return signature.family in ("tcgen05.ld.sync", "tcgen05.st.sync") and set(signature.operands) == {"R"}


def room(signature: Signature) -> int:
    """The last column at which the instruction stays inside Tensor Memory."""
    behind = int(signature.chosen.get("immHalfSplitoff", 0))
    return COLUMNS - signature.operands["R"].extent[1] - behind


def text(signature: Signature, index: int) -> str:
    """The kernel: one trial a block; what is not written stays as it was given."""
    fragment = signature.operands["R"]
    loads = signature.asm.startswith("{R}")
    given = ", ".join(register_inputs("r", fragment))
    vector = f"{{{', '.join(f'%{w}' for w in range(fragment.regs))}}}"
    return _MOVE.substitute(
        mnemonic=signature.mnemonic,
        index=index,
        threads=THREADS,
        lanes=LANES,
        all=COLUMNS,
        barrier=_BARRIER,
        registers=fragment.regs,
        operands=signature.asm.replace("{R}", vector).replace("taddr", f"%{fragment.regs}"),
        wait="ld" if loads else "st",
        outputs=given.replace('"r"', '"=r"') if loads else "",
        inputs='"r"(p)' if loads else f'{given}, "r"(p)',
    )
