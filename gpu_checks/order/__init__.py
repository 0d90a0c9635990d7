# SPDX-License-Identifier: Apache-2.0
"""What happens on a GPU where a kernel leaves out what orders its accesses: `lanecheck order`."""

__all__: list[str] = []
