# SPDX-License-Identifier: Apache-2.0
"""A law explained as text: its statement, an example, each step of its proof, a counterexample to each mutant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofs.laws import solve
from proofs.laws.law import Law, ancestors
from proofs.laws.problem import mutants, nonvacuity


def explain_law(law: Law, laws: Mapping[str, Law]) -> str:
    """Return the law as a page of text."""
    return "\n".join(_lines(law, laws)) + "\n"


def _lines(law: Law, laws: Mapping[str, Law]) -> Iterator[str]:
    yield f"{law.name}: {law.statement}"
    if law.formula:
        yield f"  {law.formula}"
    yield f"  source       {law.source}"
    if law.why_open:
        yield f"  open         {law.why_open}"
        return
    numbers = "integers" if law.bits is None else f"{law.bits}-bit words"
    kinds = (("extents", law.positive), ("naturals", law.natural), (numbers, law.integer))
    yield "  variables    " + "; ".join(f"{kind} {', '.join(names)}" for kind, names in kinds if names)
    if law.functions:
        yield f"  any function {', '.join(f'{name}/{arity}' for name, arity in law.functions.items())}"
    yield from _block("with", law.let)
    yield from _block("assuming", law.written["hyps"])
    yield from _block("follows", law.written["goal"])
    yield from _block(
        "proof, by", [f"{h.instance}: {laws[h.law].statement}" for h in law.hints] or ["arithmetic alone"]
    )
    yield from _block("in steps", law.written["cuts"])
    if law.induction:
        yield f"  any rank     {law.induction}"
    below = [name for name in laws if name in ancestors(law, laws)]
    yield f"  rests on     {', '.join(below) or 'nothing'}"
    yield f"  example      {solve.example(nonvacuity(law)).spell()}"
    models = (solve.counterexample(query) for query in mutants(law))
    yield from _block("false when", [f"{model.query.why}: {model.spell()}" for model in models])


def _block(title: str, lines: Sequence[str]) -> Iterator[str]:
    for i, line in enumerate(lines):
        yield f"  {title if i == 0 else '':<12} {line}"
