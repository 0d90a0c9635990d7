# SPDX-License-Identifier: Apache-2.0
"""What all commands need and no check rests on: the installation's check, the arguments' frame, the progress line.

Imports the standard library only (and rich for the progress line, where it is installed).
"""

__all__: list[str] = []
