# SPDX-License-Identifier: Apache-2.0
"""The sources are compiled by `compile.py`, never imported here: they need Triton."""

collect_ignore = ["sources", "safe"]
