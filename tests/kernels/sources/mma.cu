// SPDX-License-Identifier: Apache-2.0
// C = A * B by mma.sync, the fragments read from shared memory in registers of 32 bits; A (m, k) and B (n, k) are stored
// along k. A CTA of 4 warps has 64 x 64 elements, a warp 32 x 32. EPILOGUE: 0 C = sum, 1 alpha * sum + beta * C,
// 2 relu(sum + bias[n]), 3 atomic adds of parts of the sum.
#include "ptx.cuh"
#ifndef ELEMENT
#define ELEMENT __half
#endif
#ifndef OUT
#define OUT float
#endif
#ifndef EPILOGUE
#define EPILOGUE 0
#endif
constexpr int TILE = 64, PER = 4 / sizeof(ELEMENT), DEEP = 16 * PER, ROW = DEEP + 4 * PER;
using Sum = Mma<ELEMENT>::Sum;

__device__ __forceinline__ void load(ELEMENT (*tile)[ROW], const ELEMENT* x, int mn0, int k0, int MN, int K, int ld) {
  for (int i = threadIdx.x; i < TILE * DEEP; i += 128) {
    const int mn = i / DEEP, k = i % DEEP;
    tile[mn][k] = mn0 + mn < MN && k0 + k < K ? x[(mn0 + mn) * ld + k0 + k] : ELEMENT(0);
  }
}

extern "C" __global__ void __launch_bounds__(128)
    mma(int M, int N, int K, const ELEMENT* A, int lda, const ELEMENT* B, int ldb, OUT* C, int ldc, float alpha, float beta,
        const float* bias) {
  __shared__ __align__(16) ELEMENT a[TILE][ROW], b[TILE][ROW];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int m0 = blockIdx.x * TILE, n0 = blockIdx.y * TILE, wm = warp % 2 * 32, wn = warp / 2 * 32;
  Sum sum[2][4][4] = {};
  const int part = EPILOGUE == 3 ? (K + gridDim.z - 1) / gridDim.z : K, first = EPILOGUE == 3 ? blockIdx.z * part : 0;
  const int last = min(K, first + part);
  for (int k0 = first; k0 < last; k0 += DEEP) {
    load(a, A, m0, k0, M, last, lda);
    load(b, B, n0, k0, N, last, ldb);
    __syncthreads();
    for (int k = 0; k < DEEP; k += 8 * PER) {
      uint32_t x[2][4], y[4][2];
      for (int i = 0; i < 2; ++i)
        for (int r = 0; r < 4; ++r)
          x[i][r] = *reinterpret_cast<const uint32_t*>(&a[wm + 16 * i + g + 8 * (r % 2)][k + PER * (t + 4 * (r / 2))]);
      for (int j = 0; j < 4; ++j)
        for (int r = 0; r < 2; ++r) y[j][r] = *reinterpret_cast<const uint32_t*>(&b[wn + 8 * j + g][k + PER * (t + 4 * r)]);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) Mma<ELEMENT>::run(sum[i][j], x[i], y[j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int v = 0; v < 4; ++v) {
        const int m = m0 + wm + 16 * i + g + 8 * (v / 2), n = n0 + wn + 8 * j + 2 * t + v % 2;
        if (m >= M || n >= N) continue;
        OUT* c = &C[m * ldc + n];
        if (EPILOGUE == 0) *c = OUT(sum[i][j][v]);
        if (EPILOGUE == 1) *c = OUT(alpha * float(sum[i][j][v]) + beta * float(*c));
        if (EPILOGUE == 2) *c = OUT(fmaxf(float(sum[i][j][v]) + bias[n], 0.f));
        if (EPILOGUE == 3) atomicAdd(c, OUT(sum[i][j][v]));
      }
}
