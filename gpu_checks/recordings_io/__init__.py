# SPDX-License-Identifier: Apache-2.0
"""Recordings on file: how they are written, read, and validated against their instructions."""

__all__: list[str] = []
