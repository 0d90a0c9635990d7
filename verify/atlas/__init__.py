# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.atlas`: every atom by instruction."""

__all__: list[str] = []
