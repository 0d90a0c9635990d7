# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.order`."""

from gpu_checks.order.command import main

raise SystemExit(main())
