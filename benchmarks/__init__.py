# SPDX-License-Identifier: Apache-2.0
"""Figures, each as a ratio to a named baseline measured in the same run, interleaved, as medians."""
