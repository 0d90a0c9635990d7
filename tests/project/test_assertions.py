# SPDX-License-Identifier: Apache-2.0
"""Every test asserts something, however its data turn out.

A test passes without checking anything where all its assertions are under an `if` that may never hold, after an early
return, or in a loop over a list that a condition may leave empty. Such a test counts what it counted and asserts the
count. A Hypothesis test calls `assume` or `reject` instead: Hypothesis fails a test that keeps too few examples.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUNCTION = ast.FunctionDef, ast.AsyncFunctionDef
Place = tuple[Path, str]  # a function: its file and its name


class Asserting:
    """The functions of some files that assert whenever they are called."""

    def __init__(self, files: dict[Path, str]) -> None:
        self.tests: list[Place] = []
        self.bodies: dict[Place, list[ast.stmt]] = {}
        self.namesakes: defaultdict[str, set[Place]] = defaultdict(set)
        for path, text in files.items():
            tree = ast.parse(text)
            self.tests += [
                (path, node.name) for node in tree.body if isinstance(node, FUNCTION) and node.name.startswith("test_")
            ]
            for node in ast.walk(tree):
                if isinstance(node, FUNCTION):
                    self.bodies[path, node.name] = node.body
                    self.namesakes[node.name].add((path, node.name))
        self.within: dict[ast.AST, list[ast.Call]] = {}  # the calls in an expression: each turn needs them again
        self.asserted: set[Place] = set()
        while more := {
            place for place in self.bodies.keys() - self.asserted if not self.unasserted(place[0], self.bodies[place])
        }:
            self.asserted |= more

    def vacuous(self) -> list[str]:
        """The tests that may pass without an assertion."""
        return [f"{path}: {name}" for path, name in self.tests if (path, name) not in self.asserted]

    def calls(self, path: Path, node: ast.AST) -> bool:
        """Whether an expression of a file calls pytest.raises, pytest.fail or a function that asserts."""
        if node not in self.within:
            self.within[node] = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
        for call in self.within[node]:
            called = getattr(call.func, "attr", getattr(call.func, "id", ""))
            meant = {(path, called)} if (path, called) in self.bodies else self.namesakes.get(called, set())
            if (
                called in {"raises", "fail", "warns"}
                or called.startswith("assert_")
                or (meant and meant <= self.asserted)
            ):
                return True
            if called == "assume" and self.answers(path, call.args[0]):
                return True
        return False

    def answers(self, path: Path, node: ast.expr) -> bool:
        """Whether an expression is the answer of a function of its file that asserts and says whether it did."""
        body = self.bodies.get((path, getattr(node.func, "id", "")), []) if isinstance(node, ast.Call) else []
        return any(isinstance(part, ast.Assert) for statement in body for part in ast.walk(statement))

    def unasserted(self, path: Path, statements: Sequence[ast.stmt]) -> set[str]:
        """How some statements of a file may be left before one of them asserts: at their end, by a return or a turn."""
        left: set[str] = set()
        for node in statements:
            if isinstance(node, ast.Assert | ast.Raise) or any(self.calls(path, head) for head in heads(node)):
                return left
            if isinstance(node, ast.Return):
                return left | {"return"}
            if isinstance(node, ast.Continue | ast.Break):
                return left | {"turn"}
            inner: set[str] = set().union(*(self.unasserted(path, way) for way in ways(node)))
            if isinstance(node, ast.For | ast.While) and "turn" in inner:
                inner = inner - {"turn"} | {"end"}
            left |= inner - {"end"}
            if ways(node) and "end" not in inner:
                return left
        return left | {"end"}


def heads(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement evaluates in any case."""
    if isinstance(node, ast.If | ast.While):
        yield node.test
    elif isinstance(node, ast.For):
        yield node.iter
    elif isinstance(node, ast.With):
        yield from (item.context_expr for item in node.items)
    elif not isinstance(node, (*FUNCTION, ast.ClassDef, ast.Try, ast.Match)):
        yield node


def ways(node: ast.stmt) -> list[list[ast.stmt]]:
    """The lists of statements of which one is gone through."""
    if isinstance(node, ast.If):
        return [node.body, node.orelse]
    if isinstance(node, ast.For):
        filtered = any(isinstance(part, ast.comprehension) and part.ifs for part in ast.walk(node.iter))
        return [node.body, []] if filtered else [node.body]
    if isinstance(node, ast.With | ast.While):
        return [node.body]
    if isinstance(node, ast.Try):
        return [[*node.body, *node.orelse, *node.finalbody], *([*h.body, *node.finalbody] for h in node.handlers)]
    return [case.body for case in node.cases] if isinstance(node, ast.Match) else []


@pytest.mark.long
def test_every_test_asserts_whatever_happens() -> None:
    files = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    asserting = Asserting(files)
    assert len(asserting.tests) > 1500
    assert asserting.vacuous() == []


@pytest.mark.parametrize(
    ("body", "vacuous"),
    [
        ("assert x", False),
        ("if x: assert x", True),
        ("if x: assert x\n else: assert not x", False),
        ("if x: return\n assert x", True),
        ("if x:\n  assert x\n  return\n assert not x", False),
        ("for y in [y for y in x if y]: assert y", True),
        ("for y in x: assert y", False),
        ("for y in x:\n  if y: continue\n  assert y", True),
        ("for y in x:\n  if y: continue\n assert x", False),
        ("for y in x:\n  if y: return\n assert x", True),
        ("for y in x:\n  try: y()\n  except ValueError: continue\n  assert y\n  return\n fail()", False),
        ("try: x()\n except ValueError: return\n assert x", True),
        ("try: x()\n except ValueError: assert x\n else: assert not x", False),
        ("try: x()\n except ValueError: reject()\n assert x", False),
        ("with raises(ValueError): x()", False),
        ("helper(x)", False),
        ("counted(x)", True),
        ("assume(counted(x))", False),
        ("assume(x)", True),
    ],
)
def test_what_asserts_whatever_happens(body: str, vacuous: bool) -> None:
    text = "def helper(x): assert x\ndef counted(x):\n if x: assert x\n return x\ndef test_it(x):\n " + body
    assert Asserting({Path("a.py"): text}).vacuous() == ["a.py: test_it"] * vacuous
