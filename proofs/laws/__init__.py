# SPDX-License-Identifier: Apache-2.0
"""The laws of the layout algebra, proved for all extents and all ranks."""

__all__: list[str] = []
