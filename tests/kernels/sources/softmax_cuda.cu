// SPDX-License-Identifier: Apache-2.0
// A softmax of each row in CUDA C++, a CTA a row: Y = exp(X - max) / sum, or LOG: Y = X - max - log(sum).
#include "ptx.cuh"
#ifndef LOG
#define LOG 0
#endif
constexpr int WARPS = 4;

template <bool MAX>
__device__ __forceinline__ float reduce(float x, float* room) {
  for (int step = 16; step; step /= 2) {
    const float other = __shfl_xor_sync(~0u, x, step);
    x = MAX ? fmaxf(x, other) : x + other;
  }
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
  __syncthreads();
  x = room[0];
  for (int i = 1; i < WARPS; ++i) x = MAX ? fmaxf(x, room[i]) : x + room[i];
  return x;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) softmax(const float* x, float* y, int N, int stride) {
  __shared__ float mosts[WARPS], totals[WARPS];
  const float* row = x + blockIdx.x * stride;
  float most = __int_as_float(0xff800000), total = 0.f;
  for (int i = threadIdx.x; i < N; i += 32 * WARPS) most = fmaxf(most, row[i]);
  most = reduce<true>(most, mosts);
  for (int i = threadIdx.x; i < N; i += 32 * WARPS) total += expf(row[i] - most);
  total = reduce<false>(total, totals);
  const float shift = LOG ? most + logf(total) : most;
  for (int i = threadIdx.x; i < N; i += 32 * WARPS) {
    const float part = row[i] - shift;
    y[blockIdx.x * stride + i] = LOG ? part : expf(part) / total;
  }
}
