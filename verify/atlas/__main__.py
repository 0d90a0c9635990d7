# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.atlas`."""

from verify.cli.ending import as_process

as_process("verify.atlas.command")
