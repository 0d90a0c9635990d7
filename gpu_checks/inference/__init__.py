# SPDX-License-Identifier: Apache-2.0
"""From what a GPU answered to which elements share a row, a column or a k, and where they lie absolutely."""

__all__: list[str] = []
