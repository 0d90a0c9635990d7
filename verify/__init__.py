# SPDX-License-Identifier: Apache-2.0
"""Claims about layouts, the witnesses that judge them, verdicts and reports; the command line lives here too."""

DISTRIBUTION = "lanecheck"  # by which it is told from another package `verify` that was installed over this file
