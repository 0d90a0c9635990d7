# SPDX-License-Identifier: Apache-2.0
"""action.yml, the hooks of pre-commit and docs/ci.md: each command is run on the repository of examples/guest."""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from verify.__main__ import COMMANDS
from verify.__main__ import main as lanecheck

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION: Any = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS: Any = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
TRAITS = "include/atom/mma_traits_own.hpp"


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of examples/guest with headers and a lock, in which the command runs."""
    shutil.copytree(ROOT / "examples" / "guest", tmp_path, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples" / "headers", tmp_path / "include")
    shutil.copytree(ROOT / "examples" / "kernel", tmp_path / "kernels")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    assert lanecheck(["lock", "layouts/atoms.toml", "layouts/index.toml"]) == 0
    return tmp_path


def spoil(guest: Path) -> None:
    """Put one mistake into each of the files."""
    shutil.copytree(ROOT / "examples" / "guest" / "broken", guest, dirs_exist_ok=True)
    shutil.copy("kernels/wrong.ptx", "kernels/matmul.ptx")
    text = Path(TRAITS).read_text(encoding="utf-8")
    Path(TRAITS).write_text(text.replace("Stride<_8, _64>", "Stride<_8, _32>"), encoding="utf-8")


def run_action(**given: str) -> tuple[int, str, str]:
    """Exit code, log and outputs of the action's last step with these inputs."""
    inputs = {
        name: given.get(name.replace("-", "_"), spec.get("default", "")) for name, spec in ACTION["inputs"].items()
    }
    step = ACTION["runs"]["steps"][-1]
    values = {
        name: inputs[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)[1]] for name, text in step["env"].items()
    }
    outputs = Path("outputs.txt")
    outputs.write_text("", encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={**os.environ, **values, "PATH": path, "GITHUB_OUTPUT": str(outputs)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr, outputs.read_text(encoding="utf-8")


def recipes() -> dict[str, dict[str, str]]:
    """Command -> the inputs of the recipe that has it."""
    steps = [
        step
        for kind, text in BLOCKS
        if kind == "yaml"
        for job in yaml.safe_load(text).get("jobs", {}).values()
        for step in job["steps"]
    ]
    return {step["with"]["command"]: step["with"] for step in steps if step.get("uses") == "./lanecheck"}


def test_the_page_has_a_recipe_for_each() -> None:
    assert set(recipes()) == {"atom", "index", "kernel", "lock", "scan"}
    assert {hook["id"] for hook in HOOKS} == {f"lanecheck-{name}" for name in recipes()}
    assert all(set(given) <= set(ACTION["inputs"]) for given in recipes().values())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["atom", "index", "kernel", "lock", "scan"])
def test_a_recipe_passes_and_fails(command: str, guest: Path) -> None:
    given = {name.replace("-", "_"): text for name, text in recipes()[command].items()}
    assert run_action(**given)[::2] == (0, "exit-code=0\n")
    spoil(guest)
    code, log, outputs = run_action(**given)
    assert (code, outputs) == (1, "exit-code=1\n"), log
    if command == "index":
        run = json.loads(Path("lanecheck.sarif").read_text(encoding="utf-8"))["runs"][0]
        assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "layouts/index.toml"
    else:
        assert re.search(r"^::error file=(layouts|include|kernels)/[\w/]+\.[thp]\w+,line=\d+,", log, re.MULTILINE), log


@pytest.mark.slow
def test_arguments_are_words_and_never_run(guest: Path) -> None:
    Path("a b.toml").write_text(Path("layouts/atoms.toml").read_text(encoding="utf-8"), encoding="utf-8")
    assert run_action(command="atom", arguments="a b.toml\n\n--quiet\n", format="text")[0] == 0
    code, log, _ = run_action(command="atom", arguments="$(touch ran)\n`touch ran`; touch ran")
    assert code == 2 and not Path("ran").exists(), log
    assert run_action(command="index; touch ran", arguments="x")[0] == 2 and not Path("ran").exists()


def test_the_action_has_no_input_inside_a_script() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert scripts and not [text for text in scripts if "${{" in text]
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"] if "run" in step)


@pytest.mark.slow
@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_passes_and_fails(hook: Any, guest: Path) -> None:
    program, command, *words = shlex.split(hook["entry"])
    claim = Path("kernels/matmul.toml")
    claim.write_text(f'ptx = "matmul.ptx"\n{claim.read_text(encoding="utf-8")}', encoding="utf-8")
    Path("kernels/fragment.toml").unlink()  # of a kernel that is wrong
    files = [path.relative_to(guest).as_posix() for path in sorted(guest.rglob("*.*")) if "broken" not in path.parts]
    chosen = [path for path in files if re.search(hook["files"], path)]
    assert program == "lanecheck" and command in COMMANDS and chosen
    given = chosen if hook.get("pass_filenames", True) else []
    assert lanecheck([command, *words, *given]) == 0
    spoil(guest)
    assert lanecheck([command, *words, *given]) != 0


@pytest.mark.long
def test_every_command_of_the_page_runs(guest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for kind, text in BLOCKS if kind == "bash" for line in text.splitlines()]
    assert len(lines) >= 5
    for line in lines:
        given = shlex.split(line)
        words = [word for part in given for word in (glob.glob(part) or [part])]
        assert words[0] == "lanecheck" and lanecheck(words[1:]) == 0, (line, capsys.readouterr())
    assert all(Path(name).stat().st_size for name in ("hunk.sarif", "atoms.xml", "index.xml"))


def test_the_python_of_the_page_runs() -> None:
    (code,) = [text for kind, text in BLOCKS if kind == "python"]
    names: dict[str, Any] = {}
    exec(compile(code, "ci.md", "exec"), names)
    assert names["report"].exit() == 1
