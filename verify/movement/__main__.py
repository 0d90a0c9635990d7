# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.movement`."""

from verify.movement.command import main

raise SystemExit(main())
