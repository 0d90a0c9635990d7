# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.tiling`."""

from verify.cli.ending import as_process
from verify.tiling.command import main

as_process(main)
