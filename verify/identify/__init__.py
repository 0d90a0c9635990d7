# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.identify`: which operands of which instructions a map is, and the other forms that it has."""

__all__: list[str] = []
