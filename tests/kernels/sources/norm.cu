// SPDX-License-Identifier: Apache-2.0
// Rows over their size in CUDA C++, a CTA a row: Y = X * W / sqrt(mean of X^2 + eps), or LAYER: with the mean taken away.
#ifndef LAYER
#define LAYER 0
#endif
constexpr int WARPS = 4;

__device__ __forceinline__ float sum_of_row(float x, float* room) {
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
  __syncthreads();
  x = room[0];
  for (int i = 1; i < WARPS; ++i) x += room[i];
  return x;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    normalize(const float* x, const float* w, const float* b, float* y, int N, int stride, float eps) {
  __shared__ float means[WARPS], squares[WARPS];
  const float* row = x + blockIdx.x * stride;
  float total = 0.f, square = 0.f;
  if (LAYER)
    for (int i = threadIdx.x; i < N; i += 32 * WARPS) total += row[i];
  const float mean = LAYER ? sum_of_row(total, means) / N : 0.f;
  for (int i = threadIdx.x; i < N; i += 32 * WARPS) square += (row[i] - mean) * (row[i] - mean);
  square = sum_of_row(square, squares) / N + eps;
  const float scale = LAYER ? 1.f / sqrtf(square) : rsqrtf(square);
  for (int i = threadIdx.x; i < N; i += 32 * WARPS)
    y[blockIdx.x * stride + i] = (row[i] - mean) * scale * w[i] + (LAYER ? b[i] : 0.f);
}
