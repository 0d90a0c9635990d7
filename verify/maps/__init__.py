# SPDX-License-Identifier: Apache-2.0
"""Maps from any source as one value, `fragment_map.FragmentMap`: the point-by-point relation of named coordinates."""

__all__: list[str] = []
