// SPDX-License-Identifier: Apache-2.0
// The frame of a tiling's kernel.

//// kernel
extern "C" __global__ void __launch_bounds__($threads) $kernel($parameters) {
  const int t = threadIdx.x;
$body}

//// memory
__shared__ __align__($alignment) $type ${name}_memory[$room];

//// loop
#pragma unroll 1
for (int $tile = 0; $tile < $count; ++$tile) {
$body}

//// wait
__syncthreads();

//// fence
//// wgmma sees what threads wrote to shared memory only after it.
asm volatile("fence.proxy.async.shared::cta;" ::: "memory");

//// store
//// Accumulators to global memory.
#pragma unroll
for (int v = 0; v < $values; ++v) {
  const int place = $origin + ${name}_global(${name}_fragment(t, v));
  $store;
}

//// put, within a line
result[place] = get<$packing>($name, v)

//// add, within a line
//// Partial sums of several threads.
atomicAdd(($type*)result + place, $space::value($name, v))

//// put_inside, within a line
//// Where the last tiles are not full.
const int x = ${name}_fragment(t, v);
  if ($within) $store
