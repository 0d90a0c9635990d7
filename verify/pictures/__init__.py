# SPDX-License-Identifier: Apache-2.0
"""Pictures of maps: one plain value, `picture.Picture`, what makes it from maps and atoms, and a writer per format."""

__all__: list[str] = []
