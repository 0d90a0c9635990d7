# SPDX-License-Identifier: Apache-2.0
"""The commands in a shell: version, help with an example that works, sub-commands, closed pipes."""

import importlib
import os
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.messages import STDOUT_CLOSED
from verify.__main__ import COMMANDS
from verify.__main__ import main as lanecheck

ROOT = Path(__file__).parents[2]
NAMES = {module: f"lanecheck {name}" for name, (module, _) in COMMANDS.items()}
MODULES = [*(module for module, _ in COMMANDS.values()), "gpu_checks.laws"]
MODULES += ["proofs.laws.certificates", "proofs.symbolic.campaign"]
MODULES += ["benchmarks.__main__", "benchmarks.kernels.__main__", "benchmarks.mutants"]


def run_command(module: str, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code of a command that may end as argparse does, and what it prints."""
    try:
        code = importlib.import_module(module).main(list(words))
    except SystemExit as ended:
        code = ended.code
    return code, capsys.readouterr().out


@pytest.mark.parametrize("module", MODULES)
def test_every_command_has_a_version(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(module, capsys, "--version") == (0, f"lanecheck {version('lanecheck')}\n")


def test_lanecheck_has_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert lanecheck(["--version"]) == 0
    assert capsys.readouterr().out == f"lanecheck {version('lanecheck')}\n"


def example(module: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The line of an example in a command's help."""
    code, output = run_command(module, capsys, "--help")
    assert code == 0
    lines = output.splitlines()
    return lines[next(at for at, line in enumerate(lines) if line in ("example:", "examples:")) + 1]


@pytest.mark.parametrize("module", MODULES)
def test_every_help_has_an_example_and_80_columns(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = NAMES.get(module) or f"python -m {module.removesuffix('.__main__')}"
    assert f"{example(module, capsys)} ".startswith(f"  {name} ")
    _, output = run_command(module, capsys, "--help")
    assert output.startswith(f"usage: {name} ")
    assert [line for line in output.splitlines() if len(line) > 80] == []


OLD = {  # the command line of each name since 0.1
    "atlas": "verify.atlas",
    "atom": "verify.atom",
    "banks": "gpu_checks.banks",
    "campaign": "verify.campaign",
    "discover": "gpu_checks.discover",
    "export": "verify.tiling.gpu_kernels",
    "foreign": "verify.foreign",
    "identify": "verify.identify",
    "index": "verify.index",
    "kernel": "verify.kernel",
    "laws": "verify.laws",
    "layout": "verify.layout",
    "lock": "verify.lock",
    "movement": "verify.movement",
    "mutate": "verify.mutate",
    "order": "gpu_checks.order",
    "probe": "gpu_checks.probe",
    "scan": "verify.scan",
    "show": "verify.show",
    "tiling": "verify.tiling",
    "tilings": "gpu_checks.tilings",
}


@pytest.mark.long
@pytest.mark.parametrize("name", OLD)
def test_an_old_name_is_the_command_still(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module, _ = COMMANDS[name]
    assert module.removesuffix(".command") == OLD[name]
    code, expected = run_command(module, capsys, "--help")
    run = [sys.executable, "-m", OLD[name], "--help"]
    done = subprocess.run(run, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"})
    assert (done.returncode, done.stderr) == (code, "") == (0, "")
    assert done.stdout.startswith(f"usage: lanecheck {name} ")
    with pytest.raises(SystemExit, match="0"):
        lanecheck([name, "--help"])
    assert capsys.readouterr().out == expected


WRITES = [
    # `check` leaves -o to the command of the kind that it finds, and `init` writes the file that it is given.
    *(
        (module, "-o", "none/report")
        for module in MODULES
        if module.startswith("verify.") and "check" not in module and module != "verify.init"
    ),
    *((module, "-o", "none/report") for module in ("gpu_checks.discover.command", "gpu_checks.laws")),
    *((f"gpu_checks.{name}.command", "--record", "file/records") for name in ("banks", "order", "tilings")),
    ("gpu_checks.probe", "-o", "file/recordings"),
    ("verify.atlas.command", "--write", "file/atlas"),
    ("verify.atom.command", "--emit-smt", "file"),
    ("verify.foreign.command", "--agreement", "none/page.md"),
    ("verify.lock.command", "--lock", "none/maps.lock"),
]


@pytest.mark.parametrize(("module", "option", "path"), WRITES)
def test_what_cannot_be_written_is_found_before_anything_else(
    module: str,
    option: str,
    path: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the argument is read that comes after it, and that no command has."""
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    after = ["mine.toml"] if option == "--lock" else ["--there-is-no-such-option"]
    assert importlib.import_module(module).main([option, path, *after]) == 2
    why = "No such file or directory" if path.startswith("none/") else "Not a directory"
    out, err = capsys.readouterr()
    assert out == "" and err.endswith(f": cannot write {path}: {why}\n") and len(err.splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


NO_REPORT = ("gpu_checks.laws", "gpu_checks.probe")  # their -o is a file that is added to, and a folder


@pytest.mark.parametrize(
    ("module", "option"), [write[:2] for write in WRITES if write[1] != "-o" or write[0] in NO_REPORT]
)
def test_stdout_is_no_name_where_no_report_is_written(
    module: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere -o - is stdout; nowhere is it the name of a file that is made."""
    monkeypatch.chdir(tmp_path)
    after = ["mine.toml"] if option == "--lock" else ["--there-is-no-such-option"]
    assert importlib.import_module(module).main([option, "-", *after]) == 2
    out, err = capsys.readouterr()
    assert out == "" and ": cannot write -: expected a f" in err and len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["atom", "layout", "movement", "tiling", "laws"])
def test_an_example_works(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = COMMANDS[name][0]
    words = shlex.split(example(module, capsys).partition(f"lanecheck {name}")[2])
    code, output = run_command(module, capsys, *words)
    assert (code, output.splitlines()[-1].endswith("exit 0")) == (0, True), output


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["verify.atlas.command", "verify.mutate.command", "gpu_checks.laws", "gpu_checks.tilings.command"]
)
def test_a_longer_example_works(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = shlex.split(example(module, capsys))
    words = line[2:] if line[0] == "lanecheck" else line[3:]  # lanecheck NAME …, or python -m MODULE …
    assert words and run_command(module, capsys, *words)[0] == 0


@pytest.mark.parametrize("name", ["probe", "banks", "tilings"])
def test_commands_for_a_gpu_are_sub_commands(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert lanecheck([name, "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 10


def test_an_unknown_command_is_an_error_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert lanecheck(["atoms"]) == 2
    assert capsys.readouterr() == ("", "lanecheck: no command is named 'atoms'; nearest: atom, atlas\n")


CLOSED = ["verify --help", "verify", "verify nonsense", "verify.atom --help", "verify.atom --version"]
CLOSED += ["verify.atom --list", "verify.layout 8:1 --onto 8", "gpu_checks.banks --help"]
CLOSED += ["proofs.laws.certificates --help"]


@pytest.mark.long
@pytest.mark.parametrize("command", CLOSED)
@pytest.mark.parametrize(
    "errors_too", [pytest.param(False, id="stdout"), pytest.param(True, id="stderr too", marks=pytest.mark.slow)]
)
def test_a_closed_pipe_ends_it_quietly(command: str, errors_too: bool) -> None:
    read, written = os.pipe()
    os.close(read)
    streams = {"stdout": written, "stderr": written if errors_too else subprocess.PIPE}
    try:
        words = [sys.executable, "-m", *command.split()]
        buffered = os.environ | {"PYTHONUNBUFFERED": ""}
        done = subprocess.run(words, text=True, check=False, env=buffered, **streams)
    finally:
        os.close(written)
    reported = (
        "lanecheck: no command is named 'nonsense'; lanecheck --help shows all\n"
        if command.endswith("nonsense")
        else ""
    )
    code = 2 if command in ("verify", "verify nonsense") else 0
    assert (done.returncode, done.stderr) == (code, None if errors_too else reported)


def test_closed_pipes_of_both_streams_end_it_quietly() -> None:
    test_a_closed_pipe_ends_it_quietly("verify nonsense", True)


def test_a_stdout_that_is_closed_is_one_line() -> None:
    command = f"{shlex.quote(sys.executable)} -m verify.atom SM61_DP4A >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"lanecheck: {STDOUT_CLOSED}\n")
