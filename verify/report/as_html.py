# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML page that needs no other file.

Of each subject: its picture, its operands with the ISA's formula of each, and every claim with its evidence, its
counterexample and a link to it. What is not verified is unfolded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote
from xml.etree.ElementTree import Element, tostring

from verify.core.html import document, element, formula
from verify.core.verdict import Counterexample, Place, Status, Verdict
from verify.pictures.html import FIGURES, figure, script
from verify.pictures.picture import WHOLE, Picture
from verify.pictures.svg import first
from verify.report import Case, Report
from verify.report.as_text import describe, subjects, summary
from verify.report.expectation import write_surprise

CELLS = 1024  # of a picture: from there on they are drawn by its script, which keeps a page small
DRAWN = 32  # subjects of a page that are drawn, what is not verified first: a picture takes up to some seconds
EXCERPT = re.compile(r"\s*\d* ?\| ")  # a line of a source, and the one below it that points
MOST = 500_000  # bytes of a picture: a page of 1 MB is slow on a phone


def render(report: Report, verbose: bool = False) -> str:
    """Return the report as an HTML page that fetches nothing; `verbose` adds times."""
    ids = Counter[str]()
    wrong = [case for case in report.cases if case.status != "VERIFIED"]
    drawn = {id(case) for case in [*wrong, *report.cases][:DRAWN]}
    cases = [_case(case, report, verbose, id(case) in drawn, ids) for case in report.cases]
    surprises = [write_surprise(name, how) for name, how in report.surprises.items()]
    failed = [f"{failure.name}: {failure.message}" for failure in report.failures]
    head = element("header", *_title(report), *_paragraphs([*surprises, *failed, summary(report)]))
    only = report.cases[0] if len(report.cases) == 1 else None
    title = f"{only.name}: {only.headline}" if only is not None else f"Lanecheck: {subjects(report)}"
    main = element("main", *cases, id="main")
    return document(title, head, main, style=FIGURES, script=script() if drawn else "")


def _title(report: Report) -> Iterator[Element]:
    """Yield of one subject its verdict, its name and where it is written; of several their file or number."""
    files = {case.place.file for case in report.cases if case.place is not None}
    if len(report.cases) == 1:
        only = report.cases[0]
        yield element("h1", _status(_colour(only), only.headline), element("bdi", only.name))
        if (place := _find_place(only)) is not None:
            yield element("p", str(place), class_="place")
    else:
        yield element("h1", *files) if len(files) == 1 else element("h1", subjects(report))


def _find_first(case: Case) -> Verdict | None:
    """Return the first verdict with a counterexample that doesn't follow from another."""
    return next((v for v in case.verdicts if v.counterexample is not None and not v.cause), None)


def _find_place(case: Case) -> Place | None:
    """Return where a subject is wrong, if a line is; else where it is written."""
    first = _find_first(case)
    return first.place if first is not None and first.place is not None else case.place


def _case(case: Case, report: Report, verbose: bool, drawn: bool, ids: Counter[str]) -> Element:
    known = f"known defect: {case.expects.known_defect}" if case.expects.known_defect else ""
    gap = case.gap if case.status == Status.UNCHECKED or case.as_known else ""
    then = f"then: {case.adapter}" if case.adapter else ""
    accepted = report.why_accepted(case) if report.is_accepted(case) else ""
    lines = [line for line in (gap, *case.contradictions, known, accepted, then) if line]
    where = _place(ids, case.name)
    if len(report.cases) == 1:
        made = element("section", id=where, class_="case")
    else:
        head = element("h2", _status(_colour(case), case.headline), element("bdi", case.name))
        made = element("details", element("summary", head), id=where, class_="case")
        place = _find_place(case)
        link = element("p", *([str(place)] if place is not None else []), _permalink(where, case.name))
        link.set("class", "place")
        made.append(link)
        if case.status != "VERIFIED":
            made.set("open", "")
    made.extend(_paragraphs(lines))
    first = _find_first(case)
    if first is not None and first.counterexample is not None:
        made.append(_counterexample(first.counterexample, briefly=True))
    made.extend(list(_picture(case, where, drawn, first is not None)))
    made.extend(_operands(case, verbose, ids, "h2" if len(report.cases) == 1 else "h3"))
    if case.notes:  # what the verdicts speak of
        made.append(element("ul", *(element("li", note) for note in case.notes), class_="checks"))
    return made


