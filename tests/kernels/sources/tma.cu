// SPDX-License-Identifier: Apache-2.0
// C = A * B by wgmma from shared memory that TMA fills STAGES deep; A (m, k) and B (n, k) are stored along k. A CTA of
// one warpgroup has 64 x 64 elements; M, N and K are multiples of 64. Thread 0 is the producer too.
#include "ptx.cuh"
#ifndef STAGES
#define STAGES 3
#endif
constexpr int TILE = 64;
struct alignas(64) TensorMap {
  char opaque[128];
};

__device__ __forceinline__ void arm(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void wait(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}"
      ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}
__device__ __forceinline__ void box(__half* to, const TensorMap* map, int k, int mn, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(shared_address(to)), "l"(map), "r"(k), "r"(mn), "r"(shared_address(barrier))
      : "memory");
}

extern "C" __global__ void __launch_bounds__(128)
    tma(int M, int N, int K, const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float* C, int ldc) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ __align__(8) uint64_t full[STAGES];
  __half* tiles = reinterpret_cast<__half*>(memory);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, m0 = blockIdx.x * TILE, n0 = blockIdx.y * TILE;
  const int trips = K / TILE;
  const auto fill = [&](int trip) {
    const int s = trip % STAGES;
    arm(&full[s], 2 * TILE * TILE * sizeof(__half));
    box(tiles + s * 2 * TILE * TILE, &A, trip * TILE, m0, &full[s]);
    box(tiles + s * 2 * TILE * TILE + TILE * TILE, &B, trip * TILE, n0, &full[s]);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[s])));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fence_proxy_async();
    for (int s = 0; s < STAGES - 1 && s < trips; ++s) fill(s);
  }
  __syncthreads();
  float sum[32] = {};
  for (int trip = 0; trip < trips; ++trip) {
    const int s = trip % STAGES;
    if (threadIdx.x == 0 && trip + STAGES - 1 < trips) fill(trip + STAGES - 1);
    wait(&full[s], trip / STAGES % 2);
    const __half *a = tiles + s * 2 * TILE * TILE, *b = a + TILE * TILE;
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
