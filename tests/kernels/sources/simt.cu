// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C by fused multiply-adds: a CTA of 256 threads has 64 x 64 elements, a thread 4 x 4.
// NT: A and B are stored along m and n, else along k. ELEMENT is float or double.
#ifndef ELEMENT
#define ELEMENT float
#endif
constexpr int TILE = 64, DEEP = 8;

__device__ __forceinline__ ELEMENT element(const ELEMENT* x, int mn, int k, int ld) {
#ifdef NT
  return x[mn + k * ld];
#else
  return x[mn * ld + k];
#endif
}

extern "C" __global__ void __launch_bounds__(256)
    simt(int M, int N, int K, ELEMENT alpha, const ELEMENT* A, int lda, const ELEMENT* B, int ldb, ELEMENT beta, ELEMENT* C, int ldc) {
  __shared__ ELEMENT a[DEEP][TILE + 4], b[DEEP][TILE + 4];
  const int t = threadIdx.x, m0 = blockIdx.x * TILE, n0 = blockIdx.y * TILE;
  ELEMENT sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += DEEP) {
    for (int i = t; i < TILE * DEEP; i += 256) {
#ifdef NT
      const int mn = i % TILE, k = i / TILE;
#else
      const int mn = i / DEEP, k = i % DEEP;
#endif
      a[k][mn] = m0 + mn < M && k0 + k < K ? element(A, m0 + mn, k0 + k, lda) : ELEMENT(0);
      b[k][mn] = n0 + mn < N && k0 + k < K ? element(B, n0 + mn, k0 + k, ldb) : ELEMENT(0);
    }
    __syncthreads();
    for (int k = 0; k < DEEP; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += a[k][t % 16 + 16 * i] * b[k][t / 16 + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int m = m0 + t % 16 + 16 * i, n = n0 + t / 16 + 16 * j;
      if (m < M && n < N) C[m + n * ldc] = alpha * sum[i][j] + beta * C[m + n * ldc];
    }
}
