# SPDX-License-Identifier: Apache-2.0
"""z3's C API: the same library as the bindings', and no error that could be read as an answer."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from proofs.errors import EngineError
from proofs.smt import libz3
from proofs.smt.engine import Session


def test_a_proof_does_not_import_the_bindings_whose_library_and_version_it_uses() -> None:
    code = """
import sys
from proofs.smt.engine import Session, engine
answer = Session("(assert false)", 1000).check().status, engine()
assert "z3" not in sys.modules
import z3
assert answer == ("unsat", f"z3 {z3.get_version_string()}"), answer
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_machine_without_z3_gets_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libz3, "find_spec", lambda name: None)
    monkeypatch.setattr(libz3, "FILE", "libz3.missing")
    with pytest.raises(ImportError, match="pip install z3-solver"):
        libz3.load()


@pytest.mark.parametrize("text", ["(assert (= lane 3))", "(assert", "(check-sat))"])
def test_what_z3_rejects_is_an_error_and_no_answer(text: str) -> None:
    with pytest.raises(libz3.Z3Error):
        libz3.Context().evaluate(text)


@pytest.mark.parametrize("answer", [b'(error "line 1 column 2: no")\nunsat\n', b'unsat\n(error "canceled")\n'])
def test_an_error_in_the_output_is_a_fault_even_without_an_error_code(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = libz3.Context()
    real = context._library
    planted: dict[str, Any] = {name: getattr(real, name) for name in ("Z3_del_context", "Z3_get_error_code")}
    monkeypatch.setattr(context, "_library", SimpleNamespace(Z3_eval_smtlib2_string=lambda *_: answer, **planted))
    with pytest.raises(libz3.Z3Error, match="error"):
        context.evaluate("(check-sat)")


def test_a_proof_with_such_an_output_has_no_status(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session("(assert false)", 1000)

    def fails(self: libz3.Context, text: str) -> str:
        raise libz3.Z3Error('(error "line 1 column 2: no")')

    monkeypatch.setattr(libz3.Context, "evaluate", fails)
    with pytest.raises(EngineError, match="rejected"):
        session.check()


def test_a_context_is_freed_once_when_the_next_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    z3 = libz3.load_library()
    free = z3.Z3_del_context

    def count(context: int) -> None:
        freed.append(context)
        free(context)

    monkeypatch.setattr(z3, "Z3_del_context", count)
    libz3.Context()  # frees what other tests have left, and is left itself
    freed.clear()
    context = libz3.Context()
    assert len(freed) == 1
    context.__del__()
    del context
    libz3.Context()
    assert len(freed) == 2


def test_ctrl_c_while_a_context_is_freed_is_not_lost() -> None:
    """In a finalizer Python prints it and goes on."""
    code = """
import signal
from proofs.smt import libz3
z3 = libz3.load_library()
free = z3.Z3_del_context
def interrupted(context):
    signal.raise_signal(signal.SIGINT)
    free(context)
z3.Z3_del_context = interrupted
context = libz3.Context()
del context
try:
    libz3.Context()
except KeyboardInterrupt:
    print("raised")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("raised\n", "")
