# SPDX-License-Identifier: Apache-2.0
"""Arguments of `lanecheck movement` that several tests use, and readers of its reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verify.movement import command as movement

X4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
X2 = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
ST = "stmatrix.sync.aligned.m8n8.x4.shared.b16"
F16 = "SM80_16x8x16_F32F16F16F32_TN"
TO_B = ("--to", F16, "--operand", "B")
S8 = "SM80_16x8x32_S32S8S8S32_TN"
TF32 = "SM80_16x8x8_F32TF32TF32F32_TN"
ROWS = "(64,64):(64,1)"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "movement.toml"
COLUMN = "(32,8):(1,64)"  # 32 rows, eight elements of each
SW128 = "Sw<3,3,3> o (64,64):(64,1)"
COPIED = ["--access", "((4,32),(8,4)):((1024,1),(128,32))", "--element", "16", "--width", "128", "--how", "cp.async"]


def access(tile: str, *words: str, threads: str = COLUMN) -> list[str]:
    """The arguments for accesses of 128 bits to elements of 16 bits."""
    return ["--shared", tile, "--access", threads, "--element", "16", "--width", "128", *words]


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    """The exit code and the report."""
    code = movement.main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def by_property(report: dict) -> dict[str, dict]:
    """The verdicts on the first movement, by property."""
    return {verdict["property"]: verdict for verdict in report["subjects"][0]["verdicts"]}
