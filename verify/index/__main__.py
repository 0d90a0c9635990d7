# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.index`."""

from verify.index.command import main

raise SystemExit(main())
