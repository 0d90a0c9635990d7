// SPDX-License-Identifier: Apache-2.0
// Small kernels, each unsafe with -DUNSAFE and safe without it: T(unsafe, safe). What is said of both is in
// `unsafe.toml`. It is compiled by test_unsafe.py.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

#ifdef UNSAFE
#define T(unsafe, safe) unsafe
#else
#define T(unsafe, safe) safe
#endif
#define K(name) extern "C" __global__ void name
#define tid threadIdx.x
#define bid blockIdx.x
#define SYNC __syncthreads()
typedef const uint32_t* __restrict__ in_t;
#define AT(x) ((uint32_t)__cvta_generic_to_shared(x))
#define INIT(b, n) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(AT(b)), "r"(n) : "memory")
#define FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define ARRIVE(b) asm volatile("{.reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0];}" :: "r"(AT(b)) : "memory")
#define EXPECT(b, n) \
  asm volatile("{.reg .b64 t; mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], %1;}" \
               :: "r"(AT(b)), "r"(n) : "memory")
#define COPY_ARRIVE(noinc, b) \
  asm volatile("cp.async.mbarrier.arrive" noinc ".shared::cta.b64 [%0];" :: "r"(AT(b)) : "memory")
#define STATE(b, t) asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(t) : "r"(AT(b)) : "memory")
#define WAIT_STATE(b, t) \
  asm volatile("{.reg .pred p;\nL: mbarrier.try_wait.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" \
               :: "r"(AT(b)), "l"(t) : "memory")
#define WAIT(b, ph) \
  asm volatile("{.reg .pred p;\nL: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" \
               :: "r"(AT(b)), "r"(ph) : "memory")
#define LOAD(s, g, n, b) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
               :: "r"(AT(s)), "l"(g), "r"(n), "r"(AT(b)) : "memory")
#define STORE(g, s, n) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" \
               :: "l"(g), "r"(AT(s)), "r"(n) : "memory")
#define COPY(s, g) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;" :: "r"(AT(s)), "l"(g) : "memory")
#define COPIED asm volatile("cp.async.wait_group 0;" ::: "memory")
#define WAIT_READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define WAIT_ALL asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define BAR(id, n) asm volatile("bar.sync %0, %1;" :: "n"(id), "n"(n) : "memory")
#define BAR_ARRIVE(id, n) asm volatile("bar.arrive %0, %1;" :: "n"(id), "n"(n) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
#define COPY_ONLY(s, g, n) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(AT(s)), "l"(g), "n"(n) : "memory")
#define LDMATRIX(v, s) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(AT(s)) : "memory")
#define BULK_ADD(g, s, n) \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;\n" \
               "cp.async.bulk.commit_group;" :: "l"(g), "r"(AT(s)), "r"(n) : "memory")
#define DROP(b) \
  asm volatile("{.reg .b64 t; mbarrier.arrive_drop.shared::cta.b64 t, [%0];}" :: "r"(AT(b)) : "memory")
#define PARTIAL(b, n) \
  asm volatile("{.reg .b64 t; mbarrier.arrive.noComplete.release.cta.shared::cta.b64 t, [%0], %1;}" \
               :: "r"(AT(b)), "r"(n) : "memory")
#define warp (tid / 32)
#define lane (tid % 32)

// An atomic operation, or a plain one.
K(hist_plain)(in_t a, uint32_t* c) { uint32_t b = a[bid * 64 + tid] & 63; T(c[b]++, atomicAdd(&c[b], 1)); }

// Shared atomics, then read.
K(shared_hist)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = 0; SYNC;
  atomicAdd(&s[a[tid] & 63], 1); T(, SYNC); c[tid] = s[tid]; }

// Barrier in one branch of CTAs.
K(branch_sync)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  if (bid == 0 T(, || bid == 1)) SYNC; c[bid * 64 + tid] = s[63 - tid]; }

// A barrier for a part of a warp.
K(divergent)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  T(if (tid < 48) SYNC, SYNC); c[tid] = s[tid ^ 1]; }

// Clamp one too far.
K(clamp)(const int* __restrict__ a, uint32_t* c, in_t t) { int i = max(a[tid], 0); i = min(i, T(64, 63));
  c[tid] = t[i]; }

// A mask, and one more.
K(mask)(in_t a, uint32_t* c, in_t t) { c[tid] = t[(a[tid] & 63) + T(1, 0)]; }

// Halo not written.
K(halo)(in_t a, uint32_t* c) { __shared__ uint32_t s[66]; s[tid + 1] = a[tid]; if (tid == 0) { s[0] = 0;
  T(, s[65] = 0); } SYNC; c[tid] = s[tid] + s[tid + 2]; }

// Misaligned vector.
K(misaligned)(const uint4* __restrict__ a, uint32_t* c) {
  const uint4* p = (const uint4*)((const uint32_t*)a + tid / 16 * T(3, 4)); uint4 v = *p; c[tid] = v.x + v.w; }

// Early exit before a barrier and read of what the exited did not write.
K(early_exit)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; T(if (tid >= 40) return;,) s[tid] = a[tid];
  SYNC; c[tid] = s[63 - tid]; }

// Local array.
K(local_array)(in_t a, uint32_t* c) { uint32_t v[8]; for (int i = 0; i < 8; i++) v[i] = a[i * 8] ;
  v[a[tid] & T(15, 7)] = 5; uint32_t sum = 0; for (int i = 0; i < 8; i++) sum += v[(i + a[tid + T(0, 0)]) & 7];
  c[tid] = sum; }

// Unsigned wrap.
K(wrap)(in_t a, uint32_t* c) { T(, if (tid > 0)) c[tid] = a[tid - 1u]; }

// Loop on data.
K(loop_data)(in_t a, uint32_t* c) { uint32_t n = a[tid], sum = 0;
#ifdef UNSAFE
  for (uint32_t i = 0; i < n; i++) sum += a[i];
#else
  for (uint32_t i = 0; i < 16; i++) if (i < n) sum += a[i];
#endif
  c[tid] = sum; }

// Two CTAs, one byte.
K(two_ctas)(in_t a, uint8_t* c) { c[T(0, bid * 64) + tid] = (uint8_t)(a[tid] + bid); }

// Overlapping widths: u16 of one over u8 of another.
K(widths)(in_t a, uint8_t* c) { if (tid & 1) c[tid] = (uint8_t)a[tid];
  else T(*(uint16_t*)(c + tid) = (uint16_t)a[tid], c[tid] = (uint8_t)a[tid]); }

// Write after read in a loop: single buffer.
K(single_buffer)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; uint32_t sum = 0; for (int i = 0; i < 4;
  i++) { s[tid] = a[i * 64 + tid]; SYNC; sum += s[63 - tid]; T(, SYNC); } c[tid] = sum; }

// Double buffer with one barrier (safe); bug: three readers behind.
K(double_buffer)(in_t a, uint32_t* c) { __shared__ uint32_t s[2][64]; uint32_t sum = 0; for (int i = 0; i < 6;
  i++) { s[T(i / 2 % 2, i % 2)][tid] = a[i * 64 % 256 + tid]; SYNC; sum += s[T(i / 2 % 2, i % 2)][63 - tid]; }
  c[tid] = sum; }

// Warp exchange without syncwarp.
K(warp_exchange)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; T(, __syncwarp());
  c[tid] = s[tid ^ 1]; }

// Cross-warp exchange with syncwarp only.
K(cross_warp)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; __syncwarp();
  c[tid] = s[tid ^ T(32, 16)]; }

// Named barrier with a wrong count.
K(named_count)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  asm volatile("bar.sync 1, %0;" :: "n"(T(96, 64)) : "memory"); c[tid] = s[63 - tid]; }

// Vector tail.
K(tail)(in_t a, uint32_t* c, int n) { int i = tid * 4;
  if (i T(, + 3) < n) *(uint4*)(c + i) = make_uint4(a[0], a[1], a[2], a[3]); }

// Signed remainder.
K(signed_remainder)(const int* __restrict__ a, uint32_t* c, in_t t) {
  c[tid] = t[T(a[tid] % 64, (int)((unsigned)a[tid] % 64u))]; }

// Abs of INT_MIN.
K(absolute)(const int* __restrict__ a, uint32_t* c, in_t t) { int x = a[tid]; T(, x = max(x, -2147483647));
  x = abs(x); c[tid] = t[x % 63]; }

// Bins not all zeroed.
K(bins)(in_t a, uint32_t* c) { __shared__ uint32_t s[128]; for (int i = tid; i < T(64, 128); i += 64) s[i] = 0;
  SYNC; atomicAdd(&s[a[tid] & 127], 1); SYNC; c[tid] = s[tid] + s[tid + 64]; }

// The scope of a CTA, between CTAs.
K(scope)(in_t a, uint32_t* c) { T(atomicAdd_block(&c[a[tid] & 63], 1), atomicAdd(&c[a[tid] & 63], 1)); }

// Last CTA.
K(last_cta)(in_t a, uint32_t* c, uint32_t* part, uint32_t* ticket) { part[bid * 64 + tid] = a[tid] + bid;
  T(, __threadfence()); __shared__ uint32_t last; SYNC; if (tid == 0) last = atomicAdd(ticket, 1); SYNC;
  if (last == 1) { T(, __threadfence()); c[tid] = part[tid] + part[64 + tid]; } }

