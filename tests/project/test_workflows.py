# SPDX-License-Identifier: Apache-2.0
"""The workflows: their actions are pinned to a commit, a job has the rights that it needs, its commands exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.__main__ import SUITES
from verify.__main__ import COMMANDS

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS = [
    pytest.param(job, id=f"{path.stem}-{name}")
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
]
TARGETS = re.findall(r"^\.PHONY: (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(job: dict[str, Any], action: str) -> Iterator[dict[str, Any]]:
    """The steps of a job that use an action."""
    return (step for step in job["steps"] if step.get("uses", "").startswith(f"{action}@"))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.stem)
def test_an_action_is_pinned_to_the_commit_of_a_version(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert (
        used
        and [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)]
        == []
    )


def test_an_action_has_one_version_in_all_files() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (*WORKFLOWS, ROOT / "action.yml")]
    used = {tuple(use.split("@")) for text in texts for use in re.findall(r"uses: (.*)", text)}
    assert len(used) == len({name for name, _ in used})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_reads_and_one_job_publishes(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {"contents": "read"}
    more = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert more == ({"publish": {"pages": "write", "id-token": "write"}} if path.stem == "docs" else {})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_for_which_somebody_waits_ends_within_twenty_minutes(path: Path) -> None:
    workflow = load(path)
    most = 20 if {"push", "pull_request"} & {*workflow[True]} else 60  # YAML reads `on` so
    assert [name for name, job in workflow["jobs"].items() if not 0 < job["timeout-minutes"] <= most] == []


def test_the_gates_of_every_suite_without_a_gpu_are_run_by_a_workflow() -> None:
    """The suite `scan` needs a checkout of CUTLASS."""
    job = load(ROOT / ".github" / "workflows" / "bench.yml")["jobs"]["gates"]
    suites = " ".join(job["strategy"]["matrix"]["suites"]).split()
    assert sorted(suites) == sorted({*SUITES} - {"gpu", "scan"})


@pytest.mark.parametrize("job", JOBS)
def test_a_job_keeps_no_credentials(job: dict[str, Any]) -> None:
    assert [step for step in steps(job, "actions/checkout") if step["with"]["persist-credentials"] is not False] == []


@pytest.mark.parametrize("job", JOBS)
def test_a_command_of_a_job_exists(job: dict[str, Any]) -> None:
    script = "\n".join(step.get("run", "") for step in job["steps"])
    assert {*re.findall(r"\bmake (\S+)", script)} <= {*TARGETS, ".venv/.dev"}
    assert [name for name in re.findall(r"(?:bash|cp) (\S+)", script) if not (ROOT / name).is_file()] == []
    assert {*re.findall(r"/lanecheck (\S+)", script)} <= {*COMMANDS, "--version"}


def test_what_is_published_is_what_make_docs_writes() -> None:
    (upload,) = steps(
        load(ROOT / ".github" / "workflows" / "docs.yml")["jobs"]["build"], "actions/upload-pages-artifact"
    )
    site = re.search(r"^site_dir: (.*)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert site and upload["with"]["path"] == site[1]
