# SPDX-License-Identifier: Apache-2.0
"""An atom completed by its instruction in the ISA tables and bound to it, operand by operand."""

__all__: list[str] = []
