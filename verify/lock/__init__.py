# SPDX-License-Identifier: Apache-2.0
"""`lanecheck lock`: the functions of atoms, tilings and maps, kept in a reviewed file and compared with it."""

__all__: list[str] = []