// Branch bounds the index.
K(branch_bound)(in_t a, uint32_t* c, in_t t) { uint32_t i = a[tid]; if (i T(<=, <) 64u) c[tid] = t[i]; }

// Dynamic shared memory that is too small.
K(dynamic)(in_t a, uint32_t* c) { extern __shared__ uint32_t s[]; s[tid + T(1, 0)] = a[tid]; SYNC;
  c[tid] = s[63 - tid + T(1, 0)]; }

// cp.async: read before the wait.
K(copy_wait)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; COPY(s + tid, a + tid); T(, COPIED); SYNC;
  c[tid] = s[63 - tid]; }

// cp.async: source overwritten while it is read.
K(copy_source)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; c[tid] = a[tid]; SYNC; COPY(s + tid, c + tid);
  T(c[tid] = 7, COPIED); T(COPIED, c[tid] = 7); SYNC; c[64 + tid] = s[63 - tid]; }

// Global order inside a CTA: read of what another thread wrote.
K(global_order)(in_t a, uint32_t* c) { c[bid * 64 + tid] = a[tid]; T(, SYNC);
  uint32_t v = c[bid * 64 + (tid ^ 32)]; SYNC; c[bid * 64 + tid] = v; }

// Spin on a flag of another CTA.
K(spin)(in_t a, uint32_t* c, volatile uint32_t* flag) { if (bid == 0) { c[tid] = a[tid]; SYNC; if (tid == 0) {
  T(, __threadfence()); *flag = 1; } } else { while (*flag == 0) {} c[64 + tid] = c[tid]; } }

// Exchange at a permuted index: not a permutation.
K(permute)(in_t a, uint32_t* c) { c[(tid * T(2, 3)) & 63] = a[tid]; }

// The extent of a transpose.
K(transpose)(in_t a, uint32_t* c) { __shared__ uint32_t s[8][T(8, 9)]; uint32_t x = tid % 8, y = tid / 8;
  s[y][x + T(1, 0)] = a[tid]; SYNC; c[tid] = s[x][y + T(1, 0)]; }

// A union of two lives in one shared buffer without a barrier.
K(two_lives)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; SYNC; uint32_t v = s[63 - tid];
  T(, SYNC); s[tid] = v + 1; SYNC; c[tid] = s[(tid + 1) & 63]; }

// Index from a float.
K(from_float)(const float* __restrict__ a, uint32_t* c, in_t t) {
  unsigned i = (unsigned)(fminf(fmaxf(a[tid], 0.f), T(64.f, 63.f))); c[tid] = t[i]; }

// Index of two data.
K(two_data)(in_t a, uint32_t* c, in_t t) { uint32_t i = (a[tid] & 31) + (a[63 - tid] & T(63, 31)); c[tid] = t[i]; }

// Shift by data.
K(shifted)(in_t a, uint32_t* c, in_t t) { uint32_t i = (a[tid] >> T(25, 26)); c[tid] = t[i]; }

// One thread initialises late.
K(init_late)(in_t a, uint32_t* c) { __shared__ uint32_t s; T(, if (tid == 0) s = 0;
  SYNC;) atomicAdd(&s, a[tid]); SYNC; c[tid] = s; }

// Trap by data.
K(trapping)(in_t a, uint32_t* c) { uint32_t v = a[tid] T(, & 7); if (v > 7) __trap(); c[tid] = v; }

// Phase reuse.
K(phase_reuse)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, 64); SYNC;
  s[tid] = a[tid]; ARRIVE(&b); WAIT(&b, 0); uint32_t v = s[63 - tid]; SYNC; s[tid] = v + 1; ARRIVE(&b);
  WAIT(&b, T(0, 1)); c[tid] = s[63 - tid]; }

// Init not seen.
K(init_unseen)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, 64); T(, SYNC); s[tid] = a[tid]; ARRIVE(&b); WAIT(&b, 0); c[tid] = s[63 - tid]; }

// Expects too much.
K(expects_more)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, T(512, 256)); LOAD(s, a, 256, &b); }
  WAIT(&b, 0); c[tid] = s[63 - tid]; }

// Expects too little.
K(expects_less)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, T(128, 256)); LOAD(s, a, 256, &b); }
  WAIT(&b, 0); c[tid] = s[63 - tid]; }

// No proxy fence before a bulk store.
K(no_fence)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; T(, FENCE); SYNC;
  if (tid == 0) { STORE(c, s, 256); WAIT_ALL; } }

// Source of a bulk store reused.
K(source_reused)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; SYNC;
  if (tid == 0) { STORE(c, s, 256); T(, WAIT_READ); } SYNC; s[tid] = 5; SYNC; c[64 + tid] = s[63 - tid];
  if (tid == 0) WAIT_ALL; }

// Destination read before the wait.
K(no_wait)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) {
  INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, 256); LOAD(s, a, 256, &b); } T(, WAIT(&b, 0));
  c[tid] = s[63 - tid]; T(WAIT(&b, 0),); }

// Misaligned bulk copy.
K(bulk_align)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[72]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, 256); LOAD(s + T(1, 4), a, 256, &b); }
  WAIT(&b, 0); c[tid] = s[T(1, 4) + 63 - tid]; }

// Bulk copy out of bounds.
K(bulk_bounds)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, 256); LOAD(s, a + T(196, 192), 256, &b);
  } WAIT(&b, 0); c[tid] = s[63 - tid]; }

// Two in flight, one barrier consumed, buffer refilled before readers are done.
K(refilled)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); FENCE; } SYNC; uint32_t sum = 0; for (int i = 0; i < 3; i++) { if (tid == 0) {
  EXPECT(&b, 256); LOAD(s, a + 64 * i, 256, &b); } WAIT(&b, i & 1); sum += s[63 - tid]; T(, SYNC); } c[tid] = sum; }

// Bulk store: another thread waits.
K(other_waits)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; SYNC;
  if (tid == 0) { STORE(c, s, 256); T(, WAIT_ALL); } T(if (tid == 1) WAIT_ALL,); SYNC; s[tid] = c[tid]; }

// Shuffle that waits for lanes at a barrier.
K(shuffle_stuck)(in_t a, uint32_t* c) { uint32_t v = a[tid];
  if (tid & 1) v += __shfl_xor_sync(T(0xffffffffu, 0xaaaaaaaau), v, 2); SYNC; c[tid] = v; }

// From a lane that has ended.
K(ended_lane)(in_t a, uint32_t* c) { if (tid & 1) return;
  uint32_t v = __shfl_xor_sync(T(0xffffffffu, 0x55555555u), a[tid], T(1, 2)); c[tid] = v; }

// Vote with a mask that is not of it.
K(vote_mask)(in_t a, uint32_t* c) { c[tid] = __ballot_sync(T(0x0000ffffu, 0xffffffffu), a[tid] > 5); }

// Ld.nc of what was written.
K(nc)(const uint32_t* a, uint32_t* c) { c[tid] = a[tid]; SYNC; uint32_t v;
  asm volatile(T("ld.global.nc.u32", "ld.global.u32") " %0, [%1];" : "=r"(v) : "l"(c + 63 - tid) : "memory");
  c[64 + tid] = v; }

// A place that an atomic operation gives.
K(tickets)(in_t a, uint32_t* c, uint32_t* ticket) { uint32_t at = atomicAdd(ticket, T(0, 1)) & 63; c[at] = a[tid]; }

// An offset that all threads share.
K(shared_offset)(in_t a, uint32_t* c) { uint32_t at = (a[T(tid, 0)] & 1) * 64 + T(0, tid); c[at] = 7; }

// Scatter where it is its own.
K(own)(in_t a, uint32_t* c) { uint32_t at = a[tid] & 63; if (at T(>=, ==) tid) c[at] = 1; }

// Stride by data of all.
K(stride)(in_t a, uint32_t* c) { uint32_t at = tid * ((a[0] & 1) + T(0, 1)); c[at] = a[tid]; }

// Read of a shared place by data, all written.
K(gather_shared)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; T(, SYNC);
  c[tid] = s[a[tid] & 63]; }

// CTA-private tiles by data of the CTA.
K(tile_of)(in_t a, uint32_t* c) { uint32_t tile = T(a[bid] & 1, bid); c[tile * 64 + tid] = bid; }

// Barrier by data.
K(barrier_data)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; if (T(a[tid], a[0]) > 5) {
  SYNC; c[tid] = s[63 - tid]; } }

// Mbarrier used after inval.
K(inval)(in_t a, uint32_t* c) { __shared__ uint64_t b; if (tid == 0) INIT(&b, 64); SYNC; ARRIVE(&b);
  WAIT(&b, 0); SYNC;
  if (tid == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(AT(&b)) : "memory"); SYNC;
  T(ARRIVE(&b),); c[tid] = a[tid]; }

// 128-bit atomics / packed: two threads add halves.
K(packed)(in_t a, uint32_t* c) {
  T(*(uint16_t*)((char*)c + 2 * (tid / 2)) = a[tid], *(uint16_t*)((char*)c + 2 * tid) = a[tid]); }

// Subtraction below zero.
K(below)(in_t a, uint32_t* c, in_t t) { uint32_t i = (a[tid] & 31) - T(1, 0); c[tid] = t[(uint64_t)i]; }

// Sign extension of a byte.
K(signed_byte)(const int8_t* __restrict__ a, uint32_t* c, in_t t) {
  c[tid] = t[T(a[tid] >> 2, (uint8_t)a[tid] >> 2)]; }

