# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.movement`."""

from verify.movement.command import main

raise SystemExit(main())
