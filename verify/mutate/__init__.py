# SPDX-License-Identifier: Apache-2.0
"""`lanecheck mutate`: wrong atoms made from right ones, and which check refutes each."""

__all__: list[str] = []
