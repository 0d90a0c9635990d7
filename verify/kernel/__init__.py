# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.kernel`: a compiled kernel, interpreted for every thread of its grid, against what it should compute."""

__all__: list[str] = []
