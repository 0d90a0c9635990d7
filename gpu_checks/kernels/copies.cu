// SPDX-License-Identifier: Apache-2.0
// The kernel of ldmatrix, stmatrix and movmatrix: one trial a block, and what is not written stays as it was given.

//// move
// $mnemonic
extern "C" __global__ void move_$index(u32* memory, const u32* rows, const u32* given, u32* taken) {
  __shared__ __align__(128) u32 tile[$words];
  const int lane = threadIdx.x, thread = blockIdx.x * 32 + lane;
  memory += blockIdx.x * $words;
  for (int w = lane; w < $words; w += 32) tile[w] = memory[w];
  __syncwarp();
  const u32 p = (u32)__cvta_generic_to_shared(tile) + rows[thread] * $row;
  u32 r[$registers];
  for (int w = 0; w < $registers; ++w) r[w] = given[thread * $registers + w];
  asm volatile("$mnemonic $operands;" : $outputs : $inputs : "memory");
  __syncwarp();
  for (int w = 0; w < $registers; ++w) taken[thread * $registers + w] = r[w];
  for (int w = lane; w < $words; w += 32) memory[w] = tile[w];
}
