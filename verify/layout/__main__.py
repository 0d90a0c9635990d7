# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.layout`."""

from lanecheck.console.installation import insist
from verify.cli.ending import as_process

insist()  # the command imports `layouts` at once, which fails where a file of the user's hides ours
as_process("verify.layout.command")
