# SPDX-License-Identifier: Apache-2.0
"""Two texts have one normal form where no result can differ, and two wherever one can."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from proofs.symbolic import campaign
from proofs.symbolic.normal_form import normal_form
from tests.cases import each

TEXT = '''
"""A module."""
LIMITS = {"least": 2, "most": 9}
"""What is allowed."""

def measure(shape, scale=3, *, offset=0):
    """Measure a shape."""
    first, second = shape.left, shape.right
    total = 0
    for at, part in enumerate(shape.parts):
        try:
            total += part * first - second
        except KeyError as fault:
            raise LayoutError(f"no part {at}") from fault
    assert total >= 0, f"{total} is negative"
    if shape.kind == "plain" and total < LIMITS["least"]:
        raise RejectedError("too small")
    squares = [side * side for side in shape.sides if side > first]
    def grow(step):
        nonlocal total
        total += step
        return total
    match shape.form:
        case [head, *rest]:
            return grow(head), rest
        case {"depth": depth, **others}:
            return depth, others
    return (lambda unit: unit + total)(scale), squares, offset
'''


def form(text: str) -> str:
    return normal_form(ast.parse(text))


def rename(old: str, new: str) -> str:
    return re.sub(rf"\b{old}\b", new, TEXT)


SAME = {
    **{f"the local {name}": rename(name, f"{name}_of_it") for name in (
        "first", "second", "total", "at", "part", "fault", "squares", "side", "head", "rest", "others"
    )},
    "two locals exchange their names": rename("first", "x").replace("second", "first"),
    "a capture": TEXT.replace("depth, **others}", "deep, **others}").replace("return depth", "return deep"),
    "the docstring of a function": TEXT.replace("Measure a shape.", "Return the measure."),
    "no docstring": TEXT.replace('    """Measure a shape."""\n', ""),
    "the docstring of the module": TEXT.replace("A module.", "Another."),
    "the text of a constant": TEXT.replace("What is allowed.", "The bounds."),
    "a comment": TEXT.replace("total = 0", "total = 0  # nothing yet"),
    "the argument of a raise": TEXT.replace("no part {at}", "part {at} is not there"),
    "the message of an assertion": TEXT.replace("is negative", "should be 0 or more"),
    "no message of an assertion": TEXT.replace(', f"{total} is negative"', ""),
}  # fmt: skip
OTHER = {
    "two variables' uses": TEXT.replace("part * first - second", "part * second - first"),
    "two variables of one target": TEXT.replace("first, second = shape.left", "second, first = shape.left"),
    "another local": TEXT.replace("return grow(head), rest", "return grow(total), rest"),
    "a local for a global": TEXT.replace("LIMITS[", "shape["),
    "an operator": TEXT.replace("part * first", "part + first"),
    "a comparison": TEXT.replace("total < LIMITS", "total <= LIMITS"),
    "a dict's key": TEXT.replace('{"least": 2', '{"last": 2'),
    "a dict's value": TEXT.replace('"least": 2', '"least": 3'),
    "a key that is looked up": TEXT.replace('LIMITS["least"]', 'LIMITS["most"]'),
    "a key of a pattern": TEXT.replace('{"depth": depth', '{"height": depth'),
    "a default": TEXT.replace("scale=3", "scale=2"),
    "a compared string": TEXT.replace('== "plain"', '== "planar"'),
    "an attribute": TEXT.replace("shape.left", "shape.length"),
    "a parameter": rename("scale", "factor"),
    "the class that is raised": TEXT.replace('RejectedError("', 'LayoutError("'),
    "the class that is caught": TEXT.replace("except KeyError", "except IndexError"),
    "no cause": TEXT.replace(" from fault", ""),
    "what is asserted": TEXT.replace("assert total >= 0", "assert total > 0"),
    "no nonlocal": TEXT.replace("        nonlocal total\n", ""),
    "a global": TEXT.replace("        nonlocal total\n", "        global total\n"),
    "the name of a function": rename("measure", "count"),
    "the name of a nested function": rename("grow", "shrink"),
    "the order of statements": TEXT.replace("    total = 0\n", "").replace("    squares", "    total = 0\n    squares"),
    "a constant's type": TEXT.replace("offset=0", "offset=False"),
    "a filter": TEXT.replace("if side > first]", "if side > second]"),
    "an iterable": TEXT.replace("in shape.sides", "in shape.parts"),
    "a star": TEXT.replace("[head, *rest]", "[head, rest]"),
}  # fmt: skip


def test_what_changes_no_result_keeps_the_form() -> None:
    changed = {what: text for what, text in SAME.items() if form(text) != form(TEXT)}
    assert changed == {} and TEXT not in SAME.values()


def test_what_may_change_a_result_changes_the_form() -> None:
    same = [what for what, text in OTHER.items() if form(text) == form(TEXT)]
    assert same == [] and TEXT not in OTHER.values()


@each(
    ("first", "second"),
    [
        # The first iterable is evaluated outside of the comprehension.
        ("def f(x):\n x = g(x)\n return [x for x in x]", "def f(x):\n x = g(x)\n return [y for y in y]"),
        # A method does not see the names of its class; the body of the class does.
        ("class A:\n size = 1\n def f(self):\n  return size", "def f():\n class A:\n  size = 1\n return size"),
        ("def f():\n y = 1\n class A:\n  y = 2\n  z = y", "def f():\n y = 1\n class A:\n  x = 2\n  z = y"),
        # A parameter of a default's lambda is none of the function.
        (
            "def f():\n y = 1\n def g(x=lambda y: y):\n  return y",
            "def f():\n z = 1\n def g(x=lambda y: y):\n  return y",
        ),
        # `:=` in a comprehension binds outside of it.
        ("def f(p):\n [t := q for q in p]\n return t", "def f(p):\n [u := q for q in p]\n return t"),
        (
            "def f(p):\n [lambda: (t := q) for q in p]\n return t",
            "def f(p):\n [lambda: (u := q) for q in p]\n return u",
        ),
        ("def f(p):\n x = 1\n del x\n return p", "def f(p):\n x = 1\n del y\n return p"),
        # The class depends on the argument.
        ("def f(x):\n raise pick(1)", "def f(x):\n raise pick(2)"),
        ("def f():\n import a.b\n return a", "def f():\n import a.b\n return b"),
        ("x = 1", "y = 1"),
        ("x = None", "x = 'None'"),
    ],
)
def test_scopes_are_those_of_python(first: str, second: str) -> None:
    assert form(first) != form(second)


@each(
    ("first", "second"),
    [
        ("def f(p):\n [t := q for q in p]\n return t", "def f(p):\n [u := r for r in p]\n return u"),
        ("def f():\n y = 1\n def g():\n  return y", "def f():\n z = 1\n def g():\n  return z"),
        ("def f():\n y = 1\n class A:\n  z = y", "def f():\n x = 1\n class A:\n  z = x"),
        ("def f(p):\n with p as q: return q", "def f(p):\n with p as r: return r"),
        ("x = [a for a in b]", "x = [c for c in b]"),
    ],
)
def test_a_local_is_a_local_in_every_scope(first: str, second: str) -> None:
    assert form(first) == form(second)


@pytest.mark.long
@pytest.mark.parametrize("name", ["layouts/coalesce.py", "proofs/symbolic/execution.py"])
def test_every_local_of_our_code_can_be_renamed(name: str) -> None:
    """Of whole modules, which Python's own table of symbols knows."""
    text = Path(campaign.ROOT / name).read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert functions
    for function in functions:
        code = next(c for c in compile(text, name, "exec").co_consts if getattr(c, "co_name", "") == function.name)
        inner = [c for c in code.co_consts if hasattr(c, "co_varnames")]
        if inner or code.co_cellvars:
            continue
        kept = {getattr(node, "arg", getattr(node, "name", "")) for node in ast.walk(function)}
        for local in set(code.co_varnames) - kept:
            again = ast.parse(text)
            target = next(node for node in again.body if getattr(node, "name", "") == function.name)
            for node in ast.walk(target):
                if isinstance(node, ast.Name) and node.id == local:
                    node.id = "renamed"
                elif isinstance(node, ast.ExceptHandler) and node.name == local:
                    node.name = "renamed"
            assert normal_form(again) == normal_form(tree), (function.name, local)
