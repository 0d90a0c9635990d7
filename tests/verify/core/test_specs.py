# SPDX-License-Identifier: Apache-2.0
"""Specs: the fields of a dataclass are the keys of its TOML table and the options of its command."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.cli.ending import option
from verify.core.errors import SpecError
from verify.core.specs import keys, parse_key
from verify.movement import bind, spec
from verify.movement import command as movement


def test_an_error_names_its_key_as_an_option_or_as_a_key_of_a_file() -> None:
    assert option(SpecError("atoms_layout", "too many")) == "--atoms-layout: too many"
    assert option(SpecError("", "nothing fits")) == "nothing fits"
    assert option(SpecError("tile", "too wide", "my.toml: mine")) == "my.toml: mine.tile: too wide"
    assert option(SpecError("", "nothing fits", "my.toml: mine")) == "my.toml: mine: nothing fits"
    with pytest.raises(SpecError, match=r"^width: invalid literal"):
        parse_key("width", int, "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("sort", spec.SORTS)
def test_every_key_of_a_movement_is_an_option_with_its_help(sort: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        movement.main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    options = keys(spec.SORTS[sort])
    assert {"base", sort} <= options.keys() and all(f"--{name} " in shown for name in options)
    assert all(" ".join(key.help.split()) in shown for key in options.values())


@pytest.mark.parametrize(
    ("sort", "table", "key"),
    [
        ("from", {"from": "nothing", "to": "SM80_16x8x16_F32F16F16F32_TN"}, "from"),
        ("shared", {"shared": "8:1", "access": "(8,1):(1,0)", "element": 16, "how": "somehow"}, "how"),
        ("descriptor", {"descriptor": "8:1", "element": 16}, "descriptor"),
    ],
)
def test_options_and_tables_say_the_same_of_a_key(
    sort: str, table: dict[str, object], key: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as caught:
        bind.bind(spec.of_options(table))
    file = tmp_path / "one.toml"
    file.write_text('["mine"]\n' + "".join(f"{name} = {value!r}\n" for name, value in table.items()))
    (error,) = bind.read_movements(file).errors
    assert (error.key, error.problem) == (f"mine.{key}", caught.value.problem) and caught.value.key == key
