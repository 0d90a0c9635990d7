# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.show`."""

from verify.cli.ending import as_process

as_process("verify.show.command")
