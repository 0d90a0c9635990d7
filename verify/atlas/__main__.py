# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.atlas`."""

from verify.atlas.command import main

raise SystemExit(main())
