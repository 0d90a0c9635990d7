// SPDX-License-Identifier: Apache-2.0
// The two kernels of D = A * B + C in registers; `mma.py` says what they do.

//// probe
namespace probe_$index {
// $mnemonic
$issue
__device__ __forceinline__ double value(const u32* d, int i) { return $read; }

extern "C" __global__ void relation_$index(u16* table) {
  const int lane = threadIdx.x % 32, a_slot = blockIdx.x * $warps + threadIdx.x / 32;
  if (a_slot >= $a_slots) return;
  u32 zero_a[$a_words] = {}, zero_b[$b_words] = {}, c[$c_words] = {};
  u32 a[$a_words], b[$b_words], none[$d_words], only_a[$d_words], only_b[$d_words], both[$d_words];
  one_hot<$a_shape>(a, ${a_one}ull, a_slot, lane);
  issue(none, zero_a, zero_b, c);
  issue(only_a, a, zero_b, c);
  for (int b_slot = blockIdx.y; b_slot < $b_slots; b_slot += gridDim.y) {
    one_hot<$b_shape>(b, ${b_one}ull, b_slot, lane);
    issue(only_b, zero_a, b, c);
    issue(both, a, b, c);
    int hits = 0, reached = $none;
    bool wrong = false;
    #pragma unroll
    for (int i = 0; i < $d_values; ++i) {
      const double change = value(both, i) - value(only_a, i) - value(only_b, i) + value(none, i);
      const u32 changed = __ballot_sync(~0u, change != 0.0);
      wrong |= __ballot_sync(~0u, change != 0.0 && change != $unit) != 0;
      hits += __popc(changed);
      if (changed) reached = (__ffs(changed) - 1) * $d_values + i;
    }
    if (lane == 0) table[a_slot * $b_slots + b_slot] = hits > 1 ? $many : wrong ? $not_unit : reached;
  }
}

extern "C" __global__ void run_$index(const u32* a, const u32* b, const u32* c, u32* d) {
  const int thread = blockIdx.x * $lanes + threadIdx.x;
  u32 in_a[$a_words], in_b[$b_words], in_c[$c_words], out[$d_words];
  #pragma unroll
  for (int w = 0; w < $a_words; ++w) in_a[w] = a[thread * $a_words + w];
  #pragma unroll
  for (int w = 0; w < $b_words; ++w) in_b[w] = b[thread * $b_words + w];
  #pragma unroll
  for (int w = 0; w < $c_words; ++w) in_c[w] = c[thread * $c_words + w];
  issue(out, in_a, in_b, in_c);
  #pragma unroll
  for (int w = 0; w < $d_words; ++w) d[thread * $d_words + w] = out[w];
}
}
