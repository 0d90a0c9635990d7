# SPDX-License-Identifier: Apache-2.0
"""The file of an atom that `lanecheck init atom` writes: it is read, and is right or wrong as the answers are."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.__main__ import main
from verify.atom.template import QUESTIONS, write
from verify.core.errors import SpecError

RIGHT = {
    "ptx": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "A": "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "B": "((4,8),(2,2)):((16,1),(8,64))",
    "C": "((4,8),(2,2)):((32,1),(16,8))",
    "name": "",
}


@pytest.mark.parametrize(("changed", "code"), [({}, 0), ({"C": "((4,8),(2,2)):((32,1),(8,16))"}, 1)])
def test_what_is_written_is_verified_or_refuted(changed: dict[str, str], code: int, tmp_path: Path) -> None:
    assert [question.key for question in QUESTIONS] == [*RIGHT]
    file = tmp_path / "mine.toml"
    file.write_text(write(RIGHT | changed))
    assert main(["check", str(file), "-q"]) == code


def test_a_name_is_kept() -> None:
    assert '\n["MY_ATOM"]\n' in write(RIGHT) and '\n["my \\"16x8\\""]\n' in write(RIGHT | {"name": 'my "16x8"'})


@pytest.mark.parametrize(
    ("changed", "key"),
    [({"A": "((4,8):1"}, "A"), ({"ptx": "mma.sync.m1"}, "ptx"), ({"ptx": "tcgen05.mma.cta_group::1.kind::f16"}, "ptx")],
)
def test_what_is_wrong_is_the_answer_to_a_question(changed: dict[str, str], key: str) -> None:
    with pytest.raises(SpecError) as wrong:
        write(RIGHT | changed)
    assert wrong.value.key == key
