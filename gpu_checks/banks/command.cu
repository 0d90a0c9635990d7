// SPDX-License-Identifier: Apache-2.0
// The kernel that times one kind of access to shared memory; a block for each pattern.

//// kernel
extern "C" __global__ void __launch_bounds__($threads) $name(const u32* addresses, u64* cycles, u32* sink) {
  __shared__ __align__(1024) u32 memory[$words];
  for (int w = threadIdx.x; w < $words; w += $threads) memory[w] = w;
  u32 at = (u32)__cvta_generic_to_shared(memory) + addresses[blockIdx.x * 32 + threadIdx.x % 32], sum = 0;
  const u32 zero = cycles[blockIdx.x];  // which the compiler does not know: it must not take two accesses for one
  u64 start = 0;
  for (int round = -1; round < $rounds; ++round) {
    if (round == 0) {  // the one before has filled the instruction cache
      __syncthreads();
      start = clock64();
    }
    #pragma unroll
    for (int i = 0; i < $unrolled; ++i) {
      $access
      at += zero;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
  sink[blockIdx.x * $threads + threadIdx.x] = sum;
}

//// read, within a line
//// A load whose registers are all of use, so that it stays as wide as it is.
u32 $names;
      asm volatile("$mnemonic $listed, [%$count];" : $outputs : "r"(at) : "memory");
      sum ^= $sum;

//// write, within a line
//// A store of the same word as often as there are registers.
asm volatile("$mnemonic [%0], $listed;" :: "r"(at), "r"(zero) : "memory");

//// copy, within a line
//// Of no bytes: what is not copied is written as zeros, and global memory is not read.
asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" :: "r"(at), "l"(sink), "n"($bytes), "r"(zero) : "memory");
