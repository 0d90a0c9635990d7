# SPDX-License-Identifier: Apache-2.0
"""The code of the layout algebra executed on symbolic integers, path by path, and held to its definitions."""
