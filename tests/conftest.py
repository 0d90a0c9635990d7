# SPDX-License-Identifier: Apache-2.0
"""Shared by all tests: the Hypothesis profiles, and skips or failures where a GPU is missing."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Before numpy is imported, as our commands do: a second thread of a product waits, and that is a third of the time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", settings.get_profile("ci"), max_examples=5000, derandomize=False)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
settings.register_profile("gate", settings.get_profile("ci" if os.environ.get("CI") else "dev"), max_examples=15)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background; its processes would too
    signal.signal(signal.SIGINT, signal.default_int_handler)

GPU_MISSING = pytest.StashKey[str | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-gpu",
        action="store_true",
        help="fail, not skip, the tests that need a GPU where there is none",
    )


@pytest.hookimpl(tryfirst=True)  # --hypothesis-profile, which is read later, counts
def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr.startswith("not slow"):
        settings.load_profile("gate")


def pytest_collection_finish() -> None:
    """Exempt the collected tests from garbage collection, which would visit them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def freeze_earlier_objects() -> None:
    """Exempt what earlier files left in caches: a proof for all sizes collects after each run, and visited them all."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Make a file one unit of work: of 14,000 units xdist goes through all that were handed out after each test."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    config.option.loadscopereorder = False  # files of one test, which may be long, would come last

    class GroupsAndFiles(LoadGroupScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            group: str = super()._split_scope(nodeid)
            return group if group != nodeid else nodeid.partition("::")[0]

    return GroupsAndFiles(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is None:
        return
    reason = missing_gpu(item.config)
    if reason is None:
        return
    if item.config.getoption("--require-gpu"):
        pytest.fail(f"gpu: {reason}", pytrace=False)
    pytest.skip(f"gpu: {reason}")


@pytest.fixture(autouse=True)
def one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports whose lines are not broken, so that tests find sentences; tests of the layout unset COLUMNS."""
    monkeypatch.setenv("COLUMNS", "1000")


def missing_gpu(config: pytest.Config) -> str | None:
    """Why no GPU can be used here, found out once a session; None when one can."""
    if GPU_MISSING not in config.stash:
        # An ImportError here is a defect of gpu_checks and fails the test: it is no reason to skip.
        from gpu_checks import Unavailable, device_info

        device = device_info()
        config.stash[GPU_MISSING] = device.reason if isinstance(device, Unavailable) else None
    return config.stash[GPU_MISSING]
