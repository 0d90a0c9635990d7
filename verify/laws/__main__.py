# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.laws`."""

from verify.laws.command import main

raise SystemExit(main())
