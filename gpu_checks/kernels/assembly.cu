// SPDX-License-Identifier: Apache-2.0
// How one instruction is issued: parts that `assembly.py` puts together.

//// issue
__device__ __forceinline__ void issue(u32* d, $parameters) {
  $declare
  asm volatile("$instruction"
      : $outputs
      : $inputs);
  $assign
}

//// issue_in_memory
//// The accumulators of a warpgroup, loaded and stored by the assembly itself.
__device__ __forceinline__ void issue(u32* d, $parameters) {
  asm volatile("{ .reg .b32 d<$registers>; .reg .pred p; setp.eq.u32 p, 0, 0; $loads wgmma.fence.sync.aligned; "
      "$mnemonic $operands; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; $stores }"
      :: $address, $inputs : "memory");
}

//// instruction, within a line
$mnemonic $operands;

//// wgmma, within a line
{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.fence.sync.aligned; $mnemonic $operands; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }
