# SPDX-License-Identifier: Apache-2.0
"""`verify.foreign`: adapters of this folder's, run by this interpreter."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from tests.verify.adapters import HOSTILE, RIGHT, write
from verify.foreign import command
from verify.foreign.command import ADAPTERS, list_shipped, main

BAD_MAPS = ("wrong", "wrong inverse", "liar")


def verdicts(capsys, *arguments):
    """(exit code, status of each map by its name) of a run."""
    code = main([*map(str, arguments), "--format", "json", "-q"])
    document = json.loads(capsys.readouterr().out)
    return code, {subject["name"].partition(": ")[2]: subject for subject in document["subjects"]}


def test_a_right_map_is_verified_at_every_point(tmp_path, capsys):
    code, maps = verdicts(capsys, write(tmp_path, RIGHT))
    assert code == 0 and maps["C"]["status"] == "VERIFIED"
    by_key = {verdict["property"]: verdict["status"] for verdict in maps["C"]["verdicts"]}
    assert by_key == dict.fromkeys(("size", "in_bounds", "ownership", "equals_isa"), "PROVED")


@pytest.mark.long
def test_wrong_maps_and_inverses_are_refuted_and_missing_maps_are_unchecked(tmp_path, capsys):
    code, maps = verdicts(capsys, write(tmp_path, HOSTILE), "--seconds", "1")
    assert code == 1
    assert {name for name, subject in maps.items() if subject["status"] == "REFUTED"} == set(BAD_MAPS)
    assert {name for name, subject in maps.items() if subject["status"] == "VERIFIED"} == {
        "first", "prints", "daemon", "child of a child", "right inverse", "last",
    }  # fmt: skip
    inverse = {verdict["property"]: verdict for verdict in maps["wrong inverse"]["verdicts"]}
    wrong = inverse["own_inverse"]["counterexample"]
    assert inverse["equals_isa"]["status"] == "PROVED" and inverse["own_inverse"]["status"] == "REFUTED"
    assert wrong["statement"] == "(m=0, n=0) is said to be lane 3, value 1, which has (m=0, n=7)"
    assert "128 of 128 elements disagree" in wrong["damage"]
    assert "--only 'wrong inverse'" in wrong["replay"]


def test_missing_maps_alone_are_undecided_until_that_is_accepted(tmp_path, capsys):
    path = write(tmp_path, HOSTILE)
    only = ("--only", "aborts", "--only", "last")
    code, maps = verdicts(capsys, path, *only)
    assert code == 4 and {name: subject["status"] for name, subject in maps.items()} == {
        "aborts": "UNCHECKED",
        "last": "VERIFIED",
    }
    assert main([str(path), *only, "--allow-unchecked", "-q"]) == 0


def test_a_project_that_is_not_installed_is_one_line_and_undecided(tmp_path, capsys):
    path = write(tmp_path, "import no_such_package_here")
    code, maps = verdicts(capsys, path)
    assert code == 4 and maps["all maps"]["verdicts"][0]["reason"] == (
        "couldn't load adapter: no_such_package_here isn't installed here (use --python)"
    )


@pytest.mark.long
@pytest.mark.parametrize("name", list_shipped())
def test_every_project_that_is_not_installed_is_named_with_the_way_out(name, tmp_path, capsys):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    code, maps = verdicts(capsys, name, "--python", venv / "bin/python")
    module = {"cutlass_dsl": "cutlass"}.get(name, "it")
    why = f"couldn't load {name}: {module} isn't installed here (use --python)"
    assert code == 4 and maps["all maps"]["verdicts"][0]["reason"] == why


def test_a_project_of_another_version_says_which_module_it_lacks(tmp_path, capsys):
    code, maps = verdicts(capsys, write(tmp_path, "import json.no_such_module"))
    assert code == 4 and maps["all maps"]["verdicts"][0]["reason"] == (
        "couldn't load adapter: the json installed here has no json.no_such_module: another version?"
    )


def test_tvm_without_the_file_of_its_maps_says_so(tmp_path, capsys):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    [site] = venv.glob("lib/python*/site-packages")
    (site / "tvm").mkdir()
    (site / "tvm/__init__.py").write_text("")
    code, maps = verdicts(capsys, "tvm", "--python", venv / "bin/python")
    reason = maps["all maps"]["verdicts"][0]["reason"]
    assert code == 4 and reason.startswith("couldn't load tvm: ") and "has no tensor_intrin/cuda.py" in reason


def test_a_project_that_ends_its_process_between_two_maps_misses_the_maps_after_it(tmp_path, capsys):
    text = (
        RIGHT
        + """
import os, signal
def kills():
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()
def maps():
    yield "first", fragment
    yield "kills", kills
    yield "last", fragment
"""
    )
    code, maps = verdicts(capsys, write(tmp_path, text))
    assert code == 4 and {name: subject["status"] for name, subject in maps.items()} == {
        "first": "VERIFIED",
        "kills": "UNCHECKED",
        "last": "UNCHECKED",
    }
    assert "its process ended with signal 9" in maps["kills"]["verdicts"][0]["reason"]


def test_an_interpreter_is_found_from_the_folder_of_the_caller(tmp_path, capsys, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    code, maps = verdicts(capsys, write(tmp_path, RIGHT), "--python", "bin/python")
    assert code == 0 and maps["C"]["status"] == "VERIFIED"


def test_what_a_map_writes_into_the_pipe_of_its_answer_costs_that_map_alone(tmp_path, capsys):
    text = (
        RIGHT
        + """
import contextlib, os
def writes():
    for pipe in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(pipe, b"{}\\n{}\\n")
    os._exit(0)
def maps():
    yield "writes", writes
    yield "last", fragment
"""
    )
    code, maps = verdicts(capsys, write(tmp_path, text))
    assert code == 4 and {name: subject["status"] for name, subject in maps.items()} == {
        "writes": "UNCHECKED",
        "last": "VERIFIED",
    }
    assert maps["writes"]["verdicts"][0]["reason"] == "couldn't load writes: an answer that isn't JSON"


def test_in_ci_code_is_run_only_where_that_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CI", "true")
    path = write(tmp_path, RIGHT)
    assert main([str(path), "-q"]) == 2
    assert "--allow-exec" in capsys.readouterr().err
    assert main([str(path), "-q", "--allow-exec"]) == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "which project? One of cutlass_dsl, flydsl, jax,"),
        (("trition",), "trition"),
        (("no/such.py",), "no/such.py: there is no such adapter file"),
        (("tvm", "--python", "no/python"), "--python: no/python isn't a program that can be run"),
    ],
)
def test_a_project_that_is_none_is_a_usage_error(arguments, line, capsys):
    assert main(list(arguments)) == 2
    assert line in capsys.readouterr().err


def test_the_adapters_are_listed(capsys):
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.split() == list_shipped()


@pytest.mark.parametrize("name", list_shipped())
def test_a_shipped_adapter_names_its_project_and_imports_the_standard_library_and_the_project_alone(name):
    tree = ast.parse((ADAPTERS / f"{name}.py").read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    roots = {
        module.partition(".")[0]
        for node in ast.walk(tree)
        for module in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert "PROJECT" in names
    own = {"jax": {"jax", "jaxlib"}, "cutlass_dsl": {"cutlass"}}.get(name, {name})
    assert roots <= own | set(sys.stdlib_module_names)


def test_the_help_lists_every_command_that_runs_code(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "laws --module" in " ".join(capsys.readouterr().out.split()) and command.DESCRIPTION
