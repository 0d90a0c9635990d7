# SPDX-License-Identifier: Apache-2.0
"""Safety by the command and by the facade: the launch as options, and which of several kernels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lanecheck
from tests.messages import NO_CLAIM
from tests.verify.kernel.test_safety import DOUBLE, HEAD, LAUNCH, REVERSE
from verify.core.errors import SpecError
from verify.kernel.claims.claim import claim_of
from verify.kernel.command import main
from verify.kernel.safety import check_safety


def test_the_command_takes_the_launch_as_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.ptx").write_text(f"{HEAD}{DOUBLE}\nret;\n}}\n")
    launch = ["--safety", "--grid", "1", "--block", "64", "--param", "A=const f32[64]", "--param"]
    assert main([str(tmp_path / "k.ptx"), *launch, "C=f32[64]"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "k SAFE 4 proved" in said and "VERIFIED" not in said and "1 subject: 1 safe" in said
    assert main([str(tmp_path / "k.ptx"), *launch, "C=f32[63]"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "C[63] of 63" in said
    assert "k.ptx --safety --grid 1 --block 64 --param 'A=const f32[64]' --param 'C=f32[63]' --seed" in said


def test_without_lines_of_the_source_the_report_quotes_the_ptx_and_tells_what_follows_below_its_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = DOUBLE.replace("st.global", "\nst.global")
    (tmp_path / "k.ptx").write_text(f"{HEAD}{body}\nret;\n}}\n")
    launch = ["--safety", "--grid", "1", "--block", "64", "--param", "A=const f32[63]", "--param", "C=f32[64]"]
    assert main([str(tmp_path / "k.ptx"), *launch]) == 1
    said = capsys.readouterr().out
    number = HEAD.count("\n") + 1
    assert f"\n  {number} | ld.global.f32 %f1, [%d4];" in said and f"\n  {' ' * len(str(number))} | ^\n" in said
    assert f"so: line {number + 1}: value from nowhere: CTA 0, thread 63 writes C[63] of 64" in " ".join(said.split())
    assert said.count("-lineinfo") == 1


def test_a_byte_of_shared_memory_is_told_with_its_variable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{HEAD}{REVERSE.replace('bar.sync 0;', '')}\nret;\n}}\n"
    launch = ["--safety", "--grid", "1", "--block", "64", "--param", "A=const f32[64]", "--param", "C=f32[64]"]
    for name, short in (("s", "s"), ("_ZZ7reverseE4tile", "tile")):
        (tmp_path / "k.ptx").write_text(text.replace(" s[1024]", f" {name}[1024]").replace("%r3, s;", f"%r3, {name};"))
        assert main([str(tmp_path / "k.ptx"), *launch]) == 1
        said = " ".join(capsys.readouterr().out.split())
        assert f"CTA 0, thread 0 reads shared byte 1292 ({short} + 252), which thread 63 wrote" in said


def test_a_name_behind_the_file_says_which_of_several_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, file = f"{HEAD}{DOUBLE}\nret;\n}}\n", str(tmp_path / "k.ptx")
    (tmp_path / "k.ptx").write_text(kernel + kernel[kernel.index(".entry") :].replace("entry k", "entry other"))
    launch = ["--safety", "--grid", "1", "--block", "64", "--param", "A=const f32[64]", "--param", "C=f32[63]"]
    assert main([file, *launch]) == 2
    assert "several kernels; there are: k, other; " in (said := " ".join(capsys.readouterr().err.split()))
    assert "k.ptx::NAME chooses one" in said
    assert main([f"{file}::other", *launch]) == 1
    assert (
        "k.ptx::other --safety --grid 1" in (said := " ".join(capsys.readouterr().out.split())) and "other REF" in said
    )
    assert main([f"{file}::none", *launch]) == 2
    assert "no kernels have 'none' in their name" in " ".join(capsys.readouterr().err.split())


@pytest.mark.long
def test_the_facade_asks_for_safety_too() -> None:
    home = Path(__file__).parents[3] / "examples" / "kernel"
    files = str(home / "wrong.ptx"), str(home / "matmul.toml")
    assert lanecheck.check(*files, safety=True, seed=1).cases[0].headline == "SAFE"
    assert lanecheck.verify_safety(*files, seed=1)
    assert lanecheck.check(*files, seed=1).cases[0].headline == "REFUTED"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], NO_CLAIM),
        (["--grid", "1"], "these say the launch of --safety without --claim"),
        (["--safety"], "--safety needs the launch"),
        (["--safety", "--grid", "0x", "--block", "1"], "expected one to three numbers"),
        (["--safety", "--grid", "1", "--block", "1", "--param", "A"], "expected NAME=TYPE[ELEMENTS]"),
        (["--safety", "--grid", "1", "--block", "1", "--param", "A=f31[4]"], "found 'f31'"),
        (["--safety", "--grid", "1", "--block", "1", "--param", "A=x"], "neither a number nor"),
        (["--safety", "--grid", "1", "--block", "2048"], "1024 of a CTA"),
    ],
)
def test_a_launch_that_is_none_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    (tmp_path / "k.ptx").write_text(f"{HEAD}{DOUBLE}\nret;\n}}\n")
    assert main([str(tmp_path / "k.ptx"), *options]) == 2
    assert says in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("directive", "block", "says"),
    [
        (".maxntid 32, 1, 1", 64, "takes at most 32 threads (.maxntid)"),
        (".maxntid 8, 4, 1", 64, "takes at most 32 threads (.maxntid)"),
        (".maxntid 8, 8, 1", 64, ""),
        (".reqntid 64", 64, ""),
        (".reqntid 64", [32, 2], "requires (64,) threads (.reqntid)"),
    ],
)
def test_a_launch_has_the_threads_that_the_kernel_allows(directive: str, block: object, says: str) -> None:
    text = f"{HEAD}{DOUBLE}\nret;\n}}\n".replace("\n{", f"\n{directive}\n{{", 1)
    claim = claim_of(LAUNCH | {"block": block}, claimed=False)
    if not says:
        assert check_safety(text, claim, seed=1)[0].status == "SAFE"
        return
    with pytest.raises(SpecError, match=re.escape(says)):
        check_safety(text, claim, seed=1)
