# SPDX-License-Identifier: Apache-2.0
"""How long shared memory takes for the addresses of a warp: `lanecheck banks`."""

__all__: list[str] = []