// Popcount index.
K(popc)(in_t a, uint32_t* c, in_t t) { c[tid] = t[__popc(a[tid]) * 2 - T(0, (a[tid] == 0xffffffffu) * 2)]; }

// The consumer waits at another named barrier.
K(named_other)(in_t a, uint32_t* c) { __shared__ uint32_t s[32]; if (warp == 0) { s[lane] = a[lane];
  BAR_ARRIVE(1, 64); } else { BAR(T(2, 1), 64); c[lane] = s[31 - lane]; } }

// A producer that doesn't wait for the buffer to be read.
K(named_handshake)(in_t a, uint32_t* c) { __shared__ uint32_t s[32]; for (int i = 0; i < 3; i++) { if (warp == 0) {
  T(, if (i) BAR(2, 64)); s[lane] = a[i * 32 + lane]; BAR_ARRIVE(1, 64); } else { BAR(1, 64);
  c[i * 32 + lane] = s[31 - lane]; if (i < 2) BAR_ARRIVE(2, 64); } } }

// Two halves at one named barrier: two warps that come first go on, of whichever half.
K(named_halves)(in_t a, uint32_t* c) { __shared__ uint32_t s[128]; s[tid] = a[tid];
#ifdef UNSAFE
  BAR(1, 64);
#else
  if (tid < 64) BAR(1, 64); else BAR(2, 64);
#endif
  c[tid] = s[tid ^ 32]; }

// Counts of one barrier that differ.
K(named_counts)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; if (warp == 0)
  BAR(1, T(32, 64)); else BAR(1, 64); c[tid] = s[63 - tid]; }

// The phase before the first has parity 1, and is over.
K(first_parity)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) INIT(&b, 64);
  SYNC; s[tid] = a[tid]; ARRIVE(&b); WAIT(&b, T(1, 0)); c[tid] = s[63 - tid]; }

// A barrier that half of the arrivals complete.
K(half_count)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; if (tid == 0)
  INIT(&b, T(32, 64)); SYNC; s[tid] = a[tid]; ARRIVE(&b); WAIT(&b, 0); c[tid] = s[63 - tid]; }

// A ring of two stages: the producer must wait until a stage is empty.
K(ring)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[2][32]; __shared__ uint64_t full[2], empty[2];
  if (tid == 0) { for (int i = 0; i < 2; i++) { INIT(full + i, 1); INIT(empty + i, 32); } FENCE; } SYNC;
  if (tid == 0) for (int i = 0; i < 5; i++) { T(, WAIT(empty + i % 2, i / 2 % 2 ^ 1)); EXPECT(full + i % 2, 128);
    LOAD(s[i % 2], a + 32 * i, 128, full + i % 2); }
  if (warp == 1) { uint32_t sum = 0; for (int i = 0; i < 5; i++) { WAIT(full + i % 2, i / 2 % 2);
    sum += s[i % 2][31 - lane]; ARRIVE(empty + i % 2); } c[lane] = sum; } }

// The parity of the empty stages from the wrong side: nobody ever frees the first.
K(ring_parity)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[2][32]; __shared__ uint64_t full[2], empty[2];
  if (tid == 0) { for (int i = 0; i < 2; i++) { INIT(full + i, 1); INIT(empty + i, 32); } FENCE; } SYNC;
  if (tid == 0) for (int i = 0; i < 5; i++) { WAIT(empty + i % 2, i / 2 % 2 T(, ^ 1)); EXPECT(full + i % 2, 128);
    LOAD(s[i % 2], a + 32 * i, 128, full + i % 2); }
  if (warp == 1) { uint32_t sum = 0; for (int i = 0; i < 5; i++) { WAIT(full + i % 2, i / 2 % 2);
    sum += s[i % 2][31 - lane]; ARRIVE(empty + i % 2); } c[lane] = sum; } }

// A stage that is given back before it is read.
K(early_release)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[2][32];
  __shared__ uint64_t full[2], empty[2];
  if (tid == 0) { for (int i = 0; i < 2; i++) { INIT(full + i, 1); INIT(empty + i, 32); } FENCE; } SYNC;
  if (tid == 0) for (int i = 0; i < 5; i++) { WAIT(empty + i % 2, i / 2 % 2 ^ 1); EXPECT(full + i % 2, 128);
    LOAD(s[i % 2], a + 32 * i, 128, full + i % 2); }
  if (warp == 1) { uint32_t sum = 0; for (int i = 0; i < 5; i++) { WAIT(full + i % 2, i / 2 % 2);
    T(ARRIVE(empty + i % 2),); sum += s[i % 2][31 - lane]; T(, ARRIVE(empty + i % 2)); } c[lane] = sum; } }

// One lane gives a stage back for its whole warp.
K(one_releases)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[32]; __shared__ uint64_t full, empty;
  if (tid == 0) { INIT(&full, 1); INIT(&empty, 1); FENCE; } SYNC;
  if (tid == 0) for (int i = 0; i < 3; i++) { WAIT(&empty, i % 2 ^ 1); EXPECT(&full, 128);
    LOAD(s, a + 32 * i, 128, &full); }
  if (warp == 1) { uint32_t sum = 0; for (int i = 0; i < 3; i++) { WAIT(&full, i % 2); sum += s[31 - lane];
    T(, __syncwarp()); if (lane == 0) ARRIVE(&empty); } c[lane] = sum; } }

// One of two loads counted.
K(two_loads)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[128]; __shared__ uint64_t b; if (tid == 0) {
  INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, T(256, 512)); LOAD(s, a, 256, &b);
  LOAD(s + 64, a + 64, 256, &b); } WAIT(&b, 0); c[tid] = s[127 - tid]; }

// A wait that is tried once, and may say no.
K(try_once)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) {
  INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, 256); LOAD(s, a, 256, &b); }
#ifdef UNSAFE
  asm volatile("{.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n}" :: "r"(AT(&b)) : "memory");
#else
  WAIT(&b, 0);
#endif
  c[tid] = s[63 - tid]; }

// An mbarrier that a plain store overwrites.
K(overwritten)(in_t a, uint32_t* c) { __shared__ alignas(8) uint32_t s[66]; uint64_t* b = (uint64_t*)(s + 64);
  if (tid == 0) INIT(b, 64); SYNC; s[tid + T(2, 0)] = a[tid]; ARRIVE(b); WAIT(b, 0); c[tid] = s[63 - tid + T(2, 0)]; }

// Memory of an mbarrier used as data: only behind its invalidation.
K(reused_barrier)(in_t a, uint32_t* c) { __shared__ alignas(8) uint32_t s[64]; uint64_t* b = (uint64_t*)s;
  if (tid == 0) INIT(b, 64); SYNC; ARRIVE(b); WAIT(b, 0); SYNC;
  T(, if (tid == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(AT(b)) : "memory"); SYNC);
  s[tid] = a[tid]; SYNC; c[tid] = s[63 - tid]; }

// An arrival that doesn't wait for the copies of its thread.
K(copy_arrive)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) INIT(&b, 64);
  SYNC; COPY_ONLY(s + tid, a + tid, 4);
  T(ARRIVE(&b), COPY_ARRIVE(".noinc", &b));
  WAIT(&b, 0); c[tid] = s[63 - tid]; }

// The last group is still on its way.
K(group_left)(in_t a, uint32_t* c) { __shared__ uint32_t s[128]; COPY_ONLY(s + tid, a + tid, 4); COMMIT;
  COPY_ONLY(s + 64 + tid, a + 64 + tid, 4); COMMIT; WAIT_GROUP(1); SYNC; c[tid] = s[T(127, 63) - tid];
  WAIT_GROUP(0); }

// A pipeline of three stages that waits for one too few.
K(three_stages)(in_t a, uint32_t* c) { __shared__ uint32_t s[3][64]; uint32_t sum = 0; for (int i = 0; i < 2; i++) {
  COPY_ONLY(s[i] + tid, a + 64 * i % 256 + tid, 4); COMMIT; } for (int i = 0; i < 4; i++) { WAIT_GROUP(T(2, 1)); SYNC;
  sum += s[i % 3][63 - tid]; if (i < 2) COPY_ONLY(s[(i + 2) % 3] + tid, a + 64 * (i + 2) + tid, 4); COMMIT; }
  c[tid] = sum; }

// A pipeline whose stage is refilled while others read it.
K(stage_refilled)(in_t a, uint32_t* c) { __shared__ uint32_t s[2][64]; uint32_t sum = 0;
  COPY_ONLY(s[0] + tid, a + tid, 4); COMMIT; for (int i = 0; i < 4; i++) { WAIT_GROUP(0); SYNC;
  if (i < 3) COPY_ONLY(s[(i + T(0, 1)) % 2] + tid, a + 64 * (i + 1) + tid, 4); COMMIT; sum += s[i % 2][63 - tid];
  T(WAIT_GROUP(0); SYNC; sum += s[0][0],); } c[tid] = sum; }

// Copies that others read behind the wait of each alone.
K(own_wait)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; COPY_ONLY(s + tid, a + tid, 4); COMMIT; WAIT_GROUP(0);
  T(, SYNC); c[tid] = s[63 - tid]; }

// A copy whose place isn't a multiple of its size.
K(copy_align)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[72]; if (tid < 16) {
  COPY_ONLY(s + 4 * tid + T(1, 4), a + 4 * tid, 16); } COMMIT; WAIT_GROUP(0); SYNC; c[tid] = s[T(1, 4) + tid]; }

