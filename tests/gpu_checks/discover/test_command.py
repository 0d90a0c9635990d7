# SPDX-License-Identifier: Apache-2.0
"""`lanecheck discover`: text and JSON, what the other commands take of them, and errors in one line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from gpu_checks.discover import command
from gpu_checks.model import Unavailable
from tests.gpu_checks.discover.test_function import FILE
from verify.__main__ import main as lanecheck

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WGMMA = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"


@pytest.mark.long
@pytest.mark.parametrize("mnemonic", [MMA, WGMMA, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"])
def test_the_commands_that_it_prints_verify_the_map(mnemonic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([mnemonic]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    printed = [shlex.split(" ".join(words[1:])) for words in lines if words[:1] == ["then"]]
    assert printed
    for _, name, *arguments in printed:
        assert lanecheck([name, *arguments]) == 0, arguments


@pytest.mark.parametrize("operand", ["A", "B", "D"])
def test_verify_index_takes_its_json(operand: str, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    assert command.main([MMA, "--operand", operand, "--format", "json", "-o", str(path)]) == 0
    assert lanecheck(["index", "--ptx", MMA, "--operand", operand, "--table", str(path)]) == 0
    assert lanecheck(["identify", str(path)]) == 0
    wrong = json.loads(path.read_text(encoding="utf-8"))
    wrong["maps"][0]["table"][0][0] = [1, 1]
    path.write_text(json.dumps(wrong), encoding="utf-8")
    assert lanecheck(["index", "--ptx", MMA, "--operand", operand, "--table", str(path)]) == 1


def test_a_short_name_is_all_that_was_seen_with_one_map(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["mma.m16n8k16.f32.f16", "--format", "json"]) == command.main([MMA, "--format", "json"]) == 0
    short, whole = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert short["maps"] == whole["maps"] and short["alike"] == [MMA] and "alike" not in whole
    assert command.main(["mma.m16n8k8.f32", "--operand", "D"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "mma.m16n8k8.f32 is mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32; the same maps have been seen in" in out
    )
    assert command.main(["mma.m16n8k8.f32", "--operand", "A"]) == 2


def test_a_report_on_several_maps_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "found.json"
    assert command.main([MMA, "--format", "json", "-o", str(path)]) == 0
    assert lanecheck(["index", "--ptx", MMA, "--operand", "C", "--table", str(path)]) == 2
    assert "has 3 maps: write one, with `lanecheck discover --operand`" in capsys.readouterr().err


def test_a_minus_is_stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    runs = [(command.main([MMA, *option]), capsys.readouterr().out) for option in ([], ["-o", "-"])]
    assert runs[0] == runs[1] and runs[0][1] and not list(tmp_path.iterdir())


def test_every_point_is_printed_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([MMA, "--operand", "D", "-v"]) == 0
    out = capsys.readouterr().out
    assert "  lane 5: (1,2) (1,3) (9,2) (9,3)\n" in out
    assert "D  (m, n) 16x8, 32 lanes of 4 values; m and n by ldmatrix" in out


@pytest.mark.parametrize(
    ("line", "code", "why"),
    [
        ("nonsense", 2, "'nonsense': nonsense is not in the tables"),
        (
            "mma.m16n8k8",
            2,
            "mma.m16n8k8 was seen with 3 maps, give one: mma.sync.aligned.m16n8k8.row.col.f32",
        ),
        ("mma.m16n8k9", 2, "'mma.m16n8k9': the ISA has no such mma instruction; nearest: "),
        (f"{MMA} --operand E", 2, "has no map of E: it has A, B, D"),
        (f"{MMA} --values 4", 2, "--values is for a function"),
        (f"{MMA} --recordings nowhere", 2, "nowhere"),
        (f"{FILE}::as_int2", 2, "how many values has a lane? Give --values"),
        (f"{FILE}::as_int2 --values 4 --live", 2, "--live is for a mnemonic"),
        ("none.cu::f --values 4", 2, "none.cu cannot be read"),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", 4, "there is no recording"),
    ],
)
def test_what_cannot_be_found_is_one_line(
    line: str, code: int, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert command.main(shlex.split(line)) == code
    printed = capsys.readouterr()
    assert why in " ".join((printed.out + printed.err).split()) and "Traceback" not in printed.err
    assert len(printed.err.splitlines()) == (code == 2)


def test_without_a_gpu_a_function_is_unchecked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr("gpu_checks.discover.function.discover_map", lambda *_: Unavailable("no CUDA device"))
    assert command.main([f"{FILE}::as_int2", "--values", "4"]) == 4
    assert capsys.readouterr().out.rstrip().endswith("UNCHECKED no CUDA device".replace(" no", "  no"))


def test_a_function_is_code_of_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr("gpu_checks.discover.function.discover_map", lambda *_: Unavailable("no CUDA device"))
    assert command.main([f"{FILE}::as_int2", "--values", "4"]) == 2
    assert "in CI, allow that with --allow-exec" in capsys.readouterr().err
    assert command.main([f"{FILE}::as_int2", "--values", "4", "--allow-exec"]) == 4


@pytest.mark.gpu
def test_a_live_probe_finds_what_is_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    maps = []
    for words in ([], ["--live"]):
        assert command.main([MMA, "--format", "json", *words]) == 0
        maps.append(json.loads(capsys.readouterr().out)["maps"])
    assert maps[0] == maps[1]


@pytest.mark.gpu
def test_a_function_is_identified(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    words = [f"{FILE}::by_pointer", "--values", "4", "--allow-exec", "--format", "json", "-o", str(path)]
    assert command.main(words) == 0
    assert lanecheck(["index", "--ptx", MMA, "--operand", "C", "--table", str(path)]) == 0