def _picture(case: Case, where: str, drawn: bool, wrong: bool) -> Iterator[Element]:
    """Yield the picture of a subject, or parts of a large one; without a picture, why, and which command draws it."""
    if case.picture is None:
        return
    command = element("code", case.drawn_by)
    if not drawn:
        yield element("p", f"Not drawn: a page draws {DRAWN} subjects; ", command, " draws it.")
        return
    try:
        picture = case.picture(WHOLE)
    except ValueError as error:  # such as a layout that has no such points
        picture = Picture(case.name, (), notes=(str(error),))
    if not picture.panels:
        yield element("p", f"Not drawn: {'; '.join(picture.notes) or 'it has no elements'}")
        return
    made, cells, panels = (
        figure(picture, CELLS, f"{where}/", wrong=wrong, lead=not wrong),
        picture.cells,
        picture.panels,
    )
    while len(tostring(made)) > MOST:
        cells //= 2
        parts = tuple(first(panel, cells // len(panels)) for panel in panels)
        made = figure(replace(picture, panels=parts), CELLS, f"{where}/", wrong=wrong, lead=not wrong)
    if cells < picture.cells:
        yield element("p", f"Its {picture.cells} elements are too many for this page: parts of it follow; ", command,
                      " draws the whole.")  # fmt: skip
    yield made


def _operands(case: Case, verbose: bool, ids: Counter[str], heading: str) -> Iterator[Element]:
    """Yield a section for the subject as a whole, then one for each operand that a claim is about."""
    texts, formulas = dict(case.layouts), {part: cited for part, *cited in case.formulas()}
    for part in dict.fromkeys(verdict.claim.part for verdict in case.verdicts):
        made = element("section", class_="operand")
        made.append(element(heading, part or "the whole"))
        if part in texts:
            made.append(element("p", element("code", texts[part])))
        if part in formulas:
            citation, text = formulas[part]
            made.append(formula(text, f"{part} by {citation}"))
        claims = (_claim(case, v, verbose, ids) for v in case.verdicts if v.claim.part == part)
        made.append(element("ul", *claims, class_="claims"))
        yield made


def _claim(case: Case, verdict: Verdict, verbose: bool, ids: Counter[str]) -> Element:
    claim = verdict.claim
    where = _place(ids, "/".join(filter(None, (case.name, claim.part, claim.prop.key))))
    rests = f" ({claim.provenance})" if claim.provenance and claim.provenance not in claim.text else ""
    status = "CONTRADICTION" if case.contradicts(verdict) else verdict.status.value
    link = _permalink(where, f"{claim.part} {claim.prop.words}")
    line = element("div", _status(status, case.word(verdict)), f"{claim.text}{rests} ", link)
    made = element("li", id=where)
    if verdict.counterexample is not None and verdict.cause:
        part, key = verdict.explained_by
        words = next(v.claim.prop.words for v in case.verdicts if v.claim.prop.key == key)
        wrong = verdict.counterexample
        told = "; ".join(filter(None, (wrong.statement, wrong.extent, *wrong.damage)))
        follows = element("summary", f"follows from {part} {words}".replace("  ", " "))
        made.extend([line, element("details", follows, *_paragraphs([told]), class_="follows")])
    elif verdict.counterexample is not None:
        made.extend([line, _counterexample(verdict.counterexample)])
        made.extend([element("code", str(verdict.place))] if verdict.place is not None else ())
    else:
        made.append(line)
    evidence = [element("li", " ".join(describe(case, e, verbose).split())) for e in verdict.evidence]
    if evidence:
        made.append(element("ul", *evidence, class_="checks"))
    elif verdict.reason:
        made.append(element("div", verdict.reason, class_="checks"))
    return made


def _counterexample(wrong: Counterexample, briefly: bool = False) -> Element:
    """Return a counterexample; `briefly` what is wrong and the line of the source, for above its picture."""
    made = element("div", class_="wrong")
    excerpt = [line for line in wrong.damage if EXCERPT.match(line)]
    damage = [line for line in wrong.damage if not EXCERPT.match(line)]
    extent = f"({wrong.extent})" if wrong.extent else ""
    stated = [wrong.statement] if briefly else [wrong.statement, wrong.arithmetic, extent]
    made.extend(_paragraphs(line for line in stated if line))
    made.extend([element("pre", "\n".join(excerpt), class_="excerpt", tabindex="0")] if excerpt else [])
    if briefly:
        return made
    made.extend(_paragraphs(damage))
    if not wrong.reproduced:
        made.append(element("p", "Plain arithmetic does not reproduce this: the fault is in Lanecheck."))
    if wrong.isa:
        made.append(formula(wrong.isa, "the ISA's formula"))
    for word, text in (("repair", wrong.repair), ("replay", wrong.replay)):
        if text:
            made.append(element("div", element("b", word), element("pre", text)))
    return made


def _paragraphs(lines: Iterable[str]) -> list[Element]:
    return [element("p", line) for line in lines]


def _colour(case: Case) -> str:
    """Return the status whose colour a headline has: VERIFIED only for what was compared with an instruction."""
    return "PROVED" if case.alone is not None and case.status == "VERIFIED" else case.status


def _status(status: str, shown: str = "") -> Element:
    return element("span", shown or status, class_=f"status {status}")


def _permalink(where: str, what: str) -> Element:
    return element("a", "#", class_="permalink", href=f"#{quote(where)}", aria_label=f"Link to {what.strip()}")


def _place(ids: Counter[str], text: str) -> str:
    """Return an id that no other element of the page has: the text without blanks, numbered if not the first."""
    name = "_".join(text.split()) or "_"
    ids[name] += 1
    return name if ids[name] == 1 else f"{name}~{ids[name]}"
