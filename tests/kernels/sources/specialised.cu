// SPDX-License-Identifier: Apache-2.0
// C = A * B by three warpgroups: the first has one thread that loads tiles by TMA, STAGES deep; two multiply 64 x 64
// each by wgmma and give a stage back when they have read it. A (m, k) and B (n, k) are stored along k; a CTA has 128 x 64
// elements; M, N and K are multiples of 128, 64 and 64. Results go through shared memory, behind a named barrier.
#include "ptx.cuh"
#ifndef STAGES
#define STAGES 3
#endif
#ifndef RELEASES  // threads of a warpgroup that give a stage back: 4, one of each warp; or 1, as for its whole warpgroup
#define RELEASES 4
#endif
constexpr int TILE = 64, THREADS = 384, GROUP = 128;
constexpr int STAGE = (2 * TILE + TILE) * TILE * sizeof(__half);
struct alignas(64) TensorMap {
  char opaque[128];
};

__device__ __forceinline__ void make(uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void arm(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void wait(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}"
      ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}
__device__ __forceinline__ void box(void* to, const TensorMap* map, int k, int mn, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(shared_address(to)), "l"(map), "r"(k), "r"(mn), "r"(shared_address(barrier))
      : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    specialised(int K, const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float* C, int ldc) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
  const int thread = threadIdx.x % GROUP, group = threadIdx.x / GROUP, trips = K / TILE;
  const int m0 = blockIdx.x * 2 * TILE, n0 = blockIdx.y * TILE;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      make(&full[s], 1);
      make(&empty[s], 2 * RELEASES);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fence_proxy_async();
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread == 0) {
#pragma unroll 1
      for (int trip = 0; trip < trips; ++trip) {
        const int s = trip % STAGES;
        wait(&empty[s], trip / STAGES % 2 ^ 1);
        arm(&full[s], STAGE);
        box(memory + s * STAGE, &A, trip * TILE, m0, &full[s]);
        box(memory + s * STAGE + 2 * TILE * TILE * sizeof(__half), &B, trip * TILE, n0, &full[s]);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float sum[32] = {};
#pragma unroll 1
  for (int trip = 0; trip < trips; ++trip) {
    const int s = trip % STAGES;
    wait(&full[s], trip / STAGES % 2);
    const __half* b = reinterpret_cast<const __half*>(memory + s * STAGE) + 2 * TILE * TILE;
    const __half* a = reinterpret_cast<const __half*>(memory + s * STAGE) + (group - 1) * TILE * TILE;
    wgmma_fence();
    for (int k = 0; k < TILE; k += 16) wgmma_m64n64k16(sum, k_major_128(a + k), k_major_128(b + k));
    wgmma_commit();
    wgmma_wait<0>();
    if (thread % (GROUP / RELEASES) == 0) arrive(&empty[s]);
  }
  float* staged = reinterpret_cast<float*>(memory + STAGES * STAGE) + (group - 1) * TILE * TILE;
  const int lane = thread % 32, warp = thread / 32;
  for (int v = 0; v < 32; v += 2) {
    const int m = 16 * warp + lane / 4 + 8 * (v / 2 % 2), n = 8 * (v / 4) + 2 * (lane % 4);
    *reinterpret_cast<float2*>(staged + m * TILE + n) = make_float2(sum[v], sum[v + 1]);
  }
  asm volatile("bar.sync %0, %1;" ::"r"(group), "n"(GROUP) : "memory");
#pragma unroll 1
  for (int at = 4 * thread; at < TILE * TILE; at += 4 * GROUP)
    *reinterpret_cast<float4*>(C + (m0 + (group - 1) * TILE + at / TILE) * ldc + n0 + at % TILE) =
        *reinterpret_cast<float4*>(staged + at);
}
