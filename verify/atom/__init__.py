# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.atom`: verify atoms by the ISA tables, by proof and by GPUs."""

__all__: list[str] = []
