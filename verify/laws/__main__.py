# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.laws`."""

from verify.cli.ending import as_process
from verify.laws.command import main

as_process(main)
