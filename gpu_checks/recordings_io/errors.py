# SPDX-License-Identifier: Apache-2.0
"""The error of every reader of recordings."""


class RecordingError(ValueError):
    """A recording that cannot be read or be its instruction's; the message names the file and the line or mnemonic."""
