# SPDX-License-Identifier: Apache-2.0
"""The code of a module without what changes no result: equal normal forms, equal results.

`normal_form` numbers locals in the order in which their scope binds them, and leaves out docstrings, comments, the
arguments of `raise` and the messages of `assert`. All else stays as it is written, the names of parameters, attributes
and nested functions too: code elsewhere may use them. It is the same in every version of Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SILENT = {"ctx", "kind", "type_comment", "type_ignores"}  # fields that follow from others, or that nothing reads


@dataclass(frozen=True, slots=True)
class NameScope:
    """The names that a module, class, function or comprehension binds, each with what is written for it."""

    names: Mapping[str, str] = field(default_factory=dict)
    outer: NameScope | None = None
    is_class: bool = False

    def resolve(self, name: str) -> str:
        """Return what is written for a name: its number if it is a local, else the name itself."""
        scope: NameScope | None = self
        while scope is not None:
            # A function inside a class does not see the names of the class.
            if name in scope.names and (scope is self or not scope.is_class):
                return scope.names[name]
            scope = scope.outer
        return name


def normal_form(node: object, scope: NameScope = NameScope()) -> str:
    r"""Return the normal form of a module, or of a part of it in a scope.

    >>> first, second = "def f(x):\n    'Doc.'\n    y = x\n    return y", "def f(x):\n    z = x\n    return z"
    >>> normal_form(ast.parse(first)) == normal_form(ast.parse(second))
    True
    """
    if isinstance(node, list):
        return f"[{', '.join(normal_form(part, scope) for part in node if not _is_text(part))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Name):
        return f"Name({scope.resolve(node.id)})"
    if isinstance(node, Comprehension):
        return _write_comprehension(node, scope)
    body = _body_scope(node, scope)
    parts = {
        name: normal_form(part, body if name == "body" else scope)
        for name, part in ast.iter_fields(node)
        if name not in SILENT and part is not None and part != []
    }
    if isinstance(node, ast.Constant):
        parts["value"] = repr(node.value)  # also None
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        parts["name"] = scope.resolve(node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        parts["rest"] = scope.resolve(node.rest)
    elif isinstance(node, ast.Nonlocal):
        parts["names"] = ", ".join(map(scope.resolve, node.names))
    elif isinstance(node, ast.Assert):
        parts.pop("msg", None)
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _is_class(node.exc.func):
        parts["exc"] = normal_form(node.exc.func, scope)
    return f"{type(node).__name__}({', '.join(f'{name}={text}' for name, text in parts.items())})"


def _is_text(node: object) -> bool:
    """Return whether a statement is a string alone: a docstring, of a constant too."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_class(node: ast.expr) -> bool:
    """Return whether a name is that of a class: `raise pick(x)` may choose the class by its argument."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name[:1].isupper()


def _write_comprehension(node: Comprehension, scope: NameScope) -> str:
    """Write a comprehension: Python evaluates its first iterable outside, all else in a scope of its own."""
    targets = chain.from_iterable(_find_bound(loop.target) for loop in node.generators)
    inner = NameScope(_number_names(targets, scope), scope)
    loops = [
        f"({normal_form(loop.target, inner)}, {normal_form(loop.iter, inner if n else scope)}, "
        f"{normal_form(loop.ifs, inner)}, {loop.is_async})"
        for n, loop in enumerate(node.generators)
    ]
    made = [normal_form(part, inner) for name, part in ast.iter_fields(node) if name != "generators"]
    return f"{type(node).__name__}({', '.join([*made, *loops])})"


def _body_scope(node: ast.AST, scope: NameScope) -> NameScope:
    """Return the scope of the body of a node, which is the scope around it unless the node is a function or a class."""
    if isinstance(node, ast.ClassDef):
        # They are attributes: none is renamed.
        return NameScope({name: name for name, _ in _find_bound(*node.body)}, scope, is_class=True)
    if isinstance(node, Function | ast.Lambda):
        arguments = (part.arg for part in ast.iter_child_nodes(node.args) if isinstance(part, ast.arg))
        body = node.body if isinstance(node.body, list) else [node.body]
        shared = {name for part in _walk_own(*body) if isinstance(part, ast.Nonlocal) for name in part.names}
        names = ((name, kept) for name, kept in _find_bound(*body) if name not in shared)
        return NameScope(_number_names(chain(((name, True) for name in arguments), names), scope), scope)
    return scope


def _number_names(names: Iterable[tuple[str, bool]], outer: NameScope) -> dict[str, str]:
    """Return what is written for each name of a new scope: a number, unless the name has to be kept."""
    listed = list(names)
    kept = {name for name, keep in listed if keep}
    depth, around = 0, outer
    while around.outer is not None:
        depth, around = depth + 1, around.outer
    numbers = count()
    every = dict.fromkeys(name for name, _ in listed)
    return {name: name if name in kept else f"%{depth}.{next(numbers)}" for name in every}


def _find_bound(*nodes: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that these nodes bind in their scope, in order, and whether a name has to be kept."""
    for node in _walk_own(*nodes):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, False
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, False
            case ast.MatchMapping(rest=str(name)):
                yield name, False
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, True
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0], True
            case ast.Global(names=names):
                yield from ((name, True) for name in names)


def _walk_own(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes and their parts in order, without the parts that belong to a scope inside."""
    for node in nodes:
        yield node
        if isinstance(node, Comprehension):
            yield from _walk_own(node.generators[0].iter)
            yield from _assigned_inside(node)
            continue
        closed = isinstance(node, Function | ast.ClassDef | ast.Lambda)
        for name, part in ast.iter_fields(node):
            if closed and name == "body":
                continue
            parts = part if isinstance(part, list) else [part]
            yield from _walk_own(*(child for child in parts if isinstance(child, ast.AST)))


def _assigned_inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the targets of `:=` that a comprehension binds in the scope around it: all but those of a lambda."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.NamedExpr):
            yield part.target
        if not isinstance(part, ast.Lambda):
            yield from _assigned_inside(part)
