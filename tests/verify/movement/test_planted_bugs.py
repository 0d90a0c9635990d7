# SPDX-License-Identifier: Apache-2.0
"""Errors planted in code that the checks share: no false claim is verified, and no true claim is refuted alone."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import layouts.compose
from layouts import Layout, Swizzle, bank_conflicts
from layouts.batched import evaluate
from layouts.batched.evaluate import Linear
from verify.movement import command as movement
from verify.movement import register_handover

pytestmark = pytest.mark.slow

TRANS = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
X4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
F16 = "SM80_16x8x16_F32F16F16F32_TN"
TILE, COLUMN = "(64,64):(64,1)", ("--access", "(32,8):(1,64)", "--element", "16", "--width", "128")
ACROSS, NARROW = ("--descriptor", "Sw<3,3,3> o (64,64):(1,64)"), ("--descriptor", f"Sw<2,3,3> o {TILE}")

TRUE = {
    "ldmatrix to A": ["--from", X4, "--to", F16, "--major", "K"],
    "ldmatrix.trans to A": ["--from", TRANS, "--to", F16, "--major", "M"],
    "accumulators to A": ["--from", F16, "--to", F16],
    "a swizzled column": ["--shared", f"Sw<3,3,3> o {TILE}", *COLUMN],
    "a column that is stored": ["--shared", f"Sw<3,3,3> o {TILE}", *COLUMN, "--how", "store"],
    "a descriptor": ["--descriptor", f"Sw<3,3,3> o {TILE}", "--element", "16"],
}
FALSE = {  # the arguments, and the property that does not hold
    "M-major": (["--from", X4, "--to", F16, "--major", "M"], "major"),
    "ldmatrix.trans from K-major": (["--from", TRANS, "--to", F16, "--major", "K"], "major"),
    "rows in another order": ([*TRUE["ldmatrix to A"], "--rows", "(8,2,2):(1,128,8)"], "hand_over"),
    "values in another order": (["--from", F16, "--to", F16, "--values", "(2,2,2):(1,4,2)"], "hand_over"),
    "a column that is not swizzled": (["--shared", TILE, *COLUMN], "free_of_bank_conflicts"),
    "a swizzle too narrow": (["--shared", f"Sw<2,3,3> o {TILE}", *COLUMN], "free_of_bank_conflicts"),
    "elements across": (["--shared", "(64,64):(1,64)", *COLUMN], "whole_accesses"),
    "rows at one place": (["--shared", "(64,64):(0,1)", *COLUMN, "--how", "store"], "disjoint"),
    "no room": (["--shared", "(64,64):(4096,1)", *COLUMN], "room"),
    "a descriptor of columns": ([*ACROSS, "--element", "16", "--major", "K"], "descriptor"),
    "a descriptor of another swizzle": ([*NARROW, "--element", "16"], "descriptor"),
}  # fmt: skip

PROVED = {"room", "hand_over", "major", "whole_accesses", "disjoint", "free_of_bank_conflicts", "descriptor"}
CALL, TABLE, AT = Layout.__call__, Linear.table, Linear.at


def plant_evaluation(bug: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda layout, *coordinate: bug(CALL(layout, *coordinate))


def late(values: Any) -> Any:
    return np.where(values > 100, values - 1, values) if isinstance(values, np.ndarray) else values


BUGS: dict[str, tuple[Any, str, Any]] = {
    "values doubled": (Layout, "__call__", plant_evaluation(lambda values: values * 2)),
    "values missing": (Layout, "__call__", plant_evaluation(lambda values: values * 0)),
    "values late": (Layout, "__call__", plant_evaluation(late)),
    "strides ignored": (Layout, "__call__", lambda layout, *c: CALL(layout, *c) if len(c) > 1 else c[0]),
    "whole domains doubled": (Linear, "table", lambda *given: TABLE(*given) * 2),
    "whole domains late": (Linear, "table", lambda *given: late(TABLE(*given))),
    "compositions doubled": (Linear, "at", lambda *given: AT(*given) * 2),
    "compositions late": (Linear, "at", lambda *given: late(AT(*given))),
    "swizzles of whole domains ignored": (evaluate, "_move_axis", lambda swizzle, x: x * 0),
    "swizzles ignored": (Swizzle, "__call__", lambda swizzle, x: x),
    "one swizzle for all": (Swizzle, "__call__", lambda swizzle, x: x ^ (x >> 7 & 7) << 4),
    "no conflict ever": (bank_conflicts, "_phase", lambda words, bits, shared: (1, None)),
    "composition returns its first": (layouts.compose, "composition", lambda a, b: a),
    "what is read off is compact": (register_handover, "from_samples", lambda extent, value: Layout(extent)),
}


@pytest.fixture(params=BUGS)
def bug(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    owner, name, wrong = BUGS[request.param]
    monkeypatch.setattr(owner, name, wrong)
    return str(request.param)


def check_words(words: list[str]) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and each verdict by its property; no verdict where the command ended with an error."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = movement.main([*words, "--format", "json"])
    report = json.loads(out.getvalue()) if code in (0, 1, 3, 4) and out.getvalue() else {"subjects": [{"verdicts": []}]}
    return code, {verdict["property"]: verdict for verdict in report["subjects"][0]["verdicts"]}


def is_verified(verdict: dict[str, Any] | None) -> bool:
    return verdict is not None and verdict["status"] == "PROVED" and not verdict["contradiction"]


@pytest.mark.parametrize("name", FALSE)
def test_the_false_claims_are_refuted_by_two_checks_where_nothing_is_planted(name: str) -> None:
    words, prop = FALSE[name]
    code, verdicts = check_words(words)
    by_check = {evidence["check"]: evidence["status"] for evidence in verdicts[prop]["evidence"]}
    assert code == 1 and by_check["isa"] == by_check["proof"] == "REFUTED" and not verdicts[prop]["contradiction"]


@pytest.mark.parametrize("name", TRUE)
def test_the_true_claims_are_proved_by_two_checks_where_nothing_is_planted(name: str) -> None:
    code, verdicts = check_words(TRUE[name])
    assert code == 0 and all(map(is_verified, verdicts.values()))
    by_check = {
        prop: {evidence["check"]: evidence["status"] for evidence in verdict["evidence"]}
        for prop, verdict in verdicts.items()
    }
    assert all(by_check[prop]["isa"] == by_check[prop]["proof"] == "PROVED" for prop in PROVED & by_check.keys())


def test_no_false_claim_is_verified_with_a_planted_bug(bug: str) -> None:
    """The three checks share no evaluation of layouts: one of them still finds the error."""
    for name, (words, prop) in FALSE.items():
        code, verdicts = check_words(words)
        assert code != 0 and not is_verified(verdicts.get(prop)), (bug, name)


def test_a_planted_bug_is_not_reported_as_the_users_mistake(bug: str) -> None:
    """With a bug, a true claim ends in a contradiction or an internal error, or the bug changes nothing.

    Descriptors are left out: their offsets are read off by evaluation, and the solver checks what was read.
    """
    assert {check_words(words)[0] for name, words in TRUE.items() if name != "a descriptor"} <= {0, 3}
