# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.banks`."""

from gpu_checks.banks.command import main

raise SystemExit(main())
