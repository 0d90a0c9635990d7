# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.foreign`."""

from verify.cli.ending import as_process

as_process("verify.foreign.command")