// A copy beyond the array.
K(copy_tail)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[260]; s[4 * tid] = 0; s[4 * tid + 1] = 0;
  s[4 * tid + 2] = 0; s[4 * tid + 3] = 0; SYNC; COPY_ONLY(s + 4 * tid, a + 4 * tid + T(4, 0), 16); COMMIT;
  WAIT_GROUP(0); SYNC; c[tid] = s[255 - tid]; }

// Partial sums of warps that aren't there.
K(partials)(in_t a, uint32_t* c) { __shared__ uint32_t s[32]; uint32_t v = __reduce_add_sync(~0u, a[tid]);
  if (lane == 0) s[warp] = v; SYNC; if (warp == 0) { v = lane < T(4, 2) ? s[lane] : 0; v = __reduce_add_sync(~0u, v);
  if (lane == 0) c[0] = v; } }

// One row too many.
K(one_row)(in_t a, uint32_t* c) { uint32_t row = tid / 16, column = tid % 16; for (uint32_t y = row; y T(<=, <) 8u;
  y += 4)
  c[y * 16 + column] = a[y * 16 + column]; }

// Rows that are longer than those of the array.
K(longer_rows)(in_t a, uint32_t* c) { uint32_t sum = 0; for (int y = 0; y < 16; y++)
  if (tid < 16) sum += a[y * T(17, 16) + tid]; c[tid] = sum; }

// The row above the first.
K(row_above)(in_t a, uint32_t* c) { int row = tid / 16, column = tid % 16; uint32_t up = 0; if (row T(>=, >) 0)
  up = a[(row - 1) * 16 + column]; c[tid] = up; }

// Beyond the end by a stride over the grid.
K(grid_stride)(in_t a, uint32_t* c, int n) { for (int i = bid * 64 + tid; i T(<=, <) n; i += 128) c[i] = a[i]; }

// Between lanes that the mask leaves out.
K(shuffle_mask)(in_t a, uint32_t* c) { c[tid] = __shfl_down_sync(T(0x0000ffffu, 0xffffffffu), a[tid], 8); }

// __syncwarp by lanes that its mask leaves out.
K(syncwarp_mask)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; if (lane < 16)
  __syncwarp(T(0x00ff, 0xffff)); else __syncwarp(0xffff0000u); c[tid] = s[tid ^ 1]; }

// The halves of a warp, each of which waits for itself.
K(half_warps)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; if (lane < 16) __syncwarp(0xffff);
  else __syncwarp(0xffff0000u); c[tid] = s[tid ^ T(16, 8)]; }

// The last steps of a reduction, by one warp in step as it is not.
K(last_steps)(in_t a, uint32_t* c) { __shared__ volatile uint32_t s[64]; s[tid] = a[tid]; SYNC; if (warp == 0) {
  uint32_t v = s[lane] + s[lane + 32]; for (int i = 16; i; i /= 2) { T(, __syncwarp()); s[lane] = v;
  T(, __syncwarp());
  v += lane < i ? s[lane + i] : 0; } if (lane == 0) c[0] = v; } }

// A neighbour's CTA, in place.
K(neighbour_cta)(in_t a, uint32_t* c, uint32_t* part) { uint32_t i = bid * 64 + tid; part[i] = a[i];
  c[i] = T(part, a)[(i + 64) & 127]; }

// In place, without a barrier between what is read and what is written.
K(in_place)(in_t a, uint32_t* c) { c[tid] = a[tid]; SYNC; uint32_t v = c[tid] + c[(tid + 1) & 63]; T(, SYNC);
  c[tid] = v; }

// A transposition in place, by both threads of each pair.
K(swap)(in_t a, uint32_t* c) { c[tid] = a[tid]; SYNC; uint32_t x = tid % 8, y = tid / 8; if (x T(!=, <) y) {
  uint32_t one = c[8 * y + x], other = c[8 * x + y]; c[8 * y + x] = other; c[8 * x + y] = one; } }

// A scan in one buffer.
K(scan)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; SYNC; for (uint32_t i = 1; i < 64;
  i *= 2) {
  uint32_t v = tid >= i ? s[tid - i] : 0; T(, SYNC); s[tid] += v; SYNC; } c[tid] = s[tid]; }

// A tree whose last step isn't waited for.
K(tree)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; for (uint32_t i = 32; i; i /= 2) {
  T(if (i > 16), ) SYNC; if (tid < i) s[tid] += s[tid + i]; } T(, SYNC); c[tid] = s[0]; }

// Two arrays in dynamic memory that overlap.
K(carved)(in_t a, uint32_t* c) { extern __shared__ uint32_t s[]; uint32_t *x = s, *y = s + T(32, 64); x[tid] = a[tid];
  y[tid] = a[64 + tid]; SYNC; c[tid] = x[63 - tid] + y[63 - tid]; }

// A reduction twice: the second writes what is still read of the first.
K(reduced_twice)(in_t a, uint32_t* c) { __shared__ uint32_t s[2]; uint32_t v = __reduce_add_sync(~0u, a[tid]);
  if (lane == 0) s[warp] = v; SYNC; uint32_t sum = s[0] + s[1]; T(, SYNC); v = __reduce_max_sync(~0u, a[tid] + sum);
  if (lane == 0) s[warp] = v; SYNC; c[tid] = max(s[0], s[1]); }

// A result that is broadcast through shared memory, and overwritten.
K(broadcast)(in_t a, uint32_t* c) { __shared__ uint32_t s; if (tid == 0) s = a[0]; SYNC; uint32_t v = s; T(, SYNC);
  if (tid == 32) s = a[1]; SYNC; c[tid] = v + s; }

// Tiles of a product, the next of which comes too early.
K(tiles)(in_t a, uint32_t* c) { __shared__ uint32_t x[8][8], y[8][8]; uint32_t i = tid / 8, j = tid % 8, sum = 0;
  for (int k = 0; k < 2; k++) { x[i][j] = a[i * 16 + k * 8 + j]; y[i][j] = a[128 + (k * 8 + i) * 8 + j]; SYNC;
  for (int l = 0; l < 8; l++) sum += x[i][l] * y[l][j]; T(, SYNC); } c[tid] = sum; }

// The rest of a sum whose length is no multiple of the tile.
K(rest_of_sum)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; uint32_t sum = 0; for (int k = 0; k < 250; k += 64) {
  s[tid] = T(, k + tid >= 250 ? 0 :) a[k + tid]; SYNC; sum += s[63 - tid]; SYNC; } c[tid] = sum; }

// Both branches of a warp have a barrier: only one without `.aligned` may stand there.
K(both_branches)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; if (tid & 1)
  asm volatile(T("bar.sync 0;", "barrier.sync 0;") ::: "memory"); else { s[tid] += 1;
  asm volatile(T("bar.sync 0;", "barrier.sync 0;") ::: "memory"); } c[tid] = s[63 - tid]; }

// A vote is no barrier.
K(voted)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  int n = T(__popc(__ballot_sync(~0u, a[tid] > 5)), __syncthreads_count(a[tid] > 5)); c[tid] = s[63 - tid] + n; }

// Numbers of 64 bits over their neighbours.
K(wide)(in_t a, uint32_t* c) { if (tid % 2 == 0) *(uint2*)(c + tid) = make_uint2(a[tid], a[tid + 1]);
  else T(c[tid] = 5, c[64 + tid] = 5); }

// A vector in shared memory that isn't aligned.
K(shared_vector)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[68]; s[tid] = a[tid];
  if (tid < 4) s[64 + tid] = 0;
  SYNC; if (tid < 16) { uint4 v = *(uint4*)(s + 4 * tid + T(2, 0)); c[tid] = v.x + v.y + v.z + v.w; } }

// A reset that others don't wait for.
K(reset)(in_t a, uint32_t* c) { T(if (tid == 63) c[0] = 0, if (tid == 63) c[1] = 0); atomicAdd(&c[0], a[tid]); }

// Sums of a CTA that another one adds to.
K(sums_of_cta)(in_t a, uint32_t* c) { uint32_t* mine = c + T(0, bid * 64); atomicAdd(&mine[tid & 7], a[tid]); SYNC;
  uint32_t v = mine[7 - (tid & 7)]; SYNC; if (tid == 8) mine[8] = v; }

// Data decide who leaves before a barrier.
K(leaves_by_data)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; T(if (a[tid] == 7) return,); s[tid] = a[tid];
  SYNC;
  c[tid] = s[63 - tid]; }

// A buffer of the last bulk store, reused when the one before it was read.
K(last_store)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[2][32]; for (int i = 0; i < 3; i++) {
  if (tid == 0 && i > T(1, 0))
  asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(T(1, 0)) : "memory"); SYNC; if (warp == 0) {
  s[i T(% 1, % 2)][lane] = a[i * 32 + lane];
  } FENCE; SYNC; if (tid == 0) STORE(c + 32 * i, s[i T(% 1, % 2)], 128); } if (tid == 0) WAIT_ALL; }

// A kernel that ends while its shared memory is read.
K(ends_early)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; SYNC;
  if (tid == 0) { STORE(c, s, 256); T(, WAIT_READ); } }

