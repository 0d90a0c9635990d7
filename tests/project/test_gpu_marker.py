# SPDX-License-Identifier: Apache-2.0
"""What a missing GPU does to a test that needs one: a skip with its reason, or a failure; never a pass."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parents[1] / "conftest.py"
DEVICE = """
class Unavailable:
    def __init__(self, reason):
        self.reason = reason

def device_info():
    with open("wanted", "a") as note:
        note.write("x")
    return {answer}
"""
TESTS = """
import pytest

@pytest.mark.gpu
def test_first(): pass

@pytest.mark.gpu
def test_second(): pass

def test_plain(): pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nmarkers =\n  gpu: needs a GPU\n")
    return pytester


def test_without_a_gpu_the_reason_is_given(suite: pytest.Pytester) -> None:
    suite.makepyfile(gpu_checks=DEVICE.format(answer='Unavailable("no CUDA device")'))
    result = suite.runpytest_subprocess("-rs")
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED * gpu: no CUDA device"])
    assert (suite.path / "wanted").read_text() == "x"


def test_a_required_gpu_that_is_missing_is_a_failure(suite: pytest.Pytester) -> None:
    suite.makepyfile(gpu_checks=DEVICE.format(answer='Unavailable("no CUDA device")'))
    result = suite.runpytest_subprocess("--require-gpu")
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*gpu: no CUDA device*"])


def test_with_a_gpu_the_test_runs(suite: pytest.Pytester) -> None:
    suite.makepyfile(gpu_checks=DEVICE.format(answer='"NVIDIA H200"'))
    suite.runpytest_subprocess("--require-gpu").assert_outcomes(passed=3)


def test_a_broken_gpu_checks_is_no_reason_to_skip(suite: pytest.Pytester) -> None:
    suite.makepyfile(gpu_checks="raise ImportError('broken')")
    suite.runpytest_subprocess().assert_outcomes(passed=1, errors=2)


@pytest.mark.parametrize(
    ("ci", "words", "examples"),
    [
        ("", (), 50),
        ("true", (), 100),
        ("", ("-m", "not slow"), 15),
        ("true", ("-m", "not slow"), 15),
        ("true", ("-m", "not slow and not long"), 15),
        ("", ("-m", "not slow", "--hypothesis-profile", "dev"), 50),
    ],
)
def test_the_profile_is_chosen_by_the_environment_and_for_the_gate(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, words: tuple[str, ...], examples: int
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if ci:
        monkeypatch.setenv("CI", ci)
    suite.makepyfile(
        test_profile=f"""
        from hypothesis import settings

        def test_profile():
            assert settings().max_examples == {examples}
            assert settings().derandomize == {bool(ci)}
            assert settings().deadline is None
        """
    )
    suite.runpytest_subprocess("test_profile.py", *words).assert_outcomes(passed=1)
