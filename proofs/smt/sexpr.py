# SPDX-License-Identifier: Apache-2.0
"""SMT-LIB expressions as nested tuples of strings, and their text, in which ``let`` names shared parts once."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

Sexpr: TypeAlias = "str | tuple[Sexpr, ...]"


def render(expr: Sexpr) -> str:
    """The SMT-LIB text of ``expr``; a subterm that is used twice (the same object) is bound by ``let``.

    >>> x = ("bvadd", "a", "b")
    >>> render(("bvmul", x, "c"))
    '(bvmul (bvadd a b) c)'
    >>> render(("bvmul", x, x))
    '(let ((e0 (bvadd a b))) (bvmul e0 e0))'
    """
    order = _post_order(expr)
    uses = Counter(id(child) for node in order for child in node if isinstance(child, tuple))
    text: dict[int, str] = {}
    lets: list[str] = []
    for node in order:
        body = f"({' '.join(x if isinstance(x, str) else text[id(x)] for x in node)})"
        if uses[id(node)] > 1:
            name = f"e{len(lets)}"
            lets.append(f"(let (({name} {body})) ")
            body = name
        text[id(node)] = body
    whole = expr if isinstance(expr, str) else text[id(expr)]
    return "".join(lets) + whole + ")" * len(lets)


def _post_order(expr: Sexpr) -> list[tuple[Sexpr, ...]]:
    """Every compound subterm once, parts before wholes; by a loop, so that a deep expression needs no deep stack."""
    done: dict[int, tuple[Sexpr, ...]] = {}
    stack: list[tuple[Sexpr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if isinstance(node, str) or id(node) in done:
            continue
        if ready:
            done[id(node)] = node
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node))
    return list(done.values())
