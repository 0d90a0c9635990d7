// SPDX-License-Identifier: Apache-2.0
// Small kernels, each unsafe with -DUNSAFE and safe without it: T(unsafe, safe). What is said of both is in
// `unsafe.toml`. It is compiled by test_unsafe.py.

#include <cstdint>

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
