# SPDX-License-Identifier: Apache-2.0
"""Recordings on file: how they are written, read, and held to their instructions."""
