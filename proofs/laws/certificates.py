# SPDX-License-Identifier: Apache-2.0
"""`python -m proofs.laws.certificates [--check]`: what was proved, kept so that anybody can prove it again.

For each law one SMT-LIB file, solver-neutral, with every obligation between ``(push)`` and ``(pop)``: a solver that is
given it prints ``unsat`` once for each. `index.json` holds the file's sha256 and, for each obligation, what z3 and
cvc5 said under which seeds, what they spent, and which assumptions cvc5 did not need. Nothing depends on the machine.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proofs import command
from proofs.command import until_closed
from proofs.laws import solve
from proofs.laws.decide import shipped
from proofs.laws.law import Law
from proofs.laws.problem import Obligation, mutants, obligations, witness
from proofs.progress import INTERRUPTED, Progress, each

FOLDER = Path(__file__).with_name("certificates")
SEEDS = 5
SCHEMA = 1


def problem(law: Law) -> str:
    """The law's obligations as one SMT-LIB script.

    >>> problem(shipped()["MONO"]).count("(check-sat)")
    1
    """
    parts = [f"; {law.name}: {law.statement}", f"; {law.source}", "(set-logic ALL)"]
    for obligation in obligations(law):
        body = obligation.smt().replace("(set-logic ALL)\n", "")
        parts.append(f"(push 1)\n{body}(check-sat)\n(pop 1)")
    return "\n".join(parts) + "\n"


def digest(text: str) -> str:
    """The sha256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def certificate(law: Law) -> dict[str, Any]:
    """Everything about one law that `index.json` keeps."""
    model = solve.example(witness(law))
    broken = [(query.why, solve.counterexample(query)) for query in mutants(law)]
    return {
        "sha256": digest(problem(law)),
        "obligations": {o.name: _obligation(o) for o in obligations(law)},
        "model": model.shown(),
        "mutants": {why: "sat, replayed" if m.confirmed else m.status for why, m in broken},
    }


def _obligation(obligation: Obligation) -> dict[str, Any]:
    text = obligation.smt()
    told: dict[str, Any] = {}
    for name, ask in (("z3", solve.z3), ("cvc5", solve.cvc5)):
        answers = [ask(text, seed) for seed in range(SEEDS)]
        told[name] = {"status": sorted({a.status for a in answers}), "spent": answers[0].spent}
    core = solve.cvc5(text, core=True).core
    unused = [label for label, _, _ in obligation.assumptions if label not in core]
    return told | ({"unused": unused} if unused else {})


def generate(folder: Path = FOLDER) -> None:
    """Write every certificate anew."""
    folder.mkdir(exist_ok=True)
    laws = {name: law for name, law in shipped().items() if not law.why_open}
    for stale in {path.stem for path in folder.glob("*.smt2")} - set(laws):
        (folder / f"{stale}.smt2").unlink()
    found: dict[str, Any] = {}
    with Progress(len(laws), "laws") as shown:
        for name, law in laws.items():
            shown.begin(name)
            (folder / f"{name}.smt2").write_text(problem(law), encoding="utf-8")
            found[name] = certificate(law)
            shown.step()
    index = {"schema": SCHEMA, "engines": [solve.version("z3"), solve.version("cvc5")], "seeds": SEEDS, "laws": found}
    (folder / "index.json").write_text(_compact(index), encoding="utf-8")


def _compact(index: Mapping[str, Any]) -> str:
    """JSON with one line for each law: small, and a change of one law is a change of one line."""
    laws = ",\n".join(f"{json.dumps(n)}: {json.dumps(law, ensure_ascii=False)}" for n, law in index["laws"].items())
    head = {key: value for key, value in index.items() if key != "laws"}
    return json.dumps(head, ensure_ascii=False)[:-1] + ', "laws": {\n' + laws + "\n}}\n"


