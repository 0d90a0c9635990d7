# SPDX-License-Identifier: Apache-2.0
"""What is a claim and what is UNCHECKED: each rule has a test that is verified and a twin that must not be."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.messages import NOT_DECISIVE
from tests.verify.capture.logs import ADD, SIZE, Log, decide, only
from verify.capture.decisions import Decision, Judge
from verify.capture.session import KernelSession
from verify.kernel.data.values import Values


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def add_decision(log: Log, name: str = "torch.Tensor.add", asserted: object = None) -> Decision:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    _, _, written = log.launch([x, y, out])
    log.compare(written, log.op(name, log.operand(x), log.operand(y)))
    return only(log, asserted=asserted)


def test_a_sum_is_verified(log: Log) -> None:
    decision = add_decision(log)
    assert (decision.status, decision.text) == ("VERIFIED", "out[i] = (x[i] + y[i])")
    assert decision.name == "launch 1: values"


def test_another_function_is_refuted(log: Log) -> None:
    decision = add_decision(log, "torch.Tensor.sub")
    assert decision.status == "REFUTED"
    assert "wrong element" in decision.report()


def test_a_reference_is_read_after_the_launch_too(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    later = log.launch([x, y, out])
    log.compare(later[2], log.op("torch.Tensor.add", log.operand(later[0]), log.operand(later[1])))
    assert only(log).status == "VERIFIED"


def test_a_reference_over_what_the_launch_wrote_is_none(log: Log) -> None:
    """`kernel(x, y, x)` and then `x + y`, which has the new x."""
    x, y = log.draw(), log.draw()
    later = log.launch([x, y, x])
    log.compare(later[2], log.op("torch.Tensor.add", log.operand(later[0]), log.operand(y)))
    decision = only(log)
    assert decision.status == "UNCHECKED"
    assert decision.safe


def test_a_sum_in_place_is_compared_with_the_old_numbers(log: Log) -> None:
    x, y = log.draw(), log.draw()
    reference = log.op("torch.Tensor.add", log.operand(x), log.operand(y))
    later = log.launch([x, y, x])
    log.compare(later[2], reference)
    assert only(log).status == "VERIFIED"


def test_a_comparison_that_the_test_does_not_rest_on_is_no_claim(log: Log) -> None:
    decision = add_decision(log, asserted=[])
    assert decision.status == "UNCHECKED"
    assert f"{NOT_DECISIVE} (test_x.py:11)" in decision.report()


def test_a_reference_by_another_kernel_is_none(log: Log) -> None:
    x, y, out, second = log.draw(), log.draw(), log.op("torch.empty"), log.op("torch.empty")
    result = log.launch([x, y, out])[2]
    two = log.launch([x, y, second])[2]
    log.compare(result, two)
    assert {decision.status for decision in decide(log)} == {"UNCHECKED"}


def test_a_reference_over_what_another_kernel_wrote_is_none(log: Log) -> None:
    x, y, out, made = log.draw(), log.draw(), log.op("torch.empty"), log.op("torch.empty")
    z = log.launch([x, y, made])[2]
    written = log.launch([x, y, out])[2]
    log.compare(written, log.op("torch.Tensor.add", log.operand(z), log.operand(y)))
    last = decide(log)[-1]
    assert (last.status, "computed by a kernel, launch 1" in last.text) == ("UNCHECKED", True)


CHAINS = {  # what is compared with ((x + y) + x), given x, y, and t = x + y as the first launch left it
    "the sum": (lambda log, x, y, t: [x, y, x], "VERIFIED", "out[i] = ((y[i] + y_1[i]) + y[i]), after launch 1"),
    "another sum": (lambda log, x, y, t: [x, y, y], "REFUTED", "out[i] = ((y[i] + y_1[i]) + y_1[i]), after launch 1"),
    "a part of the sum": (lambda log, x, y, t: [x, y], "REFUTED", "out[i] = (y[i] + y_1[i]), after launch 1"),
    "the first result": (lambda log, x, y, t: [t, x], "VERIFIED", "out[i] = (x[i] + y[i])"),
    "other data": (lambda log, x, y, t: [x, y, log.draw()], "UNCHECKED", "which the kernel isn't given (test_x.py:11)"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_launches_is_one_claim(log: Log, name: str) -> None:
    make, status, words = CHAINS[name]
    x, y, made, out = log.draw(), log.draw(), log.op("torch.empty"), log.op("torch.empty")
    later, _, t = log.launch([x, y, made])
    written = log.launch([t, later, out])[2]
    first, *rest = make(log, x, y, t)
    for term in rest:
        first = log.op("torch.Tensor.add", log.operand(first), log.operand(term))
    log.compare(written, first)
    decisions = decide(log)
    assert [decision.status for decision in decisions] == ["UNCHECKED", status]
    assert words in decisions[1].report()
    assert decisions[0].safe


@pytest.mark.parametrize("wrong", ["by hand", "twice"])
def test_a_chain_that_is_broken_is_unchecked(log: Log, wrong: str) -> None:
    """What torch makes of the first result is given to the second launch; or the first has two configurations."""
    x, y, made, out = log.draw(), log.draw(), log.op("torch.empty"), log.op("torch.empty")
    t = log.launch([x, y, made])[2]
    if wrong == "by hand":
        t = log.op("torch.Tensor.mul", log.operand(t), 2)
    else:
        log.events[0]["variants"] *= 2
    written = log.launch([t, x, out])[2]
    both = log.op("torch.Tensor.add", log.operand(x), log.operand(y))
    log.compare(written, log.op("torch.Tensor.add", log.operand(both), log.operand(x)))
    assert decide(log)[-1].status == "UNCHECKED"


def test_an_operation_that_is_not_in_the_table_is_named(log: Log) -> None:
    decision = add_decision(log, "torch.Tensor.lerp")
    assert (decision.status, "lerp" in decision.text) == ("UNCHECKED", True)


def test_memory_that_changed_unseen_is_named(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    changed = log.add("unknown", why="its memory changed without an operation that was seen", of=[x])
    log.compare(written, log.op("torch.Tensor.add", log.operand(changed), log.operand(y)))
    decision = only(log)
    assert (decision.status, "changed without an operation" in decision.text) == ("UNCHECKED", True)


def test_a_side_that_changed_after_the_launch_is_none(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    changed = log.op("torch.Tensor.mul_", log.operand(written), 2, changed=True)
    log.compare(changed, log.op("torch.Tensor.add", log.operand(x), log.operand(y)))
    assert only(log).status == "UNCHECKED"


def test_a_number_that_a_kernel_would_have_written_is_read(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    log.use(log.op("torch.Tensor.max", log.operand(written)))
    log.compare(written, log.op("torch.Tensor.add", log.operand(x), log.operand(y)))
    decision = only(log)
    assert (decision.status, "item (test_x.py:10) reads a number" in decision.text) == ("UNCHECKED", True)


def test_a_number_of_an_input_may_be_read(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    later = log.launch([x, y, out])
    log.use(later[0])
    log.compare(later[2], log.op("torch.Tensor.add", log.operand(x), log.operand(y)))
    assert only(log).status == "VERIFIED"


def test_a_number_that_was_not_computed_is_read(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    log.use(log.op("torch.matmul", log.operand(x), log.operand(y), valueless="it is large"))
    written = log.launch([x, y, out])[2]
    log.compare(written, log.op("torch.Tensor.add", log.operand(x), log.operand(y)))
    decision = only(log)
    assert (decision.status, "was not computed: it is large" in decision.text) == ("UNCHECKED", True)


def test_what_the_autotuner_changes_before_a_launch_is_not_what_the_test_made(log: Log) -> None:
    """`x += y`, autotuned: Triton adds y many times while it times the kernel, unless it restores x."""
    for timed, wanted in ((["x"], "UNCHECKED"), ([], "VERIFIED"), (["y"], "VERIFIED")):
        fresh = Log(log.folder)
        x, y = fresh.draw(), fresh.draw()
        both = fresh.op("torch.Tensor.add", fresh.operand(x), fresh.operand(y))
        later = fresh.launch([x, y, x], timed=timed)
        fresh.compare(later[2], both)
        decision = only(fresh)
        assert decision.status == wanted
        assert ("the autotuner runs the kernel to time it, and x is in none" in decision.text) == bool(timed == ["x"])


def test_an_output_of_zeros_may_be_timed(log: Log) -> None:
    """The kernel writes each of its elements, so it doesn't rest on the zeros."""
    x, y, out = log.draw(), log.draw(), log.op("torch.zeros")
    written = log.launch([x, y, out], timed=["x", "y", "out"])[2]
    log.compare(written, log.op("torch.Tensor.add", log.operand(x), log.operand(y)))
    assert only(log).status == "VERIFIED"


