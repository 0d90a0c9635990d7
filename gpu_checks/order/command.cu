// SPDX-License-Identifier: Apache-2.0
// One warp is late, and something that orders its accesses before those of the others is left out. Each round begins with
// the same shared memory; every thread counts which of its results differ from the right one.

//// wgmma
//// D = A * B with 64 x 16 ones and 16 x 8 ones: every element of D is 16. `b` is 0 until it is written.
extern "C" __global__ void __launch_bounds__(128) order(const u32* delay, u32* wrong) {
  __shared__ __align__(128) u16 a[64 * 16], b[8 * 16];
  const int t = threadIdx.x, warp = t / 32;
  u32 bad = 0;
  for (int round = 0; round < $rounds; ++round) {
    for (int i = t; i < 64 * 16; i += 128) a[i] = 0x3C00;
    b[t] = $before;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (warp == 3) for (const long long start = clock64(); clock64() - start < delay[0];) {}
    $store
    $fence
    $barrier
    float d[4] = {0, 0, 0, 0};
    $product
    $overwrite
    for (int v = 0; v < 4; ++v) bad += d[v] != 16.f;
    __syncthreads();
  }
  atomicAdd(&wrong[blockIdx.x * 4 + warp], bad);
}

//// issued, within a line
asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    const u64 da = (u64)(((u32)__cvta_generic_to_shared(a) & 0x3FFFF) >> 4) | 8ull << 16 | 16ull << 32;
    const u64 db = (u64)(((u32)__cvta_generic_to_shared(b) & 0x3FFFF) >> 4) | 8ull << 16 | 16ull << 32;
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, "
                 "%4, %5, p, 1, 1, 0, 0;}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

//// loaded, within a line
//// The same product by loads of the thread itself: of column t % 8 of B, for four rows of ones.
for (int k = 0; k < 16; ++k) {
      const u16 x = *(volatile u16*)&b[t % 8 * 16 + k];
      for (int v = 0; v < 4; ++v) d[v] += x == 0x3C00 ? 1.f : 0.f;
    }

//// bulk
//// 512 words that the threads write are copied to global memory by one thread, asynchronously, and read from there.
extern "C" __global__ void __launch_bounds__(128) order(const u32* delay, u32* wrong, u32* out) {
  __shared__ __align__(128) u32 words[512];
  const int t = threadIdx.x, warp = t / 32;
  u32 bad = 0, *to = out + blockIdx.x * 512;
  for (int round = 0; round < $rounds; ++round) {
    for (int v = 0; v < 4; ++v) words[t + 128 * v] = ~0u;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (warp == 3) for (const long long start = clock64(); clock64() - start < delay[0];) {}
    for (int v = 0; v < 4; ++v) words[t + 128 * v] = round * 512 + t + 128 * v;
    $fence
    $barrier
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" ::"l"(to),
                   "r"((u32)__cvta_generic_to_shared(words)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int v = 0; v < 4; ++v) bad += ((volatile u32*)to)[t + 128 * v] != round * 512 + t + 128 * v;
    __syncthreads();
  }
  atomicAdd(&wrong[blockIdx.x * 4 + warp], bad);
}

//// fence, within a line
asm volatile("fence.proxy.async;" ::: "memory");

//// barrier, within a line
__syncthreads();

//// one, within a line
b[t] = 0x3C00;

//// other, within a line
if (warp == 0) for (int i = t; i < 128; i += 32) b[i] = 0x4700;
