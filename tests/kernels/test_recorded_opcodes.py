# SPDX-License-Identifier: Apache-2.0
"""Every form of every opcode: the interpreter computes the bits that a GPU recorded, or has no meaning for them.

What is not equal is in `recorded_opcodes.toml`, form by form: a meaning that is lost fails here, and so does one that
is gained and not taken from the list.
"""

from __future__ import annotations

import numpy as np
import pytest

from gpu_checks.opcodes.forms import LEFT_OUT
from gpu_checks.opcodes.rejected import accepted_forms
from gpu_checks.opcodes.text import Probe
from isa_tables.opcode_signatures import spellings
from isa_tables.semantics import meaning
from tests.kernels.recorded_opcodes import (
    Outcome,
    compare_bits,
    equal_without_guards,
    interpret,
    outcome,
    payload_alone,
    read_list,
)
from verify.kernel.instructions import integers

# Classes in which some lanes of every form have no meaning, or differ under a guard (`test`); the others are compared.
_PARTLY = frozenset(("atomic", "count_from", "dot", "extremum", "quotient", "function", "test"))
WRITE = "if that is meant: python -m tests.kernels.recorded_opcodes --write"
# All forms are interpreted once a run, by the first of these tests.
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("recorded opcodes")]


@pytest.fixture(scope="module")
def comparison() -> Outcome:
    return outcome()


def test_bits_are_those_of_the_gpu_or_the_difference_is_listed_with_its_reason(comparison: Outcome) -> None:
    allowed = {name for difference in read_list().differences for name in difference.forms}
    differ = comparison.having("differs")
    assert [
        f"{name}: {comparison.compared[name].why}" for name in comparison.compared if name in differ - allowed
    ] == []
    assert allowed - differ == set(), "these are listed as different, and are not"
    for difference in read_list().differences:
        assert difference.section and difference.reason
        for name in difference.forms if difference.nan else ():
            assert payload_alone(comparison.seen[name], comparison.recording.forms[name].results, difference.nan), name
        for name in difference.forms if difference.guarded else ():
            assert equal_without_guards(comparison.seen[name], comparison.recording.forms[name].results), name


def test_the_forms_that_lost_their_guard_are_those_that_a_row_names(comparison: Outcome) -> None:
    """`loses_guard` of the rows is what was recorded: of forms that are equal, the guarded half is equal too."""
    opcodes = {name: meaning(name.partition(" ")[0]) for name in comparison.compared}
    named = {name for name, semantics in opcodes.items() if semantics is not None and semantics.loses_guard}
    lost = {name for difference in read_list().differences if difference.guarded for name in difference.forms}
    assert lost - named == set() and len(lost) > 300
    assert named & comparison.having("equal") == set()


def test_a_right_use_of_an_opcode_is_no_error(comparison: Outcome) -> None:
    alarms = comparison.having("alarm")
    assert [f"{name}: {comparison.compared[name].why}" for name in comparison.compared if name in alarms] == []


def test_no_form_loses_or_gains_a_meaning_without_a_word(comparison: Outcome) -> None:
    before, now = read_list().no_meaning, comparison.having("no meaning")
    assert now - before == set(), WRITE
    assert before - now == set(), WRITE


def test_every_form_is_recorded(comparison: Outcome) -> None:
    assert comparison.absent == read_list().not_recorded, WRITE
    assert {form.fault for form in comparison.recording.forms.values()} == {""}


def test_every_row_that_is_probed_is_compared(comparison: Outcome) -> None:
    groups = {form.group: {"equal": 0, "other": 0} for form in accepted_forms() if form.name in comparison.compared}
    for form in accepted_forms():
        if form.name in comparison.compared:
            groups[form.group]["equal" if comparison.compared[form.name].status == "equal" else "other"] += 1
    assert {row.group for row in spellings()} - groups.keys() - LEFT_OUT.keys() <= {
        form.group for form in accepted_forms() if form.name in comparison.absent
    }
    assert sum(counts["equal"] for counts in groups.values()) > 4000
    assert {group for group, counts in groups.items() if not counts["equal"]} <= _PARTLY


def test_one_wrong_bit_is_seen_in_every_form(comparison: Outcome) -> None:
    for number, name in enumerate(sorted(comparison.having("equal"))):
        results = [np.frombuffer(octets, np.uint8).copy() for octets in comparison.recording.forms[name].results]
        some = results[number % len(results)]
        some[number * 31 % some.size] ^= 1 << number % 8
        assert compare_bits(comparison.seen[name], [array.tobytes() for array in results]).status == "differs", name


def test_a_meaning_that_is_wrong_in_one_bit_is_seen(comparison: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = next(Probe(form) for form in accepted_forms() if form.name == "popc.b32 d, a")
    assert comparison.compared[probe.form.name].status == "equal"
    monkeypatch.setitem(
        integers.BINDS,
        "count",
        integers.plain(lambda meaning, bits: integers.count_bits(meaning, bits) ^ (bits == 33), ""),
    )
    seen = interpret([probe])[probe.form.name]
    assert compare_bits(seen, comparison.recording.forms[probe.form.name].results).status == "differs"
