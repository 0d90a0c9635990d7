# SPDX-License-Identifier: Apache-2.0
"""Run `python -m lanecheck COMMAND …`, the same as `lanecheck COMMAND …`, where the script is not on the path."""

from verify.__main__ import lanecheck

if __name__ == "__main__":
    lanecheck()
