# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.check`."""

from verify.cli.ending import as_process

as_process("verify.check.command")
