# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.campaign`."""

from verify.campaign.command import main

raise SystemExit(main())
