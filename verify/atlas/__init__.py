# SPDX-License-Identifier: Apache-2.0
"""`lanecheck atlas`: every atom by instruction."""

__all__: list[str] = []
