# SPDX-License-Identifier: Apache-2.0
"""Nothing: the plugin is `lanecheck_pytest`. An environment that was set up before it moved still loads this name."""
