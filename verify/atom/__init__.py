# SPDX-License-Identifier: Apache-2.0
"""`lanecheck atom`: verify atoms by the ISA tables, by proof and by GPUs."""

__all__: list[str] = []
