# SPDX-License-Identifier: Apache-2.0
"""Instructions of the ISA tables as a kind of subject: `check` verifies the atoms that issue one, `show` draws it."""

__all__: list[str] = []
