# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.identify`."""

from verify.cli.ending import as_process
from verify.identify.command import main

as_process(main)
