# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.lock`."""

from verify.lock.command import main

raise SystemExit(main())
