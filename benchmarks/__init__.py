# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: ratios of a measurement to a named baseline in turns (`paired`), and what is no ratio (`absolute`)."""