def faults(folder: Path = FOLDER) -> Iterable[str]:
    """Why the certificates in a folder are not current: one line for each fault, none when they are."""
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        kept = dict(index["laws"])
        head = {key: index[key] for key in ("schema", "engines", "seeds")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield f"index.json: {type(error).__name__}: {error}"
        return
    if (head["schema"], head["seeds"], len(head["engines"])) != (SCHEMA, SEEDS, 2):
        yield f"index.json: made with other seeds, solvers or in another form: {head}"
    laws = {name: law for name, law in shipped().items() if not law.why_open}
    yield from (f"{name}: no certificate" for name in laws if name not in kept)
    yield from (f"{name}: a certificate of a law that is not in the catalogue" for name in kept if name not in laws)
    stray = sorted({path.stem for path in folder.glob("*.smt2")} - set(laws))
    yield from (f"{name}.smt2: a problem of no law in the catalogue" for name in stray)
    for name in (n for n in laws if n in kept):
        try:
            yield from _stale(name, laws[name], kept[name], folder)
        except (KeyError, TypeError, AttributeError) as error:
            yield f"{name}: its certificate is malformed: {type(error).__name__}: {error}"


def _stale(name: str, law: Law, kept: Mapping[str, Any], folder: Path) -> Iterable[str]:
    text = problem(law)
    file = folder / f"{name}.smt2"
    if kept["sha256"] != digest(text) or not file.exists() or file.read_text(encoding="utf-8") != text:
        yield f"{name}: the law has changed since its certificate was made"
    steps = {o.name: {label for label, _, _ in o.assumptions} for o in obligations(law)}
    wrong = {query.why for query in mutants(law)}
    yield from (f"{step}: no certificate" for step in sorted(steps.keys() ^ kept["obligations"].keys()))
    yield from (f"{name}: no certificate that a mutant breaks: {why}" for why in sorted(wrong - kept["mutants"].keys()))
    yield from (f"{name}: no such mutant: {why}" for why in sorted(kept["mutants"].keys() - wrong))
    for step, told in kept["obligations"].items():
        for engine in ("z3", "cvc5"):
            if told[engine]["status"] != ["unsat"]:
                yield f"{step}: {engine} said {', '.join(told[engine]['status'])}"
        if not set(told.get("unused", ())) <= steps.get(step, set()):
            yield f"{step}: assumptions are told as unused that it has not: {', '.join(told['unused'])}"
    yield from (f"{name}: mutant not broken: {why}" for why, how in kept["mutants"].items() if how != "sat, replayed")


def unproved(folder: Path = FOLDER) -> Iterable[str]:
    """What differs when every law is proved anew by both solvers, word for word: one line for each law."""
    kept = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    engines = [solve.version("z3"), solve.version("cvc5")]
    if kept["engines"] != engines:
        yield f"index.json: made by {', '.join(kept['engines'])}, proved anew by {', '.join(engines)}"
    laws = {name: law for name, law in shipped().items() if not law.why_open}
    changed, missing = each(list(laws), lambda name, _: certificate(laws[name]) != kept["laws"][name], "laws", str)
    yield from (
        f"{name}: proved anew, its certificate is another" for name, other in zip(laws, changed, strict=False) if other
    )
    if missing:
        raise KeyboardInterrupt(f"{missing} of {len(laws)} laws not proved anew")


def main(argv: Sequence[str] | None = None) -> int:
    """Generate, or with --check compare; 1 when one is not current, 2 without the second solver, 130 interrupted."""
    with until_closed():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = command.parser("proofs.laws.certificates", __doc__, "--check --prove")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--prove", action="store_true", help="with --check: prove all anew, and compare that too")
    options = parser.parse_args(argv)
    if options.prove and not options.check:
        parser.error("--prove goes with --check")
    if (options.prove or not options.check) and not solve.has_cvc5():
        print("certificates need both solvers: pip install 'lanecheck[recheck]'", file=sys.stderr)
        return 2
    found: list[str] = []
    try:
        if not options.check:
            generate()
        found.extend(faults())
        if options.prove and not found:
            found.extend(unproved())
    except KeyboardInterrupt as stopped:
        print("".join(f"{line}\n" for line in found), end="")
        print(f"certificates: {': '.join(['interrupted', *map(str, stopped.args)])}", file=sys.stderr)
        return INTERRUPTED
    print("\n".join(found) or "the certificates are current" + ", and proved anew word for word" * options.prove)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
