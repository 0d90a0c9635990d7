# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.mutate`."""

from verify.mutate.command import main

raise SystemExit(main())
