# SPDX-License-Identifier: Apache-2.0
"""What everything else rests on: verdicts, errors, names, digits, sets of elements in words."""
