# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.identify`."""

from verify.cli.ending import as_process

as_process("verify.identify.command")
