# SPDX-License-Identifier: Apache-2.0
"""`lanecheck check WHAT…`: verify whatever an argument names."""

__all__: list[str] = []
