# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.discover`: the map of an instruction, or of a user's function, found without any formula."""

__all__: list[str] = []
