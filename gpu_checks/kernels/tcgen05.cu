// SPDX-License-Identifier: Apache-2.0
// The kernel of tcgen05.mma, cp and ld.red; `tcgen05.py` says what it does.

//// kernel
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

//// together, within a line
asm volatile("tcgen05.fence::before_thread_sync; barrier.cluster.arrive.release.aligned; "
      "barrier.cluster.wait.acquire.aligned; tcgen05.fence::after_thread_sync;" : : : "memory");

//// quiet, within a line
//// The instruction, when it returns no registers.
asm volatile("{ $before$mnemonic $operands; }" : : $inputs : "memory");

//// taking, within a line
//// The instruction, when it returns registers.
u32 r[$registers];
    asm volatile("{ $before$mnemonic $operands; tcgen05.wait::ld.sync.aligned; }" : $outputs : $inputs : "memory");
    for (int w = 0; w < $registers; ++w) taken[(blockIdx.x * $issuers + thread) * $registers + w] = r[w];
