# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.atom`."""

from verify.atom.command import main
from verify.cli.ending import as_process

as_process(main)
