# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.atom`."""

from verify.atom.command import main

raise SystemExit(main())
