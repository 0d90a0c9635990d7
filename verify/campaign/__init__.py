# SPDX-License-Identifier: Apache-2.0
"""`lanecheck campaign SPEC`: laws and mutants checked exhaustively, in chunks that can be interrupted."""

__all__: list[str] = []
