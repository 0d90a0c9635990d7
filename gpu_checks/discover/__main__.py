# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m gpu_checks.discover`."""

from gpu_checks.discover.command import main

raise SystemExit(main())
