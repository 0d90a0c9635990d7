# SPDX-License-Identifier: Apache-2.0
"""What all other packages of `verify` use: verdicts, errors, names, digits, sets of elements in words."""

__all__: list[str] = []