// A kernel that ends while its shared memory is written.
K(ends_loading)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) {
  INIT(&b, 1); FENCE; } SYNC; if (tid == 0) { EXPECT(&b, 256); LOAD(s, a, 256, &b); T(, WAIT(&b, 0)); } c[tid] = 1; }

// The registers of a warpgroup, given back by one warp.
K(registers)(in_t a, uint32_t* c) { if (T(warp == 0, true)) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  c[tid] = a[tid]; }

// One lane writes for its warp.
K(elected)(in_t a, uint32_t* c) { __shared__ uint32_t s[2]; uint32_t mine;
  asm volatile("{.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(mine));
  if (mine) s[warp] = a[warp];
  T(, __syncwarp()); c[tid] = s[warp]; }

// Matrices that aren't there yet.
K(matrices)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[32]; if (warp == 0) s[lane] = a[lane];
  T(, SYNC); uint32_t v;
  LDMATRIX(v, s + 4 * (lane % 8));
  c[tid] = v; }

// Rows of matrices that aren't aligned.
K(matrix_rows)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; SYNC; uint32_t v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(AT(s + T(5,
  4) * (lane % 8))) : "memory");
  c[tid] = v; }

// Matrices that a part of a warp loads.
K(part_of_warp)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[32]; if (warp == 0) s[lane] = a[lane];
  SYNC; uint32_t v = 0;
  if (T(lane < 16, true)) LDMATRIX(v, s + 4 * (lane % 8));
  c[tid] = v; }

// Shared memory of a CTA that the cluster hasn't.
K(other_rank)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; SYNC; uint32_t at, v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(AT(s + 63 - tid)), "r"(T(1, 0)));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory"); c[tid] = v; }

// A flag in shared memory that a warp waits for.
K(shared_flag)(in_t a, uint32_t* c) { __shared__ uint32_t s[32]; __shared__ volatile uint32_t flag;
  if (tid == 0) flag = 0; SYNC;
  if (warp == 0) { s[lane] = a[lane]; __syncwarp(); if (lane == 0) { T(, __threadfence_block()); flag = 1; } }
  else { while (!flag) {} T(, __threadfence_block()); c[lane] = s[31 - lane]; } }

// A lock that nobody takes: two CTAs change one element.
K(no_lock)(in_t a, uint32_t* c) { if (tid == 0) { T(c[0] = c[0] + a[bid], atomicAdd(&c[0], a[bid])); } }

// The sum of CTAs by the last of them, without the barrier before its ticket.
K(last_ticket)(in_t a, uint32_t* c, uint32_t* part, uint32_t* ticket) { __shared__ bool last;
  part[bid * 64 + tid] = a[tid];
  __threadfence(); T(, SYNC); if (tid == 0) last = atomicAdd(ticket, 1) == 1; SYNC; if (last) { __threadfence();
  c[tid] = part[tid] + part[64 + tid]; } }

// libcu++'s barrier.
K(cuda_barrier)(in_t a, uint32_t* c) { __shared__ uint32_t s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (tid == 0) init(&b, 64); SYNC; s[tid] = a[tid]; T(auto t = b.arrive(); (void)t, b.arrive_and_wait());
  c[tid] = s[63 - tid]; }

// libcu++'s barrier, between two uses of a buffer.
K(cuda_barrier_twice)(in_t a, uint32_t* c) { __shared__ uint32_t s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (tid == 0) init(&b, 64); SYNC; uint32_t sum = 0; for (int i = 0; i < 3; i++) { s[tid] = a[64 * i + tid];
  b.arrive_and_wait();
  sum += s[63 - tid]; T(, b.arrive_and_wait()); } c[tid] = sum; }

// A copy of libcu++ that its barrier counts.
K(cuda_memcpy)(in_t a, uint32_t* c) { __shared__ uint32_t s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (tid == 0) init(&b, 64); SYNC; cuda::memcpy_async(s + tid, a + tid, cuda::aligned_size_t<4>(4), b);
  T(auto t = b.arrive(); (void)t, b.arrive_and_wait());
  c[tid] = s[63 - tid]; }

// The pipeline of libcu++, of a CTA.
K(block_pipeline)(in_t a, uint32_t* c) { __shared__ uint32_t s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state); uint32_t sum = 0;
  for (int i = 0; i < 4; i++) { pipe.producer_acquire(); cuda::memcpy_async(&s[i % 2][tid], a + 64 * i + tid,
  cuda::aligned_size_t<4>(4), pipe); pipe.producer_commit(); T(, pipe.consumer_wait());
  sum += s[i % 2][63 - tid]; pipe.consumer_release(); } c[tid] = sum; }

// The arrival for copies, which does not release what the thread stored.
K(copy_arrive_store)(in_t a, uint32_t* c) { __shared__ uint32_t s[64], r[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, T(64, 128)); SYNC; COPY_ONLY(s + tid, a + tid, 4); r[tid] = a[tid];
  COPY_ARRIVE(".noinc", &b); T(, ARRIVE(&b)); WAIT(&b, 0); c[tid] = s[63 - tid] + r[63 - tid]; }

// The arrival for copies that adds itself to the count: before the thread's own arrival.
K(copy_arrive_added)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, 64); SYNC; COPY_ONLY(s + tid, a + tid, 4); T(ARRIVE(&b), COPY_ARRIVE("", &b));
  T(COPY_ARRIVE("", &b), ARRIVE(&b)); WAIT(&b, 0); c[tid] = s[63 - tid]; }

// Copies that an mbarrier counts, begun into a buffer that is still read.
K(copy_arrive_twice)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b[2]; uint32_t sum = 0;
  if (tid == 0) { INIT(b, 64); INIT(b + 1, 64); } SYNC;
  for (int i = 0; i < 2; i++) { COPY_ONLY(s + tid, a + 64 * i + tid, 4); COPY_ARRIVE(".noinc", b + i);
  WAIT(b + i, 0); sum += s[63 - tid]; T(, SYNC); } c[tid] = sum; }

// A thread may wait for its own copies by their group too.
K(copy_arrive_own)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, 64); SYNC; COPY_ONLY(s + tid, a + tid, 4); COMMIT; COPY_ARRIVE(".noinc", &b);
  WAIT_GROUP(0); c[tid] = s[T(63 - tid, tid)]; WAIT(&b, 0); }

// A wait for the state of a phase that is over long since.
K(old_state)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; uint64_t first, state;
  if (tid == 0) INIT(&b, 64); SYNC; STATE(&b, first); WAIT_STATE(&b, first); STATE(&b, state);
  WAIT_STATE(&b, state); s[tid] = a[tid]; STATE(&b, state); WAIT_STATE(&b, T(first, state)); c[tid] = s[63 - tid]; }

// A state that is computed with, which no wait takes.
K(changed_state)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; uint64_t state;
  if (tid == 0) INIT(&b, 64); SYNC; s[tid] = a[tid]; STATE(&b, state); WAIT_STATE(&b, state T(+ 1, ));
  c[tid] = s[63 - tid]; }

// A count of tries that decides what is computed.
K(counts_tries)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; uint32_t tries = 0, done = 0;
  if (tid == 0) INIT(&b, 64); SYNC; s[tid] = a[tid]; ARRIVE(&b); while (!done) {
  asm volatile("{.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done) : "r"(AT(&b)) : "memory"); if (++tries > 64) __nanosleep(20); }
  c[tid] = s[63 - tid] T(+ tries, ); }

// Groups of cooperative_groups.
K(tile_sync)(in_t a, uint32_t* c) { __shared__ uint32_t s[64];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[tid] = a[tid]; tile.sync(); c[tid] = s[tid ^ T(16, 8)]; }

// A reduction of cooperative_groups.
K(tile_reduce)(in_t a, uint32_t* c) { __shared__ uint32_t s[2];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  uint32_t v = cg::reduce(tile, a[tid], cg::plus<uint32_t>()); if (tile.thread_rank() == 0) s[warp] = v;
  T(tile.sync(), cg::this_thread_block().sync());
  c[tid] = s[0] + s[1]; }

// memcpy_async of cooperative_groups.
K(cg_copy)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, a, cuda::aligned_size_t<16>(256)); T(, cg::wait(block)); c[tid] = s[63 - tid];
  T(cg::wait(block),); }

// The pipeline of libcu++, of one thread.
K(cuda_pipeline)(in_t a, uint32_t* c) { __shared__ uint32_t s[2][64]; auto pipe = cuda::make_pipeline();
  uint32_t sum = 0;
  for (int i = 0; i < 4; i++) { pipe.producer_acquire(); cuda::memcpy_async(&s[i % 2][tid], a + 64 * i + tid, 4,
  pipe); pipe.producer_commit();
  T(, pipe.consumer_wait()); sum += s[i % 2][tid]; T(pipe.consumer_wait(),); pipe.consumer_release();
  } c[tid] = sum; }

// Atomic references of libcu++.
typedef cuda::atomic_ref<uint32_t, cuda::thread_scope_device> of_device;
  typedef cuda::atomic_ref<uint32_t, cuda::thread_scope_block> of_block;
K(atomic_ref)(in_t a, uint32_t* c) { T(c[a[tid] & 63] += 1, of_device(c[a[tid] & 63]).fetch_add(1,
  cuda::memory_order_relaxed)); }

K(atomic_ref_block)(in_t a, uint32_t* c) { T(of_block, of_device)(c[a[tid] & 63]).fetch_add(1,
  cuda::memory_order_acq_rel); }

