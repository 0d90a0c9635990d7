# SPDX-License-Identifier: Apache-2.0
"""`lanecheck discover`: the map of an instruction, or of a user's function, found without any formula."""

__all__: list[str] = []
