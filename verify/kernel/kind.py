# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels as a kind of subject."""

from __future__ import annotations

from typing import Any

from verify.kind import Kind

KERNEL: Kind[Any] = Kind(name="kernel", one="a kernel", plural="kernels", command="verify.kernel.command")
