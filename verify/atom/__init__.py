# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.atom`: an atom against the ISA tables, the proof and the GPU."""