K(atomic_max_float)(const float* __restrict__ a, uint32_t* c) {
  T(c[0] = max(c[0], __float_as_uint(a[tid])), atomicMax(&c[0], __float_as_uint(a[tid]))); }

K(shared_float_sum)(const float* __restrict__ a, float* c) { __shared__ float s; if (tid == 0) s = 0; T(, SYNC);
  atomicAdd(&s, a[tid]); SYNC; if (tid == 0) c[0] = s; }

K(block_scope)(in_t a, uint32_t* c) { atomicAdd_block(&c[(a[tid] & 31) + T(0, 32 * bid)], 1); }

K(shared_block_scope)(in_t a, uint32_t* c) { __shared__ uint32_t s[32]; if (tid < 32) s[tid] = 0; SYNC;
  atomicAdd_block(&s[a[tid] & 31], 1); T(, SYNC); if (tid < 32) c[tid] = s[tid]; }

K(warp_aggregated)(in_t a, uint32_t* c) { uint32_t m = __ballot_sync(~0u, a[tid] & 1);
  if (lane == 0) T(c[0] += __popc(m), atomicAdd(&c[0], __popc(m))); }

K(match_any)(in_t a, uint32_t* c) { uint32_t m = __match_any_sync(T(0x7fffffffu, ~0u), a[tid] & 7); c[tid] = m; }

// The sum of a block by shuffles, as it is written everywhere.
__device__ uint32_t warp_sum(uint32_t v) { for (int i = 16; i; i /= 2) v += __shfl_down_sync(~0u, v, i); return v; }

K(block_sum)(in_t a, uint32_t* c) { __shared__ uint32_t s[32]; uint32_t v = warp_sum(a[bid * 64 + tid]);
  if (lane == 0) s[warp] = v; T(, SYNC);
  v = tid < blockDim.x / 32 ? s[lane] : 0; if (warp == 0) v = warp_sum(v); if (tid == 0) c[bid] = v; }

// A softmax of a row by one CTA.
K(softmax_row)(const float* __restrict__ a, float* c) { __shared__ float s[2]; float v = a[tid], m = v;
  for (int i = 16; i; i /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, i));
  if (lane == 0) s[warp] = m; SYNC; m = fmaxf(s[0], s[1]); T(, SYNC); float e = __expf(v - m), sum = e;
  for (int i = 16; i; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  if (lane == 0) s[warp] = sum; SYNC; c[tid] = e / (s[0] + s[1]); }

// Argmax: a branch on data around a store to shared memory of its own.
K(argmax)(in_t a, uint32_t* c) { __shared__ uint32_t best[64], at[64]; best[tid] = a[tid]; at[tid] = tid; SYNC;
  for (uint32_t i = 32; i; i /= 2) {
  if (tid < i && best[tid + i] > best[tid]) { best[tid] = best[tid + i]; at[tid] = at[tid + i]; } T(, SYNC);
  } if (tid == 0) c[0] = at[0]; }

// Bitonic sort.
K(bitonic)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; SYNC; for (uint32_t k = 2; k <= 64;
  k *= 2) for (uint32_t j = k / 2; j; j /= 2) {
  uint32_t o = tid ^ j; if (o > tid) { uint32_t x = s[tid], y = s[o]; if ((tid & k) == 0 ? x > y : x < y) {
  s[tid] = y; s[o] = x; } } T(, SYNC); } c[tid] = s[T(63 - tid, tid)]; }

// Compaction: a ballot says where each lane's number goes.
K(compact)(in_t a, uint32_t* c) { uint32_t v = a[tid]; bool keep = v & 1; uint32_t m = __ballot_sync(~0u, keep);
  uint32_t at = __popc(m & ((1u << lane) - 1));
  if (keep) c[T(0, warp * 32) + at] = v; }

// A stencil with a halo in shared memory.
K(stencil)(in_t a, uint32_t* c) { __shared__ uint32_t s[66]; uint32_t i = bid * 64 + tid; s[tid + 1] = a[i];
  if (tid == 0) s[0] = i ? a[i - 1] : 0; if (tid == 63) s[65] = i + 1 < 128 ? a[T(i + 66, i + 1)] : 0; SYNC;
  c[i] = s[tid] + s[tid + 1] + s[tid + 2]; }

// A transposition by tiles, with ragged edges.
K(ragged)(in_t a, uint32_t* c) { __shared__ uint32_t s[8][9]; uint32_t x = tid % 8, y = tid / 8, i = bid * 8 + y;
  if (x < 7 && i < T(16, 15)) s[y][x] = a[i * 7 + x]; SYNC;
  if (x < 7 && i < T(16, 15)) c[i * 7 + x] = s[y][x]; }

// Rows whose ends an array gives (CSR).
K(csr)(in_t a, uint32_t* c, in_t t) { uint32_t sum = 0; for (uint32_t i = t[tid]; i < t[tid + 1];
  i++) sum += a[T(i + 1, i) & 255]; c[tid] = sum; }

// Embedding: rows that an index gives.
K(embedding)(in_t a, uint32_t* c, in_t t) { uint32_t row = t[bid] & T(15, 3); c[bid * 64 + tid] = a[row * 64 + tid]; }

// Two CTAs, a counter and the last one resets it.
K(counter)(in_t a, uint32_t* c) { __shared__ uint32_t at; if (tid == 0) at = atomicAdd(&c[0], 1); SYNC;
  if (at == T(5, 1) && tid == 0) T(c[0] = 0, atomicExch(&c[0], 0)); }

// Grid sync of cooperative_groups isn't there; a flag by atomics.
K(flag_by_atomics)(in_t a, uint32_t* c, uint32_t* flag) { if (bid == 0) { c[tid] = a[tid]; SYNC; if (tid == 0) {
  T(, __threadfence()); atomicExch(flag, 1); } }
  else { if (tid == 0) while (atomicAdd(flag, 0) == 0) {} SYNC; c[64 + tid] = c[tid]; } }

// Loads of 16 bytes, the rest one by one.
K(vector_rest)(in_t a, uint32_t* c) { for (int i = tid; i < T(63, 62) / 4;
  i += 64) ((uint4*)c)[i] = ((const uint4*)a)[i]; for (int i = 60 + tid; i < T(63, 62); i += 64) c[i] = a[i]; }

// A union of shared memory for two phases of a kernel.
K(phases)(in_t a, uint32_t* c) { __shared__ union { uint32_t x[64]; uint16_t y[128]; } s; s.x[tid] = a[tid]; SYNC;
  uint32_t v = s.x[63 - tid]; T(, SYNC);
  s.y[tid] = v; s.y[64 + tid] = v >> 16; SYNC; c[tid] = s.y[127 - tid]; }

// A queue of work: each CTA takes tickets.
K(queue)(in_t a, uint32_t* c, uint32_t* ticket) { __shared__ uint32_t at; for (;;) {
  if (tid == 0) at = atomicAdd(ticket, 1); SYNC; uint32_t i = at; T(, SYNC); if (i >= 2) break;
  c[i * 64 + tid] = a[i * 64 + tid]; } }

// A generic pointer to shared or global memory.
K(generic)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; SYNC; uint32_t* p = tid < 32 ? s : c;
  if (tid < 32) c[tid] = p[T(64, 63) - tid]; else p[tid] = 1; }

// Named barriers by a number that each pair of warps computes.
K(computed_barrier)(in_t a, uint32_t* c) { __shared__ uint32_t s[128]; s[tid] = a[tid];
  asm volatile("bar.sync %0, 64;" :: "r"(1 + T(0, warp / 2)) : "memory"); c[tid] = s[tid ^ 32]; }

// A mask of a half warp that is computed.
K(computed_mask)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  __syncwarp(0xffffu << (lane & 16)); c[tid] = s[tid ^ T(16, 4)]; }

// A sum into global memory by a bulk copy, and a plain store of another CTA.
K(bulk_sum)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; SYNC;
  if (tid == 0) {
  BULK_ADD(c, s, 256); WAIT_ALL; }
  T(if (bid == 1) c[tid] = 0,); }

// A local array of which an element is never written.
K(local_unwritten)(in_t a, uint32_t* c) { volatile uint32_t v[4]; for (int i = 0; i < T(3, 4); i++) v[i] = a[i];
  c[tid] = v[tid & 3]; }

// Half-precision pairs, one half of which another thread writes.
K(halves)(in_t a, uint32_t* c) { uint16_t* h = (uint16_t*)c; h[2 * tid] = a[tid]; h[2 * tid + T(2, 1)] = a[tid]; }

// A store that data decide, read by another thread.
K(guarded_store)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = 0; SYNC;
  if (a[tid] & 1) s[63 - tid] = 1; T(, SYNC); c[tid] = s[tid]; }

// Data decide who comes to a shuffle.
K(early_return_shuffle)(in_t a, uint32_t* c) { uint32_t v = a[tid]; T(if (v & 1) return,);
  c[tid] = __shfl_xor_sync(~0u, v, 1); }

// The place of the first one, which a zero has not.
K(first_set)(in_t a, uint32_t* c, in_t t) { int i = __ffs(a[tid]) T(- 1,); c[tid] = t[i]; }

// Pairs that begin at an odd element.
K(pairs)(in_t a, uint32_t* c) { *(uint2*)(c + T(1, 2) + 2 * (tid & 31)) = make_uint2(1, 1); }

