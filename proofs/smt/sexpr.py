# SPDX-License-Identifier: Apache-2.0
"""SMT-LIB expressions as nested tuples of strings, and their text, in which ``let`` names shared parts once."""

from __future__ import annotations

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
    if isinstance(expr, str):
        return expr
    order = _post_order(expr)
    uses: dict[int, int] = {}
    for node in order:
        for child in node:
            if not isinstance(child, str):
                uses[id(child)] = uses.get(id(child), 0) + 1
    text: dict[int, str] = {}
    lets: list[str] = []
    for node in order:
        body = f"({' '.join([x if isinstance(x, str) else text[id(x)] for x in node])})"
        if uses.get(id(node), 0) > 1:
            name = f"e{len(lets)}"
            lets.append(f"(let (({name} {body})) ")
            body = name
        text[id(node)] = body
    return "".join(lets) + text[id(expr)] + ")" * len(lets)


def _post_order(expr: tuple[Sexpr, ...]) -> list[tuple[Sexpr, ...]]:
    """Every compound subterm once, parts before wholes; by a loop, so that a deep expression needs no deep stack."""
    done: dict[int, tuple[Sexpr, ...]] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        before = [child for child in node if not isinstance(child, str) and id(child) not in done]
        if before:
            stack += reversed(before)
        else:
            done[id(stack.pop())] = node
    return list(done.values())
