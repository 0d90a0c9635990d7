# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.foreign`."""

from verify.foreign.command import main

raise SystemExit(main())
