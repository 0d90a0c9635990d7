# SPDX-License-Identifier: Apache-2.0
"""Other projects as a kind of subject: their own functions are called."""

from __future__ import annotations

from typing import Any

from verify.kind import Kind

FOREIGN: Kind[Any] = Kind(name="foreign", one="a project", plural="projects", command="verify.foreign.command")
