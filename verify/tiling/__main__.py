# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m verify.tiling`."""

from verify.tiling.command import main

raise SystemExit(main())
