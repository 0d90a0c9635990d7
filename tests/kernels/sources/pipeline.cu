// SPDX-License-Identifier: Apache-2.0
// C = A * B by mma.sync, the fragments read by ldmatrix from swizzled shared memory that cp.async fills STAGES deep.
// A (m, k) is stored along k; B along k as (n, k), or along n where B_ALONG_N. A CTA of 4 warps has 64 x 64 elements.
// STMATRIX: f16 results go through shared memory.
#include "ptx.cuh"
#ifndef ELEMENT
#define ELEMENT __half
#endif
#ifndef OUT
#define OUT float
#endif
#ifndef STAGES
#define STAGES 3
#endif
constexpr int TILE = 64, DEEP = 32;

// Rows of 32 elements, four pieces of 16 bytes; rows of 64 elements have eight.
__device__ __forceinline__ int narrow(int row, int piece) { return row * 32 + (piece ^ row / 2 % 4) * 8; }
__device__ __forceinline__ int wide(int row, int piece) { return row * 64 + (piece ^ row % 8) * 8; }

__device__ __forceinline__ void load(ELEMENT* a, ELEMENT* b, const ELEMENT* A, const ELEMENT* B, int m0, int n0, int k0, int M, int N, int K,
                                     int lda, int ldb) {
  for (int i = threadIdx.x; i < TILE * 4; i += 128) {
    const int row = i / 4, piece = i % 4, k = k0 + piece * 8;
    const bool there = m0 + row < M && k < K;
    cp_async(a + narrow(row, piece), there ? A + (m0 + row) * lda + k : A, there ? 16 : 0);
  }
#ifdef B_ALONG_N
  for (int i = threadIdx.x; i < DEEP * 8; i += 128) {
    const int row = i / 8, piece = i % 8, n = n0 + piece * 8;
    const bool there = k0 + row < K && n < N;
    cp_async(b + wide(row, piece), there ? B + (k0 + row) * ldb + n : B, there ? 16 : 0);
  }
#else
  for (int i = threadIdx.x; i < TILE * 4; i += 128) {
    const int row = i / 4, piece = i % 4, k = k0 + piece * 8;
    const bool there = n0 + row < N && k < K;
    cp_async(b + narrow(row, piece), there ? B + (n0 + row) * ldb + k : B, there ? 16 : 0);
  }
#endif
}

extern "C" __global__ void __launch_bounds__(128)
    pipeline(int M, int N, int K, const ELEMENT* A, int lda, const ELEMENT* B, int ldb, OUT* C, int ldc) {
  extern __shared__ __align__(128) unsigned char memory[];
  ELEMENT* tiles = reinterpret_cast<ELEMENT*>(memory);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int m0 = blockIdx.x * TILE, n0 = blockIdx.y * TILE, wm = warp % 2 * 32, wn = warp / 2 * 32;
  const int trips = (K + DEEP - 1) / DEEP;
  float sum[2][4][4] = {};
  const auto a_of = [&](int stage) { return tiles + stage * 2 * TILE * DEEP; };
  const auto b_of = [&](int stage) { return a_of(stage) + TILE * DEEP; };
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < trips) load(a_of(s), b_of(s), A, B, m0, n0, s * DEEP, M, N, K, lda, ldb);
    cp_async_commit();
  }
  for (int trip = 0; trip < trips; ++trip) {
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    const int next = trip + STAGES - 1;
    if (next < trips) load(a_of(next % STAGES), b_of(next % STAGES), A, B, m0, n0, next * DEEP, M, N, K, lda, ldb);
    cp_async_commit();
    const ELEMENT *a = a_of(trip % STAGES), *b = b_of(trip % STAGES);
    for (int k = 0; k < DEEP; k += 16) {
      uint32_t x[2][4], y[2][4];
      for (int i = 0; i < 2; ++i) ldmatrix_x4(x[i], a + narrow(wm + 16 * i + lane % 16, k / 8 + lane / 16));
      for (int j = 0; j < 2; ++j)
#ifdef B_ALONG_N
        ldmatrix_x4_trans(y[j], b + wide(k + lane % 16, (wn + 16 * j) / 8 + lane / 16));
#else
        ldmatrix_x4(y[j], b + narrow(wn + 16 * j + lane % 8 + lane / 16 * 8, k / 8 + lane / 8 % 2));
#endif
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) Mma<ELEMENT>::run(sum[i][j], x[i], y[j / 2] + j % 2 * 2);
    }
  }
#ifdef STMATRIX
  cp_async_wait<0>();
  __syncthreads();
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      uint32_t r[2];
      for (int h = 0; h < 2; ++h) {
        const __half2 two = __floats2half2_rn(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
        r[h] = *reinterpret_cast<const uint32_t*>(&two);
      }
      stmatrix_x2(tiles + wide(wm + 16 * i + lane % 16, (wn + 8 * j) / 8), r[0], r[1]);
    }
  __syncthreads();
  for (int i = threadIdx.x; i < TILE * 8; i += 128) {
    const int row = i / 8, piece = i % 8;
    if (m0 + row < M && n0 + piece * 8 < N)
      *reinterpret_cast<uint4*>(C + (m0 + row) * ldc + n0 + piece * 8) =
          *reinterpret_cast<const uint4*>(tiles + wide(row, piece));
  }
#else
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int v = 0; v < 4; ++v) {
        const int m = m0 + wm + 16 * i + lane / 4 + 8 * (v / 2), n = n0 + wn + 8 * j + 2 * (lane % 4) + v % 2;
        if (m < M && n < N) C[m * ldc + n] = OUT(sum[i][j][v]);
      }
#endif
}