def test_an_output_that_rests_on_zeros_may_not_be_timed(log: Log) -> None:
    adds = ADD.replace("st.global.f32 [%rd7], %f3;", "red.global.add.f32 [%rd7], %f3;")
    for timed, wanted in ((["out"], "UNCHECKED"), ([], "VERIFIED")):
        fresh = Log(log.folder, adds)
        x, y, out = fresh.draw(), fresh.draw(), fresh.op("torch.zeros")
        written = fresh.launch([x, y, out], timed=timed)[2]
        fresh.compare(written, fresh.op("torch.Tensor.add", fresh.operand(x), fresh.operand(y)))
        assert only(fresh).status == wanted


def test_floats_of_the_output_that_become_whole_numbers_are_no_claim(log: Log) -> None:
    """`out.int() == (x + y).int()` holds for other sums too."""
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    both = log.op("torch.Tensor.add", log.operand(x), log.operand(y))
    whole = log.op("torch.Tensor.int", log.operand(written), dtype="int32")
    log.compare(log.see(whole, dtype="int32"), log.see(both))
    decision = only(log)
    assert (decision.status, decision.safe) == ("UNCHECKED", True)
    assert "int (test_x.py:7) changes what the launch wrote: it is int32 then" in decision.text


def test_a_part_that_is_compared_is_no_claim(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    some = {"shape": [SIZE - 1]}
    reference = log.op(
        "torch.Tensor.add", log.operand(x, **some), log.operand(y, **some), layout={"offset": 0, "strides": [1], **some}
    )
    log.compare(log.see(written, **some), log.see(reference, **some))
    decision = only(log)
    assert (decision.status, "a part of out" in decision.text) == ("UNCHECKED", True)


@pytest.mark.parametrize("of_the_data", [True, False])
def test_a_reference_that_may_be_of_these_data_alone_refutes_nothing(log: Log, of_the_data: bool) -> None:
    """`x - x.sum().item()` is a number for these data: a kernel that sums x is not wrong. Twin: a number of nothing."""
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    log.use(log.op("torch.Tensor.sum", log.operand(x)) if of_the_data else log.draw())
    log.compare(written, log.op("torch.Tensor.sub", log.operand(x), 2.65))
    decision = only(log)
    assert decision.status == ("UNCHECKED" if of_the_data else "REFUTED")
    assert ("reads a number that x gives (item, test_x.py:10)" in decision.text) == of_the_data


def test_data_that_is_special_refutes_nothing(log: Log) -> None:
    """`y` is x: a kernel that adds x twice is wrong for other data, and right for these."""
    x, out = log.draw(), log.op("torch.empty")
    same = log.op("torch.Tensor.clone", log.operand(x))
    written = log.launch([x, same, out])[2]
    log.compare(written, log.op("torch.Tensor.mul", log.operand(x), 2))
    decision = only(log)
    assert (decision.status, "made of the same data" in decision.text) == ("UNCHECKED", True)


def test_a_reference_over_a_tensor_that_the_kernel_is_not_given(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    log.compare(written, log.op("torch.Tensor.add", log.operand(x), log.operand(log.draw())))
    decision = only(log)
    assert (decision.status, "which the kernel isn't given" in decision.text) == ("UNCHECKED", True)


def test_a_copy_and_an_exact_cast_are_the_same_numbers(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    copies = [log.op("torch.Tensor.to", log.operand(content)) for content in (x, y)]
    written = log.launch([*copies, out])[2]
    sides = [log.op("torch.Tensor.double", log.operand(content), dtype="float64") for content in (x, y)]
    reference = log.op("torch.Tensor.add", *(log.operand(side, dtype="float64") for side in sides), dtype="float64")
    left = log.op("torch.Tensor.double", log.operand(written), dtype="float64")
    log.compare(log.see(left, dtype="float64"), log.see(reference, dtype="float64"))
    assert only(log).status == "VERIFIED"


def test_a_rounded_copy_is_not_the_same_numbers(log: Log) -> None:
    x, y, out = log.draw(dtype="float64"), log.draw(), log.op("torch.empty")
    rounded = log.op("torch.Tensor.float", log.operand(x, dtype="float64"))
    written = log.launch([rounded, y, out])[2]
    reference = log.op("torch.Tensor.add", log.operand(x, dtype="float64"), log.operand(y), dtype="float64")
    log.compare(written, log.see(reference, dtype="float64"))
    assert only(log).status == "UNCHECKED"


def test_without_a_comparison_there_is_safety_alone(log: Log) -> None:
    log.launch([log.draw(), log.draw(), log.op("torch.empty")])
    decision = only(log)
    assert (decision.name, decision.status, decision.safe) == ("launch 1: safety only", "UNCHECKED", True)


MOST = "cvt.rzi.s32.f32 %r1, %f3;\n  atom.global.max.s32 %r2, [%rd7], %r1"
ATOMIC = ADD.replace("st.global.f32 [%rd7], %f3", MOST)


def test_a_launch_that_adds_atomically_is_safe_whatever_its_data_are(tmp_path: Path) -> None:
    assert ATOMIC != ADD
    log = Log(tmp_path, ATOMIC)
    log.launch([log.draw(), log.draw(), log.op("torch.zeros")])
    decision = only(log)
    assert (decision.status, decision.safe) == ("UNCHECKED", True), decision.text
    log = Log(tmp_path, ATOMIC.replace("setp.ge.s32", "setp.gt.s32"))
    log.launch([log.draw(), log.draw(), log.op("torch.zeros")])
    assert not only(log).safe


def test_an_open_comparison_says_whether_the_launch_is_safe(tmp_path: Path) -> None:
    decision = add_decision(Log(tmp_path, ATOMIC))
    assert (decision.status, decision.safe, "SAFE to run" in decision.text) == ("UNKNOWN", False, True), decision.text
    decision = add_decision(Log(tmp_path, ATOMIC.replace("setp.ge.s32", "setp.gt.s32")))
    assert decision.status in ("REFUTED", "UNKNOWN") and "SAFE to run" not in decision.text


def test_an_access_out_of_bounds_is_refuted_without_a_comparison(tmp_path: Path) -> None:
    log = Log(tmp_path, ADD.replace("setp.ge.s32", "setp.gt.s32"))
    log.launch([log.draw(), log.draw(), log.op("torch.empty")])
    assert only(log).status == "REFUTED"


def test_a_sum_that_is_rounded_on_the_way_is_not_decided(tmp_path: Path) -> None:
    rounded = "  .reg .b16 %h1;\n  cvt.rn.f16.f32 %h1, %f3;\n  cvt.f32.f16 %f3, %h1;\n  st.global"
    decision = add_decision(Log(tmp_path, ADD.replace("  st.global", rounded)))
    assert (decision.status, decision.safe) == ("UNCHECKED", True)
    assert "rounds a value that the reference doesn't round" in decision.text


def test_an_access_beyond_a_part_of_a_tensor_is_not_decided(tmp_path: Path) -> None:
    log = Log(tmp_path, ADD.replace("setp.ge.s32", "setp.gt.s32"))
    log.launch([log.draw(), log.draw(), log.op("torch.empty")])
    for tensor in log.events[0]["variants"][0]["tensors"]:
        tensor["elements"] = 2 * SIZE
    decision = only(log)
    assert (decision.status, "parts of larger tensors" in decision.text) == ("UNCHECKED", True)


def test_a_launch_that_no_claim_describes(log: Log) -> None:
    log.launch([log.draw(), log.draw(), log.op("torch.empty")], problem="a cluster of 2 CTAs")
    decision = only(log)
    assert (decision.status, decision.safe, "a cluster of 2 CTAs" in decision.text) == ("UNCHECKED", False, True)


def test_views_of_one_tensor_that_overlap_are_not_described(log: Log) -> None:
    x, y = log.draw(), log.draw()
    log.launch([x, y, x])
    log.events[0]["variants"][0]["tensors"][2]["offset"] = 1
    decision = only(log)
    assert (decision.status, "different views of one tensor" in decision.text) == ("UNCHECKED", True)


def test_the_author_of_a_test_may_say_what_a_kernel_computes(log: Log) -> None:
    log.launch([log.draw(), log.draw(), log.op("torch.empty")])
    right, wrong, stranger = "out[i] = x[i] + y[i]", "out[i] = x[i]", "q[i] = x[i]"
    decisions = decide(log, claims=[right, wrong, stranger])
    assert [(decision.name, decision.status, decision.claimed) for decision in decisions] == [
        ("launch 1: claim", "VERIFIED", True),
        ("launch 1: claim 2", "REFUTED", True),
    ]
    (alone,) = decide(log, claims=[stranger])
    assert (alone.name, alone.status) == ("launch 1: safety only", "UNCHECKED")


def test_a_claim_whose_indices_do_not_fit_is_unchecked(log: Log) -> None:
    log.launch([log.draw(), log.draw(), log.op("torch.empty")])
    log.events[0]["variants"][0]["tensors"][1]["shape"] = [SIZE - 1]
    texts = {
        "out[i] = x[i] + y[i]": "the index i has 70 values, and 69 in y",
        "out[i] = x[i,j]": "x has 1 dimensions, the claim gives it 2 indices",
    }
    for decision, words in zip(decide(log, claims=list(texts)), texts.values(), strict=True):
        assert (decision.status, words in decision.text) == ("UNCHECKED", True)
    log.launches, log.events = 0, []
    x = log.draw()
    log.launch([x, log.draw(), x])
    (same,) = decide(log, claims=["out[i] = x[i]"])
    assert (same.status, "out is the same tensor as x" in same.text) == ("UNCHECKED", True)


def decide_hurried(log: Log, operation: str = "torch.Tensor.add") -> Decision:
    """The decision on a launch for which there is no time."""
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    later = log.launch([x, y, out])
    log.compare(later[2], log.op(operation, log.operand(later[0]), log.operand(later[1])))
    judge = Judge(KernelSession(1, 0.0), log.record(), log.folder)
    return judge.decide(*next(iter(judge.plan())))


def test_a_launch_that_takes_too_long_is_compared_in_part(log: Log) -> None:
    decision = decide_hurried(log)
    assert (decision.status, decision.text) == ("PARTIAL", "PARTIAL: 1 of 3 CTAs; out[i] = (x[i] + y[i])")
    assert "1 of 3 CTAs were interpreted, and nothing is wrong there" in decision.report()
    assert "VERIFIED" not in decision.report()


@pytest.mark.long
def test_tables_of_large_tensors_take_none_of_the_time_of_a_launch(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were counted: at 4096 x 4096 nothing was left of the time, and no CTA was interpreted."""
    made = Values.variables

    def take_long(*given: Any) -> int:
        time.sleep(1)
        return made(*given)

    monkeypatch.setattr(Values, "variables", take_long)
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    later = log.launch([x, y, out])
    log.compare(later[2], log.op("torch.Tensor.add", log.operand(later[0]), log.operand(later[1])))
    judge = Judge(KernelSession(1, 2.5), log.record(), log.folder)
    assert judge.decide(*next(iter(judge.plan()))).status == "VERIFIED"


def test_a_part_refutes_what_it_shows(log: Log) -> None:
    decision = decide_hurried(log, "torch.Tensor.sub")
    assert decision.status == "REFUTED"
    assert "32 of 70 elements are wrong" in decision.report()


def test_ctas_that_exchange_data_are_no_part(tmp_path: Path) -> None:
    """The sum of all CTAs is in no single one of them."""
    decision = decide_hurried(Log(tmp_path, ADD.replace("st.global.f32 [%rd7], %f3", "red.global.add.f32 [%rd7], %f3")))
    assert (decision.status, "its CTAs are not independent (line 26: red.global" in decision.text) == (
        "UNCHECKED",
        True,
    )


def test_a_part_is_not_compared_with_what_another_cta_may_have_changed(tmp_path: Path) -> None:
    """A second store through x, which no thread executes here."""
    more = "  @%p1 st.global.f32 [%rd5], %f3;\nDONE:"
    decision = decide_hurried(Log(tmp_path, ADD.replace("DONE:\n", more + "\n")))
    assert decision.text == "PARTIAL: 1 of 3 CTAs; the reference reads x after the kernel wrote it"


def test_equal_launches_are_interpreted_once(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    for _ in range(3):
        out = log.launch([x, y, out])[2]
    session = KernelSession(1)
    judge = Judge(session, log.record(), log.folder)
    assert len([judge.decide(*entry) for entry in judge.plan()]) == 3
    assert len(session.known) == 1
