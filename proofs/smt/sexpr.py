# SPDX-License-Identifier: Apache-2.0
"""SMT-LIB expressions as nested tuples of strings, and their text, in which ``let`` names shared parts once."""

from __future__ import annotations

from typing import Any, TypeAlias

Sexpr: TypeAlias = "str | tuple[Sexpr, ...]"


def render(expr: Sexpr) -> str:
    """Return the SMT-LIB text of ``expr``; a subterm that is used twice (the same object) is bound by ``let``.

    >>> x = ("bvadd", "a", "b")
    >>> render(("bvmul", x, "c"))
    '(bvmul (bvadd a b) c)'
    >>> render(("bvmul", x, x))
    '(let ((e0 (bvadd a b))) (bvmul e0 e0))'
    """
    if isinstance(expr, str):
        return expr
    order, uses = _post_order(expr)
    text: dict[int, str] = {}
    lets: list[str] = []
    for node in order:
        body = f"({' '.join([x if isinstance(x, str) else text[id(x)] for x in node])})"
        if uses[id(node)] > 1:
            name = f"e{len(lets)}"
            lets.append(f"(let (({name} {body})) ")
            body = name
        text[id(node)] = body
    return "".join(lets) + text[id(expr)] + ")" * len(lets)


def _post_order(expr: tuple[Sexpr, ...]) -> tuple[list[tuple[Sexpr, ...]], dict[int, int]]:
    """Every compound subterm once, parts before wholes, and how often each is used.

    By a loop, so that a deep expression needs no deep stack; a list around a subterm marks that its parts are done.
    """
    order: list[tuple[Sexpr, ...]] = []
    uses: dict[int, int] = {}
    stack: list[Any] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            order += node
            continue
        uses[id(node)] = uses.get(id(node), 0) + 1
        if uses[id(node)] == 1:
            stack.append([node])
            stack += [part for part in reversed(node) if not isinstance(part, str)]
    return order, uses
