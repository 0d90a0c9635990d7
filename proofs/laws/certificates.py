# SPDX-License-Identifier: Apache-2.0
"""`python -m proofs.laws.certificates [--check]`: the proofs of the laws as files that any SMT solver can check.

For each law there is one SMT-LIB file, with every obligation between ``(push)`` and ``(pop)``: a solver prints
``unsat`` once for each. `index.json` has the sha256 of the file and, for each obligation, the answers of z3 and cvc5
under several seeds, the resources they spent, and the assumptions that cvc5 did not need; and the values of a model of
the hypotheses and of a counterexample to each mutant. None of it depends on the machine.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lanecheck.console import command
from lanecheck.console.exits import Exit
from lanecheck.console.frame import guarded_printing
from lanecheck.console.outputs import write_file
from lanecheck.console.progress import Progress, each
from proofs.laws import solve
from proofs.laws.decide import INDEX, list_shipped
from proofs.laws.law import Law
from proofs.laws.problem import Obligation, mutants, nonvacuity, obligations

FOLDER = INDEX.parent
SEEDS = 5
SCHEMA = 2


def problem(law: Law) -> str:
    """All obligations of a law as one SMT-LIB script.

    >>> problem(list_shipped()["MONO"]).count("(check-sat)")
    1
    """
    parts = [f"; {law.name}: {law.statement}", f"; {law.source}", "(set-logic ALL)"]
    for obligation in obligations(law):
        body = obligation.smt().replace("(set-logic ALL)\n", "")
        parts.append(f"(push 1)\n{body}(check-sat)\n(pop 1)")
    return "\n".join(parts) + "\n"


def digest(text: str) -> str:
    """Return the sha256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def certificate(law: Law) -> dict[str, Any]:
    """Return the entry of one law in `index.json`."""
    models = [solve.example(nonvacuity(law)), *map(solve.counterexample, mutants(law))]
    return {
        "sha256": digest(problem(law)),
        "obligations": {o.name: _obligation(o) for o in obligations(law)},
        "models": {m.query.why: m.values if m.is_confirmed else m.status for m in models},
    }


def _obligation(obligation: Obligation) -> dict[str, Any]:
    text = obligation.smt()
    proved: dict[str, Any] = {}
    for name, run in (("z3", solve.z3), ("cvc5", solve.cvc5)):
        answers = [run(text, seed) for seed in range(SEEDS)]
        proved[name] = {"status": sorted({a.status for a in answers}), "spent": answers[0].spent}
    core = solve.cvc5(text, core=True).core
    unused = [label for label, _, _ in obligation.assumptions if label not in core]
    return proved | ({"unused": unused} if unused else {})


def generate(folder: Path = FOLDER) -> None:
    """Prove every law again and write its certificate."""
    folder.mkdir(exist_ok=True)
    laws = {name: law for name, law in list_shipped().items() if not law.why_open}
    for stale in {path.stem for path in folder.glob("*.smt2")} - set(laws):
        (folder / f"{stale}.smt2").unlink()
    certificates: dict[str, Any] = {}
    with Progress(len(laws), "laws") as shown:
        for name, law in laws.items():
            shown.begin(name)
            write_file(folder / f"{name}.smt2", problem(law))
            certificates[name] = certificate(law)
            shown.step()
    index = {
        "schema": SCHEMA,
        "engines": [solve.version("z3"), solve.version("cvc5")],
        "seeds": SEEDS,
        "laws": certificates,
    }
    write_file(folder / "index.json", _compact(index))


def _compact(index: Mapping[str, Any]) -> str:
    """Return the index as JSON with one line for each law, so that a change of one law changes one line."""
    laws = ",\n".join(f"{json.dumps(n)}: {json.dumps(law, ensure_ascii=False)}" for n, law in index["laws"].items())
    head = {key: value for key, value in index.items() if key != "laws"}
    return json.dumps(head, ensure_ascii=False)[:-1] + ', "laws": {\n' + laws + "\n}}\n"


def faults(folder: Path = FOLDER) -> Iterable[str]:
    """Yield the reasons why the certificates in a folder are not current, one line each; none when they are."""
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        kept = dict(index["laws"])
        head = {key: index[key] for key in ("schema", "engines", "seeds")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield f"index.json: {type(error).__name__}: {error}"
        return
    if (head["schema"], head["seeds"], len(head["engines"])) != (SCHEMA, SEEDS, 2):
        yield f"index.json: made with other seeds, solvers or in another form: {head}"
    laws = {name: law for name, law in list_shipped().items() if not law.why_open}
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
    models = {query.why: query for query in (nonvacuity(law), *mutants(law))}
    yield from (f"{step}: no certificate" for step in sorted(steps.keys() ^ kept["obligations"].keys()))
    yield from (f"{name}: no model in the certificate: {why}" for why in models if why not in kept["models"])
    yield from (f"{name}: a model of nothing: {why}" for why in kept["models"] if why not in models)
    for step, recorded in kept["obligations"].items():
        for engine in ("z3", "cvc5"):
            if recorded[engine]["status"] != ["unsat"]:
                yield f"{step}: the answer of {engine} is {', '.join(recorded[engine]['status'])}, not unsat"
        if not set(recorded.get("unused", ())) <= steps.get(step, set()):
            yield f"{step}: lists unused assumptions that it does not have: {', '.join(recorded['unused'])}"
    yield from (
        f"{name}: not a model: {why}: {kept['models'][why]}"
        for why, query in models.items()
        if why in kept["models"] and not solve.recall_model(query, kept["models"])
    )


def list_unproved(folder: Path = FOLDER) -> Iterable[str]:
    """Yield the laws whose entry differs when they are proved again by both solvers, one line each."""
    kept = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    engines = [solve.version("z3"), solve.version("cvc5")]
    if kept["engines"] != engines:
        yield f"index.json: made by {', '.join(kept['engines'])}, proved anew by {', '.join(engines)}"
    laws = {name: law for name, law in list_shipped().items() if not law.why_open}
    changed, missing = each(list(laws), lambda name, _: certificate(laws[name]) != kept["laws"][name], "laws", str)
    yield from (
        f"{name}: proved anew, its certificate is another"
        for name, differs in zip(laws, changed, strict=False)
        if differs
    )
    if missing:
        raise KeyboardInterrupt(f"interrupted: {missing} of {len(laws)} laws not proved anew")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the certificates, or compare them with --check.

    Returns the exit code: REFUTED if one is not current, UNDECIDED if cvc5 is needed and missing.
    """
    return guarded_printing("certificates", lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    parser = command.parser("python -m proofs.laws.certificates", __doc__, "--check --prove")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--prove", action="store_true", help="with --check: prove all laws again and compare")
    options = parser.parse_args(argv)
    if options.prove and not options.check:
        parser.error("--prove goes with --check")
    if (options.prove or not options.check) and not solve.has_cvc5():
        print("certificates need both solvers: pip install 'lanecheck[recheck]'", file=sys.stderr)
        return Exit.UNDECIDED
    lines: list[str] = []
    try:
        if not options.check:
            generate()
        lines.extend(faults())
        if options.prove and not lines:
            lines.extend(list_unproved())
    except KeyboardInterrupt:
        print("".join(f"{line}\n" for line in lines), end="")
        raise
    print("\n".join(lines) or "the certificates are current" + ", and proved anew word for word" * options.prove)
    return Exit.REFUTED if lines else Exit.OK


if __name__ == "__main__":
    raise SystemExit(main())
