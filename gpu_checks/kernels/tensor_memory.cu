// SPDX-License-Identifier: Apache-2.0
// The kernel of tcgen05.ld and st; `tensor_memory.py` says what it does.

//// move
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

//// barrier, within a line
asm volatile("tcgen05.fence::before_thread_sync;" : : : "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory");
