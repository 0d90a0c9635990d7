# SPDX-License-Identifier: Apache-2.0
"""The kernel of tcgen05.mma, cp and ld.red: memories are filled, the instruction issued, Tensor Memory read back.

There is no probe that reads what these kernels compute, and no GPU has run them: they assemble, and that is all that
is known. `sources.probe_of` gives them no kind, so `record.require` refuses them on every GPU, and nothing is ever
recorded from them.

A block is one CTA, `ctas` of them a cluster. Each fills its Tensor Memory, a column at a time with .32x32b.x1, and
its shared memory, as much as it was launched with. CTA 0 of the cluster then issues the instruction, by as many
threads as share it, and commits it to a barrier in every CTA, where all threads wait. Registers that it returns are
waited for at once, and nothing is left to commit. Then Tensor Memory is read back as it was filled.

What the operand list names is a number that the host gives (`names`): for Tensor Memory an address from the start of
what was allocated, for shared memory a matrix descriptor whose address counts from the start of the image, else the
number itself, as the instruction descriptor and the predicate p are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu_checks.kernels import tensor_memory

if TYPE_CHECKING:
    from isa_tables.signature import Signature

_KERNEL = Template("""\
// $mnemonic
extern "C" __global__ void __cluster_dims__($ctas, 1, 1) __launch_bounds__($threads) tensor_$index(
    u32* memory, const u32* filling, const u64* given, u32* taken) {
  extern __shared__ __align__(1024) u32 image[];
  __shared__ u64 done;
  __shared__ u32 allocated;
  const int thread = threadIdx.x, warp = thread / 32;
  const u32 barrier = (u32)__cvta_generic_to_shared(&done);
  u32 rank, bytes, arrived;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  memory += (blockIdx.x * $lanes + thread) * $columns;
  filling += blockIdx.x * (bytes / 4);
  given += blockIdx.x * $names;
  for (u32 w = thread; w < bytes / 4; w += $threads) image[w] = filling[w];
  if (thread == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
        : : "r"(barrier) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  if (warp == 0)
    asm volatile("tcgen05.alloc.cta_group::$ctas.sync.aligned.shared::cta.b32 [%0], $columns; "
        "tcgen05.relinquish_alloc_permit.cta_group::$ctas.sync.aligned;"
        : : "r"((u32)__cvta_generic_to_shared(&allocated)) : "memory");
  $together
  const u32 start = allocated, mine = start + (warp * 32 << 16);
  const u64 home = ((u32)__cvta_generic_to_shared(image) & 0x3FFFF) >> 4;
  for (int c = 0; c < $columns; ++c)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" : : "r"(mine + c), "r"(memory[c]) : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;" : : : "memory");
  $together
  if (rank == 0 && thread < $issuers) {
    $issue
  }
  if (rank == 0 && thread == 0)
    asm volatile("tcgen05.commit.cta_group::$ctas.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%0], %1;" : : "r"(barrier), "h"((u16)$every) : "memory");
  do
    asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared::cta.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }"
        : "=r"(arrived) : "r"(barrier) : "memory");
  while (!arrived);
  $together
  for (int c = 0; c < $columns; ++c) {
    u32 word;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1]; tcgen05.wait::ld.sync.aligned;"
        : "=r"(word) : "r"(mine + c) : "memory");
    memory[c] = word;
  }
  $together
  if (warp == 0)
    asm volatile("tcgen05.dealloc.cta_group::$ctas.sync.aligned.b32 %0, $columns;" : : "r"(start) : "memory");
}
""")
_TOGETHER = """\
asm volatile("tcgen05.fence::before_thread_sync; barrier.cluster.arrive.release.aligned; "
      "barrier.cluster.wait.acquire.aligned; tcgen05.fence::after_thread_sync;" : : : "memory");"""
_QUIET = Template("""\
asm volatile("{ $before$mnemonic $operands; }" : : $inputs : "memory");""")
_TAKING = Template("""\
u32 r[$registers];
    asm volatile("{ $before$mnemonic $operands; tcgen05.wait::ld.sync.aligned; }" : $outputs : $inputs : "memory");
    for (int w = 0; w < $registers; ++w) taken[(blockIdx.x * $issuers + thread) * $registers + w] = r[w];""")
_NAME = re.compile(r"\{([A-Z]+)\}|\b([a-z]\w*)\b")
_PREDICATE = "p"
_GIVEN: Mapping[str, str] = MappingProxyType(
    {"tmem": '"r"(start + (u32)given[{}])', "smem": '"l"(home + given[{}])', "number": '"r"((u32)given[{}])'}
)


def fits(signature: Signature) -> bool:
    """Whether the instruction names Tensor Memory in its operand list and is no move that a probe follows."""
    return "tmem" in {_space(signature, name) for name in _listed(signature)} and not tensor_memory.fits(signature)


def names(signature: Signature) -> tuple[str, ...]:
    """What the host gives, a 64-bit number each, in the order of the operand list: operands, addresses, idesc, p."""
    return tuple(name for name in _listed(signature) if _space(signature, name) != "reg")


def text(signature: Signature, index: int) -> str:
    """The kernel tensor_{index}: the instruction once in a cluster."""
    return _KERNEL.substitute(
        mnemonic=signature.mnemonic,
        index=index,
        ctas=signature.ctas,
        every=(1 << signature.ctas) - 1,
        threads=tensor_memory.THREADS,
        lanes=tensor_memory.LANES,
        columns=tensor_memory.COLUMNS,
        names=len(names(signature)),
        issuers=signature.lanes,
        issue=_issue(signature),
        together=_TOGETHER,
    )


def _listed(signature: Signature) -> list[str]:
    """The names in the operand list: an operand's in capitals, else as the assembly text has it."""
    return [operand or word for operand, word in _NAME.findall(signature.asm)]


def _space(signature: Signature, name: str) -> str:
    """reg, tmem, smem; number for what is in none of them."""
    fragment = signature.operands.get(name)
    return fragment.space if fragment else signature.addresses.get(name, "number")


def _issue(signature: Signature) -> str:
    """The instruction, its registers numbered: first those that it returns, then what the host gives."""
    numbered: dict[str, str] = {}
    registers = 0
    for name, fragment in signature.operands.items():
        if fragment.space == "reg":
            vector = ", ".join(f"%{registers + r}" for r in range(fragment.regs))
            numbered[name] = f"{{{vector}}}" if name == "R" else vector
            registers += fragment.regs
    before = ""
    for place, name in enumerate(names(signature), registers):
        numbered[name] = f"%{place}"
        if name == _PREDICATE:
            before = f".reg .pred p; setp.ne.u32 p, %{place}, 0; "
            numbered[name] = name
    spaces = enumerate(_space(signature, name) for name in names(signature))
    return (_TAKING if registers else _QUIET).substitute(
        before=before,
        mnemonic=signature.mnemonic,
        operands=_NAME.sub(lambda found: numbered[found[1] or found[2]], signature.asm),
        registers=registers,
        issuers=signature.lanes,
        outputs=", ".join(f'"=r"(r[{w}])' for w in range(registers)),
        inputs=", ".join(_GIVEN[space].format(n) for n, space in spaces),
    )
