// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C by nvcuda::wmma, staged in shared memory; A (m, k) and B (n, k) are stored along k. A CTA
// of 4 warps has 2 x 2 tiles of M x N.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>
#ifndef ELEMENT
#define ELEMENT __half
#define FRAGMENT __half
#endif
#ifndef SUM
#define SUM float
#endif
#ifndef TILE_M
#define TILE_M 16
#define TILE_N 16
#define TILE_K 16
#endif
using namespace nvcuda;

extern "C" __global__ void __launch_bounds__(128)
    wmma_product(int K, const ELEMENT* A, int lda, const ELEMENT* B, int ldb, SUM* C, int ldc, SUM alpha, SUM beta) {
  constexpr int ROW = TILE_K + 16 / sizeof(ELEMENT);
  __shared__ __align__(32) ELEMENT a[2 * TILE_M][ROW], b[2 * TILE_N][ROW];
  const int warp = threadIdx.x / 32, wm = warp % 2 * TILE_M, wn = warp / 2 * TILE_N;
  const int m0 = blockIdx.x * 2 * TILE_M, n0 = blockIdx.y * 2 * TILE_N;
  wmma::fragment<wmma::matrix_a, TILE_M, TILE_N, TILE_K, FRAGMENT, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, TILE_M, TILE_N, TILE_K, FRAGMENT, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, TILE_M, TILE_N, TILE_K, SUM> sum, old;
  wmma::fill_fragment(sum, SUM(0));
  for (int k0 = 0; k0 < K; k0 += TILE_K) {
    for (int i = threadIdx.x; i < 2 * TILE_M * TILE_K; i += 128) a[i / TILE_K][i % TILE_K] = A[(m0 + i / TILE_K) * lda + k0 + i % TILE_K];
    for (int i = threadIdx.x; i < 2 * TILE_N * TILE_K; i += 128) b[i / TILE_K][i % TILE_K] = B[(n0 + i / TILE_K) * ldb + k0 + i % TILE_K];
    __syncthreads();
    wmma::load_matrix_sync(x, &a[wm][0], ROW);
    wmma::load_matrix_sync(y, &b[wn][0], ROW);
    wmma::mma_sync(sum, x, y, sum);
    __syncthreads();
  }
  SUM* c = C + (m0 + wm) * ldc + n0 + wn;
  wmma::load_matrix_sync(old, c, ldc, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
  wmma::store_matrix_sync(c, sum, ldc, wmma::mem_row_major);
}
