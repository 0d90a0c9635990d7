# SPDX-License-Identifier: Apache-2.0
"""Record a program that uses torch and Triton, in a child process without a GPU: contents, launches, comparisons."""

__all__: list[str] = []
