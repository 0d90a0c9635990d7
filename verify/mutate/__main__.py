# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.mutate`."""

from verify.cli.ending import as_process
from verify.mutate.command import main

as_process(main)