// Bytes of neighbours.
K(three_bytes)(in_t a, uint8_t* c) { for (int i = 0; i < T(4, 3); i++) c[3 * (tid & 31) + i] = T(a[tid] + tid, 7); }

// Global memory between warps, with __syncwarp.
K(syncwarp_global)(in_t a, uint32_t* c) { c[tid] = a[tid]; __syncwarp(); uint32_t v = c[tid ^ T(32, 16)];
  c[64 + tid] = v; }

// The barrier of the other stage.
K(wrong_stage)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[2][32]; __shared__ uint64_t b[2];
  if (tid == 0) { INIT(b, 1); INIT(b + 1, 1); FENCE; } SYNC;
  if (tid == 0) for (int i = 0; i < 2; i++) { EXPECT(b + i, 128); LOAD(s[i], a + 32 * i, 128, b + i);
  } for (int i = 0; i < 2; i++) { WAIT(b + T(0, i), 0); if (tid < 32) c[32 * i + tid] = s[i][31 - tid];
  } if (tid == 0) WAIT(b + 1, 0); }

// A bulk store before all have written.
K(store_unsynced)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; T(, SYNC);
  if (tid == 0) { STORE(c, s, 256); WAIT_ALL; } }

// Each thread must wait for its own copies.
K(one_warp_waits)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; COPY(s + tid, a + tid);
  T(if (tid < 32),) COPIED; SYNC; c[tid] = s[63 - tid]; COPIED; }

// A bulk load over what threads have just written.
K(load_over_store)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); FENCE; } SYNC;
  T(s[tid] = 5,); if (tid == 0) { EXPECT(&b, 256); LOAD(s, a, 256, &b); } WAIT(&b, 0); c[tid] = s[63 - tid]; }

// An mbarrier that two threads initialise.
K(init_twice)(in_t a, uint32_t* c) { __shared__ uint64_t b; if (tid T(< 2, == 0)) INIT(&b, 64); SYNC; ARRIVE(&b);
  WAIT(&b, 0); c[tid] = 1; }

// Two threads arrive, and one is counted.
K(two_expect)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) {
  INIT(&b, T(1, 2)); FENCE; } SYNC; if (tid == 0 || tid == 32) { EXPECT(&b, 128); LOAD(s + tid, a + tid, 128, &b);
  } WAIT(&b, 0); c[tid] = s[63 - tid]; }

// Barriers of a part of the CTA.
K(half_block_sync)(in_t a, uint32_t* c) { __shared__ uint32_t s[128]; s[tid] = a[tid]; if (tid < 64) { SYNC;
  s[tid] += 1; T(, SYNC); } else T(, { SYNC; SYNC; }); c[tid] = s[127 - tid]; }

// The sums of two warps.
K(reduce_pair)(in_t a, uint32_t* c) { __shared__ uint32_t s[2]; uint32_t v = __reduce_add_sync(~0u, a[tid]);
  if (tid % 32 == 0) s[tid / 32] = v; T(__syncwarp(), SYNC); if (tid == 0) c[0] = s[0] + s[1]; }

// Products of coordinates are not distinct.
K(diagonal)(in_t a, uint32_t* c) { uint32_t x = tid % 8, y = tid / 8;
  c[T(x * y, x + 8 * y)] = x + y + a[tid] * 0 + tid; }

// Writes after a vote at a barrier, and no other barrier.
K(count_sync)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  int n = T(__syncthreads_or(1) && 0, __syncthreads_count(a[tid] & 1)); T(s[tid ^ 1] = n, );
  c[tid] = s[63 - tid] + n; }

// Volatile orders nothing.
K(volatile_sum)(in_t a, uint32_t* c) { volatile uint32_t* v = c; v[tid] = a[tid]; T(, SYNC);
  c[64 + tid] = v[63 - tid]; }

// Bins that are used again.
K(shared_atomic_reset)(in_t a, uint32_t* c) { __shared__ uint32_t s[8]; if (tid < 8) s[tid] = 0; SYNC;
  for (int i = 0; i < 2; i++) { atomicAdd(&s[a[tid + 64 * i] & 7], 1); SYNC; if (tid < 8) {
  c[8 * i + tid] = s[tid]; s[tid] = 0; } T(, SYNC); } }

// The element after the last.
K(last_element)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; SYNC;
  c[tid] = s[tid] + s[T(tid + 1, (tid + 1) % 64)]; }

// The bound of a CTA for that of the grid.
K(grid_tail)(in_t a, uint32_t* c, int n) { int i = bid * 64 + tid; if (T(tid, i) < n) c[i] = a[i]; }

// A bulk reduction whose source is written again before it was read.
K(bulk_sum_source)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; for (int i = 0; i < 2; i++) {
  s[tid] = a[64 * i + tid]; FENCE; SYNC; if (tid == 0) { BULK_ADD(c, s, 256); T(, WAIT_READ); } SYNC;
  } if (tid == 0) WAIT_ALL; }

// What it changed, after a wait for its source alone.
K(bulk_sum_read)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; SYNC;
  if (tid == 0) { BULK_ADD(c, s, 256); T(WAIT_READ, WAIT_ALL); } SYNC; c[64 + tid] = c[tid]; if (tid == 0) WAIT_ALL; }

// A barrier between its start and the wait.
K(bulk_sum_late)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; SYNC;
  if (tid == 0) { BULK_ADD(c, s, 256); T(, WAIT_ALL); } SYNC; if (tid == 0) WAIT_ALL; else c[64 + tid] = c[tid]; }

// Sums of the copy engine, of threads, and plain ones.
K(bulk_sum_atomics)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; s[tid] = a[tid]; FENCE; SYNC;
  if (tid == 0) { BULK_ADD(c, s, 256); WAIT_ALL; } T(c[tid] += 1, atomicAdd(c + tid, 1)); }

// Shuffles order no memory.
K(shuffled)(in_t a, uint32_t* c) { __shared__ uint32_t s[2]; uint32_t v = a[tid];
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  if (lane == 0) s[warp] = v; uint32_t w = __shfl_sync(~0u, v, 0); T(__syncwarp(), SYNC); c[tid] = s[1 - warp] + w; }

// The last group of a pipeline is waited for by a wait for all but one.
K(tail_of_groups)(in_t a, uint32_t* c) { __shared__ uint32_t s[3][64]; uint32_t r = 0;
  for (int i = 0; i < 2; i++) COPY(&s[i][tid], a + 64 * i + tid);
  for (int i = 0; i < 4; i++) { if (i < T(4, 3)) WAIT_GROUP(1); else WAIT_GROUP(0); SYNC; r += s[i % 3][63 - tid];
  if (i + 2 < 4) COPY(&s[(i + 2) % 3][tid], a + 64 * (i + 2) + tid); } c[tid] = r; }

// The phase of an empty stage, off by one.
K(full_and_empty)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[2][64]; __shared__ uint64_t f[2], e[2];
  if (tid == 0) { for (int i = 0; i < 2; i++) { INIT(f + i, 1); INIT(e + i, 64); } FENCE; } SYNC; uint32_t r = 0;
  for (int i = 0; i < 4; i++) { if (tid == 0) { if (i >= 2) WAIT(e + i % 2, T(1, 0)); EXPECT(f + i % 2, 256);
  LOAD(s[i % 2], a + 64 * i, 256, f + i % 2); } WAIT(f + i % 2, i / 2 & 1); r += s[i % 2][63 - tid];
  ARRIVE(e + i % 2); } c[tid] = r; }

// A stage that is released before its last read.
K(read_twice)(in_t a, uint32_t* c) { __shared__ alignas(16) uint32_t s[64]; __shared__ uint64_t f, e;
  if (tid == 0) { INIT(&f, 1); INIT(&e, 32); FENCE; } SYNC; uint32_t r = 0; if (warp == 0) { if (lane == 0)
  for (int i = 0; i < 3; i++) { if (i) WAIT(&e, (i - 1) & 1); EXPECT(&f, 256); LOAD(s, a + 64 * i, 256, &f); } }
  else { for (int i = 0; i < 3; i++) { WAIT(&f, i & 1); r += s[lane]; T(ARRIVE(&e), ); r += s[63 - lane];
  T(, ARRIVE(&e)); } c[lane] = r; } }

// A barrier in every second trip.
K(every_second)(in_t a, uint32_t* c) { __shared__ uint32_t s[2][64]; uint32_t r = 0; for (int i = 0; i < 4; i++) {
  s[i % 2][tid] = a[64 * i + tid]; T(if (i % 2 == 0),) SYNC; r += s[i % 2][63 - tid]; } c[tid] = r; }

// A strong load, and a plain store or an atomic operation of another CTA.
K(peek)(in_t a, uint32_t* c, uint32_t* flag) { if (tid == 0) { uint32_t v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  if (v < 100) T(*flag = v + 1, atomicAdd(flag, 1)); } c[bid * 64 + tid] = 1; }

// Threads that leave drop their arrivals of later phases.
K(drops)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) INIT(&b, 64); SYNC;
  s[tid] = a[tid];
  if (warp == 1) { T(ARRIVE(&b), DROP(&b)); } else { ARRIVE(&b); WAIT(&b, 0); uint32_t v = s[63 - tid]; s[tid] = v;
  ARRIVE(&b); WAIT(&b, 1); c[tid] = s[31 - tid]; } }

