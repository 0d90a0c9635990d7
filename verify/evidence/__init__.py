# SPDX-License-Identifier: Apache-2.0
"""The evidence of the three checks: functions of one property of one operand or atom."""

__all__: list[str] = []
