# SPDX-License-Identifier: Apache-2.0
"""`lanecheck movement`: data that instructions move between registers and memory."""

__all__: list[str] = []
