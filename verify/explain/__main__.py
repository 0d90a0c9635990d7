# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.explain`."""

from verify.cli.ending import as_process

as_process("verify.explain.command")
