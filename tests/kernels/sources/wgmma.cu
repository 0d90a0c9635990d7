// SPDX-License-Identifier: Apache-2.0
// C = A * B by wgmma from shared memory under the 128-byte swizzle, which the threads fill; A (m, k) and B (n, k) are
// stored along k. A CTA of one warpgroup has 64 x 64 elements; M, N and K are multiples of 64.
#include "ptx.cuh"
constexpr int TILE = 64;

extern "C" __global__ void __launch_bounds__(128)
    wgmma(int M, int N, int K, const __half* A, int lda, const __half* B, int ldb, float* C, int ldc) {
  __shared__ __align__(1024) __half a[TILE * TILE], b[TILE * TILE];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, m0 = blockIdx.x * TILE, n0 = blockIdx.y * TILE;
  float sum[32] = {};
  for (int k0 = 0; k0 < K; k0 += TILE) {
    for (int i = threadIdx.x; i < TILE * 8; i += 128) {
      const int row = i / 8, piece = i % 8, at = row * 64 + (piece ^ row % 8) * 8;
      *reinterpret_cast<uint4*>(a + at) = *reinterpret_cast<const uint4*>(A + (m0 + row) * lda + k0 + piece * 8);
      *reinterpret_cast<uint4*>(b + at) = *reinterpret_cast<const uint4*>(B + (n0 + row) * ldb + k0 + piece * 8);
    }
    fence_proxy_async();
    __syncthreads();
    wgmma_fence();
    for (int k = 0; k < TILE; k += 16) wgmma_m64n64k16(sum, k_major_128(a + k), k_major_128(b + k));
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  for (int v = 0; v < 32; ++v) {
    const int m = m0 + 16 * warp + lane / 4 + 8 * (v / 2 % 2), n = n0 + 8 * (v / 4) + 2 * (lane % 4) + v % 2;
    C[m * ldc + n] = sum[v];
  }
}
