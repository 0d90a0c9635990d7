# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.mutate`: wrong atoms made from right ones, and which check refutes each."""

__all__: list[str] = []
