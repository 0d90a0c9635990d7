# SPDX-License-Identifier: Apache-2.0
"""What the three checks find on one property of one operand."""
