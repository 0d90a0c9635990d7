# SPDX-License-Identifier: Apache-2.0
"""Reports as JSON: stable, without times."""

import json

import pytest

from verify.atom import command as atom


def test_json_is_stable_and_carries_no_times(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for _ in range(2):
        assert atom.main(["SM70_8x8x4", "--format", "json"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    document = json.loads(texts[0])
    assert document["schema"] == 2 and document["exit"] == 0 and len(document["subjects"]) == 8
    assert "seconds" not in texts[0]
    properties = [v["property"] for v in document["subjects"][0]["verdicts"]]
    assert properties.count("equals_isa") == 3 and properties[-1] == "equals_absolute"
    atom.main(["SM70_8x8x4", "--format", "json", "-v"])
    assert "seconds" in capsys.readouterr().out
