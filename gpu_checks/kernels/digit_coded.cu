// SPDX-License-Identifier: Apache-2.0
// The kernels of instructions with metadata or with operands in shared memory; `digit_coded.py` says what they do.

//// form
//// The words of D go through memory: a loop over registers would have to be unrolled, and so the compiler must be kept
//// from unrolling the others whole, which costs it more time than all else together.
namespace coded_$index {
$issue
// Words in shared memory. By address: the compiler finds that of an array anew for each word.
struct Words {
  u32 first;
  int stride;
  __device__ __forceinline__ u32 operator[](int w) const {
    u32 word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(first + 4 * w * stride) : "memory");
    return word;
  }
};

__device__ __forceinline__ double value(Words d, int i) { return $read; }
__device__ __forceinline__ u32 reached(Words d, u32 i, u32 values) { return i < values && value(d, i) != 0.0; }

extern "C" __global__ void __launch_bounds__($lanes) coded_$index(const u32* numbers, const u32* chosen,
    const u32* planes, const u32* fixed, u32* counts, u16* slots, int* codes) {
  const int thread = threadIdx.x;
  const u32 limit = numbers[$limit], a_slots = numbers[$a_slots];
  const u32 values = numbers[$d_values], planes_of_b = numbers[$planes];
  extern __shared__ u32 room[];  // nobody aligns it
  u32* const block = room + -(u32)__cvta_generic_to_shared(room) % $alignment / 4;
  // D: word w of thread t at w * $lanes + t of block; then images of B.
  u32* const home = block + thread;
  const u32 first = (u32)__cvta_generic_to_shared(block);
  __shared__ u32 seats[$lanes / 32], hits[$masks * $lanes], total;
  __shared__ u16 found[$columns];
  __shared__ int sums[$columns];
  u32* hit = hits + thread * $masks;
  $shared
  #pragma unroll 1
  for (u32 item = blockIdx.x; item < numbers[$items]; item += gridDim.x) {
    const int slot = chosen[item % a_slots];
    int weight = 1;
    $fixed
    $a_hot
    #pragma unroll 1
    for (u32 plane = 0; plane < planes_of_b; ++plane) {
      $b_plane
      $product
      if (plane == 0) {
        const Words own = {first + 4 * thread, $lanes};
        u32 mine = 0;
        #pragma unroll 1
        for (u32 m = 0; 32 * m < values; ++m) {
          u32 bits = 0;
          #pragma unroll 1
          for (u32 i = 32 * m; i < 32 * m + 32 && i < values; i += 4)
            bits |= (reached(own, i, values) | reached(own, i + 1, values) << 1 | reached(own, i + 2, values) << 2
                     | reached(own, i + 3, values) << 3) << i % 32;
          hit[m] = bits;
          mine += __popc(bits);
        }
        u32 rank = mine;
        #pragma unroll 1
        for (int step = 1; step < 32; step *= 2) {
          const u32 before = __shfl_up_sync(0xFFFFFFFF, rank, step);
          if (thread % 32 >= step) rank += before;
        }
        if (thread % 32 == 31) seats[thread / 32] = rank;
        __syncthreads();
        for (int warp = 0; warp < thread / 32; ++warp) rank += seats[warp];
        if (thread == $lanes - 1) counts[item] = total = rank;
        rank -= mine;
        #pragma unroll 1
        for (int m = 0; 32 * m < values; ++m)
          #pragma unroll 1
          for (u32 bits = hit[m]; bits && rank < limit; bits &= bits - 1, ++rank)
            found[rank] = thread * values + 32 * m + __ffs(bits) - 1;
      }
      __syncthreads();
      #pragma unroll 1
      for (u32 at = thread; at < limit && at < total; at += $lanes) {
        const double seen = value({first + found[at] / values * 4, $lanes}, found[at] % values);
        sums[at] = plane ? sums[at] + (int)seen * weight : seen == 1.0 ? 0 : $bad;
      }
      if (plane) weight *= numbers[$base];
      __syncthreads();
    }
    #pragma unroll 1
    for (u32 at = thread; at < limit && at < total; at += $lanes) {
      slots[(u64)item * limit + at] = found[at];
      codes[(u64)item * limit + at] = sums[at];
    }
  }
}
}

//// run
namespace run_$index {
$issue
extern "C" __global__ void __launch_bounds__($lanes) run_$index(
    const u32* numbers, const u32* a_words, const u32* planes, const u32* c_words, const u32* fixed, u32* out) {
  const int thread = threadIdx.x, plane = blockIdx.x, trial = plane * $lanes + thread;
  const u32 words = $words;
  u32* const home = out + trial * words;
  $shared
  $fixed
  $a_words
  $b_plane
  $product
}
}

//// product_in_registers, within a line
//// One issue: C before it and D behind it, in registers.
u32 c[$c_words], d[$d_words];
      for (int w = 0; w < $c_words; ++w) c[w] = $c;
      $ready
      member_0::issue(d, $arguments);
      for (int w = 0; w < $d_words; ++w) home[w * $stride] = d[w];

//// product_in_memory, within a line
//// The same at home in memory, for one instruction of a family.
$before$ready
      switch (numbers[$member]) {
        $cases
      }

//// before, within a line
for (int w = 0; w < $c_words; ++w) home[w * $stride] = $c;

//// case, within a line
case $number: member_$number::issue(home, $arguments); break;

//// member
namespace member_$number {
// $mnemonic
$issue}

//// registers, within a line
u32 ${name}[$words];
      #pragma unroll
      for (int w = 0; w < $words; ++w) ${name}[w] = $source[($index * $lanes + thread) * $stride + $offset + w];

//// shared, within a line
//// The image lies at a place where every mode repeats; what it does not cover stays zero.
__shared__ __align__($alignment) u32 ${name}_image[$words];
  #pragma unroll 1
  for (int w = thread; w < $words; w += $lanes) ${name}_image[w] = 0;
  const u64 ${name} = ((u64)numbers[$at + 1] << 32 | numbers[$at])
      | ((u32)__cvta_generic_to_shared(${name}_image) & 0x3FFFF) >> 4;
  __syncthreads();

//// a_hot_shared, within a line
if (thread == 0) {
      a_image[one_at] = 0;
      one_at = slot * $bits / 32;
      a_image[one_at] = ${one}u << slot * $bits % 32;
    }

//// one_at, within a line
u32 one_at = 0;  // the word of A that is not zero

//// a_hot, within a line
u32 a[$words];
    one_hot<$shape>(a, ${one}ull, slot, thread);

//// b_shared, within a line
#pragma unroll 8
      for (u32 w = thread; w < numbers[$b_total]; w += $lanes) b_image[w] = planes[plane * numbers[$b_total] + w];

//// b_resident, within a line
//// The images of all planes stay, if there is room for them.
u32* const b_image = block + numbers[$b_at] + plane % numbers[$resident] * numbers[$b_stride];
      if (item == blockIdx.x || numbers[$resident] < planes_of_b)
        #pragma unroll 1
        for (u32 w = 4 * thread; w < numbers[$b_words]; w += 4 * $lanes)
          *(uint4*)(b_image + w) = *(const uint4*)(planes + plane * numbers[$b_words] + w);
      const u64 b = ((u64)numbers[$b_descriptor + 1] << 32 | numbers[$b_descriptor])
          | ((u32)__cvta_generic_to_shared(b_image) & 0x3FFFF) >> 4;

//// ready, within a line
__syncthreads();

//// ready_shared, within a line
//// What threads wrote to shared memory is seen by wgmma, which reads it another way, only after this fence.
asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