// A thread drops one arrival too many.
K(drops_twice)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b; if (tid == 0) INIT(&b, 64);
  SYNC; s[tid] = a[tid];
  DROP(&b); T(if (tid < 32) DROP(&b);,) WAIT(&b, 0); c[tid] = s[63 - tid]; }

// An arrival that must not end the phase, and no other of its thread after it.
K(partial)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, T(64, 128)); SYNC; s[tid] = a[tid];
  PARTIAL(&b, 1); T(, ARRIVE(&b)); WAIT(&b, 0); c[tid] = s[63 - tid]; }

// Nor is the arrival of another thread one.
K(partial_other)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, T(2, 3)); SYNC; s[tid] = a[tid]; SYNC;
  if (tid == 0) { PARTIAL(&b, 1); T(, ARRIVE(&b)); } if (tid == 32) ARRIVE(&b); WAIT(&b, 0); c[tid] = s[63 - tid]; }

// libcu++'s barrier, which a warp leaves.
K(and_drop)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (tid == 0) init(&b, 64); SYNC; s[tid] = a[tid];
  if (warp == 1) { T((void)b.arrive(), b.arrive_and_drop()); } else { b.arrive_and_wait(); uint32_t v = s[63 - tid];
  s[tid] = v; b.arrive_and_wait(); c[tid] = s[31 - tid]; } }

// A place for each thread by tickets; read before all have stored.
K(placed)(in_t a, uint32_t* c) { __shared__ uint32_t q[64], n; if (tid == 0) n = 0; SYNC;
  uint32_t at = atomicAdd(&n, 1); q[at & 63] = a[tid]; T(, SYNC); c[tid] = q[tid]; }


// st.async into the own CTA: the mbarrier says when it has come.
K(st_async)(in_t a, uint32_t* c) { __shared__ __align__(128) uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); EXPECT(&b, 256); } SYNC;
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" :: "r"(AT(s + tid)), "r"(a[tid]), "r"(AT(&b)) : "memory");
  T(SYNC, WAIT(&b, 0)); c[tid] = s[63 - tid]; }

// red.async is a sum of the engine.
K(red_async)(in_t a, uint32_t* c) { __shared__ __align__(128) uint32_t s[64]; __shared__ uint64_t b; s[tid] = 0;
  if (tid == 0) { INIT(&b, 1); EXPECT(&b, 256); } SYNC;
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" :: "r"(AT(s + (tid & 7))), "r"(a[tid]), "r"(AT(&b)) : "memory");
  T(SYNC, WAIT(&b, 0)); c[tid] = s[tid]; }

// test_wait for the other parity is over at once.
K(test_wait)(in_t a, uint32_t* c) { __shared__ __align__(128) uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) { INIT(&b, 1); FENCE; } SYNC;
  if (tid == 0) { EXPECT(&b, 256); LOAD(s, a, 256, &b); }
  asm volatile("{.reg .pred p;\nL: mbarrier.test_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" :: "r"(AT(&b)), "r"(T(1, 0)) : "memory");
  c[tid] = s[63 - tid]; }

// bar.sync for fewer threads than come.
K(bar_few)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; BAR(1, T(32, 64)); c[tid] = s[63 - tid]; }

// bar.sync whose count is no multiple of a warp.
K(bar_odd)(in_t a, uint32_t* c, int m) { __shared__ uint32_t s[64]; s[tid] = a[tid]; asm volatile("bar.sync 1, %0;" :: "r"(m + T(48, 64)) : "memory"); c[tid] = s[63 - tid]; }

// A named barrier beyond the last.
K(bar_number)(in_t a, uint32_t* c, int n) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  asm volatile("bar.sync %0;" :: "r"(n + T(16, 15)) : "memory"); c[tid] = s[63 - tid]; }

// ldmatrix beyond the array.
K(matrix_end)(in_t a, uint32_t* c) { __shared__ __align__(128) uint32_t s[T(64, 128)]; s[tid] = a[tid]; T(, s[tid + 64] = a[tid]); SYNC;
  uint32_t r[4]; asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(AT(s + 4 * lane)) : "memory");
  c[tid] = r[0] + r[1] + r[2] + r[3]; }

// wgmma on a tile of which the last rows were never written.
K(wgmma_unwritten)(in_t a, uint32_t* c) { __shared__ __align__(128) uint4 A[128], B[16];
  if (tid < T(96, 128)) A[tid] = ((const uint4*)a)[tid % 64]; if (tid < 16) B[tid] = ((const uint4*)a)[tid]; FENCE; SYNC;
  float f[4] = {};
  const auto desc = [](const void* p) { return (uint64_t)(AT(p) >> 4) | (uint64_t)8 << 16 | (uint64_t)16 << 32; };
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "l"(desc(A)), "l"(desc(B)));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) :: "memory");
  c[tid] = __float_as_uint(f[0] + f[1] + f[2] + f[3]); }

// Shared memory written over while wgmma reads it.
K(wgmma_over)(in_t a, uint32_t* c) { __shared__ __align__(128) uint4 A[128], B[16];
  A[tid] = ((const uint4*)a)[tid % 64]; if (tid < 16) B[tid] = ((const uint4*)a)[tid]; FENCE; SYNC;
  float f[4] = {};
  const auto desc = [](const void* p) { return (uint64_t)(AT(p) >> 4) | (uint64_t)8 << 16 | (uint64_t)16 << 32; };
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "l"(desc(A)), "l"(desc(B)));
  asm volatile("wgmma.commit_group.sync.aligned;");
  T(A[tid].x = 1;, ) asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) :: "memory");
  SYNC; A[tid].x = 1;
  c[tid] = __float_as_uint(f[0] + f[1] + f[2] + f[3]); }

// The own CTA by mapa, in a cluster of one.
K(mapa_own)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; uint32_t p, v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(p) : "r"(AT(s)));
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(p + 4 * tid), "r"(a[tid]) : "memory"); T(, SYNC);
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(p + 4 * (63 - tid)) : "memory"); c[tid] = v; }

// stmatrix of two warps to the same rows.
K(stmatrix)(in_t a, uint32_t* c) { __shared__ __align__(128) uint32_t s[64];
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(AT(s + T(0, 32) * warp + 4 * (lane % 8))), "r"(a[tid]) : "memory");
  SYNC; c[tid] = s[T(tid & 31, tid)]; }

// multimem has no meaning here.
K(multimem)(in_t a, uint32_t* c) { T(asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" :: "l"(c + tid), "r"(a[tid]) : "memory"), c[tid] = a[tid]); }

// barrier.cluster in a cluster of one orders its threads.
K(cluster_barrier)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid];
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); T(c[tid] = s[63 - tid];, )
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); c[tid] = s[63 - tid]; }

// More arrivals than a phase has: the next phase ends too.
K(arrivals)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; __shared__ uint64_t b;
  if (tid == 0) INIT(&b, T(32, 64)); SYNC; s[tid] = a[tid]; ARRIVE(&b); WAIT(&b, 0); c[tid] = s[63 - tid]; }

// bar.red counts predicates, and orders.
K(bar_red)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; int n = T(__any_sync(~0u, a[tid] > 3), __syncthreads_or(a[tid] > 3)); c[tid] = s[63 - tid] + n; }

// elect.sync with lanes that wait elsewhere.
K(elect_sync)(in_t a, uint32_t* c) { uint32_t p = 0;
  if (lane < 16) asm volatile("{.reg .pred q; elect.sync _|q, %1; selp.b32 %0, 1, 0, q;}" : "=r"(p) : "r"(T(0xffffffffu, 0xffffu)));
  SYNC; c[tid] = a[tid] + p; }

// Elect by lanes that are not in the mask.
K(elect_other)(in_t a, uint32_t* c) { uint32_t p = 0;
  if (lane < 16) asm volatile("{.reg .pred q; elect.sync _|q, %1; selp.b32 %0, 1, 0, q;}" : "=r"(p) : "r"(T(0xff00u, 0xffffu)));
  SYNC; c[tid] = a[tid] + p; }

// redux.sync over lanes that wait elsewhere.
K(redux_part)(in_t a, uint32_t* c) { uint32_t p = 0; if (lane < 16) p = __reduce_add_sync(T(~0u, 0xffffu), a[tid]); SYNC; c[tid] = p; }

// Data over an mbarrier that is in use.
K(barrier_over)(in_t a, uint32_t* c) { __shared__ __align__(8) uint32_t s[66]; auto b = (uint64_t*)s;
  if (tid == 0) INIT(b, 64); SYNC; s[tid + T(1, 2)] = a[tid]; ARRIVE(b); WAIT(b, 0); c[tid] = s[65 - tid]; }

// Bytes of a word that one thread writes whole.
K(byte_word)(in_t a, uint32_t* c) { ((uint8_t*)c)[tid] = a[tid]; if (tid == 0) c[T(3, 16)] = 1; }

// A generic address of either memory, at one place.
K(generic_mix)(in_t a, uint32_t* c) { __shared__ uint32_t s[64]; s[tid] = a[tid]; SYNC; uint32_t* p = tid < 32 ? s : c; T(, p += tid); *p = tid; }

// A copy of fewer bytes than it writes, from beyond the end.
K(copy_zfill)(in_t a, uint32_t* c) { __shared__ __align__(128) uint32_t s[64];
  if (tid < 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(AT(s + 4 * tid)), "l"(a + 252 + 4 * (tid > 0) * 1), "r"(tid > 0 ? T(4, 0) : 16) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory"); SYNC; c[tid] = s[tid]; }
