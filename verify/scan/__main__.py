# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.scan`."""

from verify.cli.ending import as_process
from verify.scan.command import main

as_process(main)
