# SPDX-License-Identifier: Apache-2.0
"""`lanecheck mutate`: a mutant that survives is reported."""

import json

import pytest

from verify.mutate import command as mutate


@pytest.mark.slow
def test_the_command_refutes_every_mutant_and_rejects_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutate.main(["SM80_8x8x4_F64F64F64F64_TN", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 2 and document["complete"] and document["layouts"] == 3
    assert mutate.main(["SM80_8x8x4_F64F64F64F64_TN", "-q"]) == 0
    assert capsys.readouterr().out == "every mutant is refuted\n"
    assert mutate.main(["UniversalFMA"]) == 5  # nothing to mutate: no table has a formula for it
    assert mutate.main(["no_such_atom"]) == 2
    assert mutate.main(["SM90_64x264x16_F16F16F16_SS"]) == 2
    assert "N = 264 is not one of 8, 16" in capsys.readouterr().err
    assert mutate.main(["SM100_MMA_F16BF16_SS*128, 64*", "-q"]) == 4
    assert capsys.readouterr().out == "INCOMPLETE: no evidence from recording\n"


def test_a_surviving_mutant_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where isa finds every layout right, the campaign fails and names the survivors."""
    monkeypatch.setattr("verify.maps.search.locate_difference", lambda *_: None)  # seam: a planted bug
    assert mutate.main(["SM80_8x8x4_F64F64F64F64_TN"]) == 1
    out = capsys.readouterr().out
    assert "SM80_8x8x4_F64F64F64F64_TN A  SURVIVES isa: " in out and out.endswith("SOME MUTANT SURVIVES\n")
