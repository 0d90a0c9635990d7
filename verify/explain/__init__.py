# SPDX-License-Identifier: Apache-2.0
"""What findings mean, and how to fix them: `lanecheck explain`."""

__all__: list[str] = []
