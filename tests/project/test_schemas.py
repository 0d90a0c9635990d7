# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas fit today's readers: they accept every file that we ship, and reject what the readers reject."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.project.schemas import HOME, schemas, text
from verify import kinds

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
ROOT = Path(__file__).parents[2]
FILES = {  # of every kind its example
    **{kind.plural.replace(" ", "_"): [ROOT / file for file in kind.example] for kind in kinds.all() if kind.signs},
    "atoms": [*ROOT.glob("layouts/atoms/*.toml"), ROOT / "examples" / "my_atoms.toml"],
    "instruction": [*ROOT.glob("isa_tables/ptx/*.toml")],
    "claims": [*ROOT.glob("examples/kernel/*.toml"), *ROOT.glob("tests/kernels/compiled/*.toml")],
}


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(json.loads((HOME / f"{name}.schema.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one(name: str) -> None:
    schema = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    assert [*schema.iter_errors(json.loads(text(name)))] == []


@pytest.mark.long
@pytest.mark.parametrize("name", schemas())
def test_every_file_of_ours_fits_its_schema(name: str) -> None:
    fits = validator(name)
    assert FILES[name]
    for file in FILES[name]:
        wrong = [error.message[:200] for error in fits.iter_errors(tomllib.loads(file.read_text(encoding="utf-8")))]
        assert wrong == [], file


CLAIM = {"claim": "C[i] = A[i]", "grid": 1, "block": 32, "arrays": {"A": {"dims": "i", "type": "f32"}}}
ATOM = {"ptx": "mma.x", "A": "1:0", "B": "1:0", "C": "1:0"}
WRONG = {
    "atoms": [
        {"a": ATOM | {"shpae": [1, 1, 1]}},
        {"a": {"ptx": "mma.x", "A": "1:0", "B": "1:0"}},
        {"a": ATOM | {"types": {"Q": "f16"}}},
        {"a": ATOM | {"expect": "REFUTED: no"}},
        {"a": ATOM | {"space": {"A": "gmem"}}},
        {"a": {"Src": "1:0", "Dst": "1:0"}},
        {"a": {"Src": "1:0", "Dst": "1:0", "Ref": "1:0", "A": "1:0"}},
    ],
    "tilings": [{"t": {"tile": [1, 1, 1]}}, {"t": {"atom": "x", "tiel": 1}}, {"t": {"atom": "x", "tile": [0, 1, 1]}}],
    "movements": [
        {"m": {"from": "x"}},
        {"m": {"from": "x", "to": "y", "access": "1:0"}},
        {"m": {"shared": "1:0", "access": "1:0", "element": 12}},
    ],
    "maps": [
        {"m": {"ptx": "x"} | {"operand": "C", "rwo": "0"}},
        {"m": {"operand": "C", "row": "0", "col": "0"}},
        {"m": {"ptx": "x", "operand": "C", "row": 0, "col": "0"}},
        {"m": {"ptx": "x", "operand": "C", "row": "0", "col": "0", "lang": "java"}},
        {"m": {"ptx": "x", "A": {"row": "0", "columm": "0"}}},
        {"m": {"ptx": "x", "A": "0"}},
    ],
    "campaigns": [
        {"c": {"kind": "laws", "rank": 2, "size": 4}},
        {"c": {"kind": "law", "rank": 2, "size": 4, "strides": [1]}},
        {"c": {"kind": "laws", "rank": 2, "size": 4, "strides": [-1]}},
        {"c": {"kind": "mutants", "rank": 2}},
    ],
    "claims": [
        {key: value for key, value in CLAIM.items() if key != "arrays"},
        CLAIM | {"sizez": {"M": 1}},
        CLAIM | {"sizes": {"M": -1}},
        CLAIM | {"sizes": []},
        CLAIM | {"sizes": "every"},
        CLAIM | {"grid": [1, 1, 1, 1]},
        CLAIM | {"arrays": {"A": {"dims": "i", "type": "float32"}}},
        CLAIM | {"arrays": {"A": {"dims": "i", "type": "f32", "stride": [1]}}},
        CLAIM | {"params": [{"map": "A", "box": [8], "swizzle": "16B"}]},
        CLAIM | {"params": [{"unused": False}]},
        CLAIM | {"triton": {"warp": 4}},
    ],
    "instruction": [{"schema": 1}, {"schema": 1, "isa": "9.0", "section": "1", "lanes": 0}],
}


@pytest.mark.parametrize("name", schemas())
def test_what_a_reader_rejects_for_its_form_breaks_the_schema(name: str) -> None:
    fits = validator(name)
    wrong = [{"one": {"no such key": 1}}, {"one": 1}, *WRONG.get(name, ())]
    assert [document for document in wrong if not list(fits.iter_errors(document))] == []


def test_the_examples_name_their_schemas() -> None:
    examples = [(name, file) for name, files in FILES.items() for file in files if file.parent.name == "examples"]
    assert len(examples) >= 5
    for name, file in examples:
        assert file.read_text(encoding="utf-8").startswith(f"#:schema ../verify/schemas/{name}.schema.json\n")
