# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.tilings`."""

from gpu_checks.tilings.command import main

raise SystemExit(main())
