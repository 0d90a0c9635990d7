# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: each figure is the ratio of two medians, of a measurement and of a named baseline, run in turns."""
