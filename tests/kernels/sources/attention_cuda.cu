// SPDX-License-Identifier: Apache-2.0
// O = softmax(scale * Q * K^T) * V in CUDA C++, 16 keys at a time with a running maximum; a warp has 16 rows of a head.
// POWER is exp2f, or expf of what lacks log2(e). CAUSAL: 1 masks what lies above the diagonal.
#include "ptx.cuh"
#ifndef CAUSAL
#define CAUSAL 0
#endif
#ifndef POWER
#define POWER exp2f
#define FACTOR 1.44269504f
#endif
#ifndef FACTOR
#define FACTOR 1.f
#endif
constexpr int HEAD = 32, KEYS = 16, WARPS = 2, ROW = HEAD + 8;

__device__ __forceinline__ float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ __forceinline__ float row_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}
__device__ __forceinline__ uint32_t pack(__half low, __half high) {
  return __half_as_ushort(low) | uint32_t(__half_as_ushort(high)) << 16;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    attention(const __half* q, const __half* k, const __half* v, float* o, float* lse, float scale, int N, int rows) {
  __shared__ __half keys[KEYS][ROW], values[KEYS][ROW];
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, first = blockIdx.y * rows;
  const int m0 = (blockIdx.x * WARPS + threadIdx.x / 32) * 16 + g;
  const float nothing = __int_as_float(0xff800000), factor = scale * FACTOR;
  uint32_t query[HEAD / 16][4];
  for (int i = 0; i < HEAD / 16; ++i)
    for (int r = 0; r < 4; ++r) {
      const int m = m0 + 8 * (r % 2), d = 16 * i + 2 * t + 8 * (r / 2);
      query[i][r] = m < N ? *reinterpret_cast<const uint32_t*>(&q[(first + m) * HEAD + d]) : 0;
    }
  float most[2] = {nothing, nothing}, total[2] = {}, sum[HEAD / 8][4] = {};
  const int end = CAUSAL ? min((blockIdx.x + 1) * 16 * WARPS, N) : N;
  for (int start = 0; start < end; start += KEYS) {
    for (int i = threadIdx.x; i < KEYS * HEAD; i += 32 * WARPS) {
      const int n = i / HEAD, d = i % HEAD;
      keys[n][d] = start + n < N ? k[(first + start + n) * HEAD + d] : __half(0.f);
      values[n][d] = start + n < N ? v[(first + start + n) * HEAD + d] : __half(0.f);
    }
    __syncthreads();
    float score[2][4] = {}, shrink[2];
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < HEAD / 16; ++i) {
        const __half* row = &keys[8 * j + g][16 * i + 2 * t];
        const uint32_t key[2] = {pack(row[0], row[1]), pack(row[8], row[9])};
        Mma<__half>::run(score[j], query[i], key);
      }
    float now[2] = {most[0], most[1]};
    for (int j = 0; j < 2; ++j)
      for (int r = 0; r < 4; ++r) {
        const int m = m0 + 8 * (r / 2), n = start + 8 * j + 2 * t + r % 2;
        score[j][r] = n < N && (!CAUSAL || m >= n) ? score[j][r] * factor : nothing;
        now[r / 2] = fmaxf(now[r / 2], score[j][r]);
      }
    for (int i = 0; i < 2; ++i) {
      now[i] = row_max(now[i]);
      shrink[i] = POWER(most[i] - now[i]);
      most[i] = now[i];
      total[i] *= shrink[i];
    }
    for (int j = 0; j < HEAD / 8; ++j)
      for (int r = 0; r < 4; ++r) sum[j][r] *= shrink[r / 2];
    uint32_t power[4];
    for (int i = 0; i < 4; ++i) {
      const float x = POWER(score[i / 2][i % 2 * 2] - most[i % 2]), y = POWER(score[i / 2][i % 2 * 2 + 1] - most[i % 2]);
      total[i % 2] += x + y;
      power[i] = pack(__float2half_rn(x), __float2half_rn(y));
    }
    for (int j = 0; j < HEAD / 8; ++j) {
      const int d = 8 * j + g;
      const uint32_t value[2] = {pack(values[2 * t][d], values[2 * t + 1][d]),
                                 pack(values[2 * t + 8][d], values[2 * t + 9][d])};
      Mma<__half>::run(sum[j], power, value);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    const int m = m0 + 8 * i;
    total[i] = row_sum(total[i]);
    if (m >= N) continue;
    for (int j = 0; j < HEAD / 8; ++j)
      for (int r = 0; r < 2; ++r) o[(first + m) * HEAD + 8 * j + 2 * t + r] = sum[j][2 * i + r] / total[i];
    if (lse && t == 0) lse[first + m] = most[i] + log2f(total[i]);
  }
}
