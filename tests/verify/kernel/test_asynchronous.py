# SPDX-License-Identifier: Apache-2.0
"""Tensor loads and mbarriers: a thread loads a box, waits for its bytes and stores them; and what goes wrong."""

from __future__ import annotations

import pytest

from tests.messages import FAILED_WAIT, UNORDERED
from verify.core.errors import SpecError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

# A CTA of 32 threads copies a box of 8 x 16 f32 (k, m): thread t stores elements t, t + 32, t + 64, t + 96.
COPY = """.version 8.0
.target sm_90a
.address_size 64
.entry copy(.param .align 64 .b8 map[128], .param .u64 out)
{
.reg .pred %p<4>; .reg .b32 %r<30>; .reg .f32 %f<9>; .reg .b64 %d<20>;
.shared .align 128 .b8 tile[512];
.shared .align 8 .b8 bar[8];
mov.u32 %r1, %tid.x;
mov.b64 %d1, map;
cvta.param.u64 %d2, %d1;
mov.u32 %r2, tile;
mov.u32 %r3, bar;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra START;
mbarrier.init.shared::cta.b64 [%r3], 1;
fence.mbarrier_init.release.cluster;
START:
bar.sync 0;
mov.u32 %r10, %ctaid.x;
shl.b32 %r11, %r10, 4;
@%p1 bra WAIT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d2, {0, %r11}], [%r3];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
@!%p2 bra WAIT;
shl.b32 %r4, %r1, 2; add.s32 %r5, %r2, %r4;
ld.shared.f32 %f1, [%r5]; ld.shared.f32 %f2, [%r5+128]; ld.shared.f32 %f3, [%r5+256]; ld.shared.f32 %f4, [%r5+384];
ld.param.u64 %d3, [out];
mul.wide.u32 %d4, %r10, 512; add.s64 %d3, %d3, %d4;
mul.wide.u32 %d5, %r1, 4; add.s64 %d3, %d3, %d5;
st.global.f32 [%d3], %f1; st.global.f32 [%d3+128], %f2; st.global.f32 [%d3+256], %f3; st.global.f32 [%d3+384], %f4;
ret;
}
"""
CLAIM = {
    "grid": 2,
    "block": 32,
    "sizes": {"M": 32, "K": 8},
    "claim": "C[m,k] = A[m,k]",
    "params": [{"map": "A", "box": [8, 16]}, "C"],
    "arrays": {
        "A": {"dims": "mk", "type": "f32", "strides": [12, 1]},
        "C": {"dims": "mk", "type": "f32", "strides": ["K", 1], "out": True},
    },
}


def run(old: str = "", new: str = "", **claim: object) -> LaunchOutcome:
    """The outcome of the copy, one part of its text exchanged."""
    assert old in COPY
    (outcome,) = check(COPY.replace(old, new, 1), claim_of(CLAIM | claim), seed=3)
    return outcome


def test_a_box_that_is_waited_for_is_verified() -> None:
    outcome = run()
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    assert outcome.compared == 256


def test_the_address_of_a_map_may_have_32_bits() -> None:
    """As Triton writes it for descriptors of the host."""
    outcome = run("mov.b64 %d1, map;", "mov.b32 %r20, map; cvt.u64.u32 %d1, %r20;")
    assert (outcome.status, outcome.compared) == ("VERIFIED", 256)


def test_what_lies_outside_of_the_array_is_zero() -> None:
    """The second CTA's box begins at row 16, of an array that ends at 20."""
    arrays = {"A": {**CLAIM["arrays"]["A"], "dims": ["j", "k"]}, "C": CLAIM["arrays"]["C"]}  # type: ignore[index]
    outcome = run(sizes={"M": 32, "J": 20, "K": 8}, arrays=arrays, claim="C[m,k] = 0 * C[m,k]")
    assert outcome.status == "REFUTED"
    (text,) = [finding.text for finding in outcome.findings if finding.severity == "value"]
    assert "C[m=0,k=0]" in text and "160 of 256" in text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;", "WAIT:", "has not waited"),
        ("[%r3], 512;", "[%r3], 256;", "wait for an mbarrier for ever"),
        ("[%r3], 512;", "[%r3], 1024;", "wait for an mbarrier for ever"),
        ("[%r3], 0;\n@!", "[%r3], 1;\n@!", "wait for an mbarrier for ever"),
        ("[%r3], 1;\nfence", "[%r3], 2;\nfence", "wait for an mbarrier for ever"),
        ("bar.sync 0;", "", f"which thread 0 initialises; {UNORDERED}"),
        ("[%d2, {0, %r11}]", "[%d2, {%r11, 0}]", "C[m="),
        ("[%r2], [%d2", "[%r2+16], [%d2", "no multiple of 128"),
        ("mbarrier.init.shared::cta.b64 [%r3], 1;", "", "never initialised"),
    ],
)
def test_a_wrong_use_is_found(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "REFUTED"
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "ret;",
            "@%p1 bra END;\nmbarrier.inval.shared::cta.b64 [%r3];\nEND:\nret;",
            "nothing orders it after the last use",
        ),
        ("ret;", "bar.sync 0;\n@%p1 bra END;\nmbarrier.inval.shared::cta.b64 [%r3];\nEND:\nret;", ""),
        ("WAIT:\n", "bar.sync 0;\nmbarrier.inval.shared::cta.b64 [%r3];\nWAIT:\n", "never initialised"),
    ],
)
def test_a_barrier_is_invalidated_after_its_last_use(old: str, new: str, words: str) -> None:
    """By two warps, of which nothing but bar.sync orders one after the other."""
    outcome = run(old, new) if "WAIT" in old else wide(old, new)
    texts = [finding.text for finding in outcome.findings]
    assert (outcome.status, texts) == ("VERIFIED", []) if not words else any(words in text for text in texts), texts


def wide(old: str, new: str) -> LaunchOutcome:
    """The outcome of the copy by 64 threads, of which the second 32 wait and store nothing."""
    text = COPY.replace(old, new, 1).replace(
        "shl.b32 %r4, %r1, 2;", "setp.gt.u32 %p3, %r1, 31;\n@%p3 bra LAST;\nshl.b32 %r4, %r1, 2;"
    )
    (outcome,) = check(text.replace(new, f"LAST:\n{new}"), claim_of(CLAIM | {"block": 64}), seed=3)
    return outcome


AGAIN = """bar.sync 0; @%p1 bra END;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d2, {0, %r11}], [%r3];
END: ret;"""


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [("[%r3], 0;\n@!", "[%r3], 2;\n@!", "parity of a phase"), ("ret;", AGAIN, "tensor load on its way")],
)
def test_a_rule_of_the_letter_is_a_warning(old: str, new: str, kind: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "VERIFIED" and {finding.kind for finding in outcome.findings} == {kind}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ([{"unused": True}, "C"], "no tensor map for params[0]"),
        ([{"map": "A", "box": [8]}, "C"], "do not have 2 axes"),
        ([{"map": "A", "box": [8, 16], "swizzle": "16B"}, "C"], "no meaning for the swizzle '16B'"),
    ],
)
def test_a_claim_without_the_map_leaves_it_open(params: list[object], words: str) -> None:
    outcome = run(params=params)
    assert outcome.status == "UNKNOWN"
    assert any(words in finding.text for finding in outcome.findings)


def test_one_lane_is_elected() -> None:
    """elect.sync in place of the comparison with 0: the same thread, in each warp of one."""
    outcome = run("setp.ne.u32 %p1, %r1, 0;", "elect.sync %r20|%p3, 0xffffffff;\nnot.pred %p1, %p3;")
    assert outcome.status == "VERIFIED"


def test_a_swizzled_box_is_read_back_at_its_swizzled_place() -> None:
    assert run(params=[{"map": "A", "box": [8, 16], "swizzle": "128B"}, "C"]).status == "REFUTED"


STRUCT = {"struct": "<256xi", "values": ["M"], "maps": {"128": {"map": "A", "box": [8, 16]}}}
INSIDE = COPY.replace("map[128]", "map[260]").replace(
    "cvta.param.u64 %d2, %d1;", "cvta.param.u64 %d2, %d1; add.s64 %d2, %d2, 128;"
)


MAP_READ = INSIDE.replace("ld.param.u64 %d3", "ld.param.u32 %r9, [map+252]; ld.param.u64 %d3")


def run_struct(struct: dict[str, object], text: str = INSIDE) -> LaunchOutcome:
    """The outcome of the copy whose map lies in a struct."""
    (outcome,) = check(text, claim_of(CLAIM | {"params": [struct, "C"]}), seed=3)
    return outcome


@pytest.mark.parametrize("text", [INSIDE, COPY.replace("map[128]", "map[260]").replace("%d1, map;", "%d1, map+128;")])
def test_a_map_may_lie_in_a_struct(text: str) -> None:
    outcome = run_struct(STRUCT, text)
    assert (outcome.status, outcome.findings, outcome.compared) == ("VERIFIED", (), 256)


def test_the_wrong_map_of_a_struct_is_refuted() -> None:
    """Of two boxes the kernel has to use the second."""
    arrays = CLAIM["arrays"] | {"B": {"dims": "mk", "type": "f32", "strides": [12, 1]}}  # type: ignore[operator]
    maps = {"0": {"map": "B", "box": [8, 16]}, "128": {"map": "A", "box": [8, 16]}}
    claim = CLAIM | {"params": [STRUCT | {"maps": maps}, "C"], "arrays": arrays}
    for text, status in ((INSIDE, "VERIFIED"), (INSIDE.replace("add.s64 %d2, %d2, 128;", ""), "REFUTED")):
        (outcome,) = check(text, claim_of(claim), seed=3)
        assert outcome.status == status


@pytest.mark.parametrize(
    ("maps", "text", "words"),
    [
        ({"0": {"map": "A", "box": [8, 16]}}, INSIDE, "no tensor map for params[0] at byte 128"),
        ({"192": {"map": "A", "box": [8, 16]}}, INSIDE, "the struct has 320 bytes, the parameter 260"),
        ({"100": {"map": "A", "box": [8, 16]}}, INSIDE, "a tensor map begins at a multiple of 64 bytes"),
        ({"x": {"map": "A", "box": [8, 16]}}, INSIDE, "a tensor map begins at a multiple of 64 bytes"),
        ({"64": {"map": "A", "box": [8]}, "128": {"map": "A", "box": [8]}}, INSIDE, "overlaps the tensor map at 64"),
        ({"128": {"map": "A", "box": "8"}}, INSIDE, "expected a list of integers"),
        ({"128": {"box": [8]}}, INSIDE, "expected { map, box, swizzle }"),
        ([1], INSIDE, "expected a table of tensor maps"),
        (STRUCT["maps"], MAP_READ, "reads bytes 252 to 255"),
    ],
)  # fmt: skip
def test_a_map_in_a_struct_that_is_none_is_refused(maps: object, text: str, words: str) -> None:
    try:
        outcome = run_struct(STRUCT | {"maps": maps}, text)
    except SpecError as error:
        assert words in str(error)
    else:
        assert outcome.status == "UNKNOWN" and words in outcome.findings[0].text


def test_the_other_bytes_of_a_struct_are_read() -> None:
    read = INSIDE.replace(
        "ld.param.u64 %d3, [out]",
        "ld.param.u32 %r9, [map+256]; setp.ne.u32 %p3, %r9, 32; @%p3 trap; ld.param.u64 %d3, [out]",
    )
    assert run_struct(STRUCT, read).status == "VERIFIED"


PREFETCH = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d2, {{{}}}];\nWAIT:"


@pytest.mark.parametrize("first", ["0, %r11", "-800, 1000000"])
def test_a_prefetch_changes_nothing_wherever_its_box_lies(first: str) -> None:
    outcome = run("WAIT:", PREFETCH.format(first))
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (PREFETCH.format("0, 0").replace("[%d2,", "[%d2+64,"), "no tensor map for params[0] at byte 64"),
        ("ld.param.u64 %d9, [out]; " + PREFETCH.format("0, 0").replace("%d2", "%d9"), "no tensor map for address"),
        (PREFETCH.format("0"), "1 coordinates of a tensor of rank 2"),
        (PREFETCH.format("0, 0, 0").replace("2d", "3d"), "do not have 3 axes"),
        (PREFETCH.format("%r29, 0"), "never written is used as a coordinate"),
    ],
)
def test_a_prefetch_of_no_tensor_map_has_no_meaning(new: str, words: str) -> None:
    outcome = run("WAIT:", new)
    assert outcome.status == "UNKNOWN" and any(words in finding.text for finding in outcome.findings), outcome.findings


LOOP = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;"
TRY = """WAIT:
mov.u32 %r25, 0;
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], %r25;
selp.b32 %r26, 1, 0, %p2; setp.ne.s32 %p3, %r26, 0;
@%p3 bra DONE;
mov.u32 %r27, 1000;
AGAIN:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], %r25, %r27;
@%p2 bra DONE;
bra AGAIN;
DONE:
"""


COUNT = """mov.u32 %r25, 0; mov.u64 %d9, %globaltimer;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
selp.b32 %r26, 1, 0, %p2; setp.ne.s32 %p3, %r26, 0;
@%p3 bra DONE;
setp.gt.u32 %p0, %r25, 63;
@%p0 bra SLEEP;
add.u32 %r25, %r25, 1;
bra WAIT;
SLEEP:
mov.u64 %d8, %globaltimer; sub.u64 %d8, %d8, %d9; cvt.u32.u64 %r27, %d8; nanosleep.u32 %r27;
bra WAIT;
DONE:
"""


WAITS = {"again": TRY, "back": TRY.replace("bra AGAIN;\n", "bra WAIT;\n"), "count": COUNT}


@pytest.mark.parametrize("waits", WAITS.values(), ids=WAITS)
def test_a_wait_may_be_tried_before_it_is_made(waits: str) -> None:
    """As CUTLASS does, a failure leads to another wait for the same phase; as libcu++ does, tries are counted."""
    outcome = run(LOOP, waits)
    assert (outcome.status, outcome.findings, outcome.compared) == ("VERIFIED", (), 256)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("DONE:", "DONE:\nadd.u32 %r5, %r25, 0;"),
        ("DONE:", "DONE:\n@%p0 add.u32 %r5, %r5, 0;"),
        ("DONE:", "DONE:\nmov.u64 %d7, %d8;"),
        ("add.u32 %r25, %r25, 1;", "add.u32 %r25, %r25, 1; add.u32 %r3, %r3, 8;"),
        ("add.u32 %r25, %r25, 1;", "add.u32 %r25, %r25, 1; @%p0 bra DONE;"),
        ("add.u32 %r25, %r25, 1;", "add.u32 %r25, %r25, 1; st.shared.u32 [%r2], %r25;"),
        ("selp.b32 %r26, 1, 0, %p2;", "selp.b32 %r26, %r25, 0, %p2;"),
        ("nanosleep.u32 %r27;\nbra WAIT;", "nanosleep.u32 %r27;\nbra SLEEP;"),
        ("@%p3 bra DONE;", "@%p3 bra DONE; bar.sync 0;"),
    ],
)
def test_a_count_of_tries_that_decides_anything_has_no_meaning(old: str, new: str) -> None:
    assert COUNT.count(old) == 1 or old == "DONE:"
    at = COUNT.rindex(old)
    outcome = run(LOOP, COUNT[:at] + new + COUNT[at + len(old) :])
    assert outcome.status == "UNKNOWN" and FAILED_WAIT in outcome.findings[0].text, outcome.findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[%r3], %r25, %r27", "[%r3+8], %r25, %r27"),
        ("[%r3], %r25, %r27", "[%r3], %r1, %r27"),
        ("mov.u32 %r27, 1000;", "mov.u32 %r27, 1000; mov.u32 %r25, 1;"),
        ("mov.u32 %r27, 1000;", "mov.u32 %r27, 1000; st.shared.u32 [%r2], %r27;"),
        ("mov.u32 %r27, 1000;", "INSIDE: mov.u32 %r27, 1000;"),
        ("DONE:", "DONE:\nadd.s32 %r5, %r26, 0;"),
        ("DONE:", "DONE:\n@%p3 add.s32 %r5, %r5, 0;"),
        ("DONE:", "DONE:\nst.shared.u32 [%r2], %r27;"),
        ("@%p2 bra DONE;\nbra AGAIN", "bra DONE;\nbra AGAIN"),
        ("@%p2 bra DONE;\nbra AGAIN", "@%p2 bra START;\nbra AGAIN"),
    ],
)
def test_a_wait_that_is_tried_and_not_made_has_no_meaning(old: str, new: str) -> None:
    assert TRY.count(old) == 1 or old == "DONE:"
    at = TRY.rindex(old)
    text = COPY.replace(LOOP, TRY[:at] + new + TRY[at + len(old) :])
    text = text.replace("ret;", "setp.gt.u32 %p3, %r1, 99; @%p3 bra INSIDE; ret;") if "INSIDE" in new else text
    (outcome,) = check(text, claim_of(CLAIM), seed=3)
    assert outcome.status == "UNKNOWN" and FAILED_WAIT in outcome.findings[0].text, outcome.findings


def test_the_lane_that_is_elected_is_the_lowest_if_the_claim_says_so() -> None:
    """The elected thread loads if it is thread 0: true where elect.sync chooses the lowest lane."""
    elected = "elect.sync %r20|%p3, 0xffffffff;\nsetp.eq.and.u32 %p3, %r1, 0, %p3;\nnot.pred %p1, %p3;"
    assert run("setp.ne.u32 %p1, %r1, 0;", elected).status == "REFUTED"
    outcome = run("setp.ne.u32 %p1, %r1, 0;", elected, elected="lowest")
    assert (outcome.status, outcome.findings) == (
        "VERIFIED",
        (),
    ) and "elect.sync chooses the lowest lane" in outcome.domain
    with pytest.raises(SpecError, match="expected one of any, lowest"):
        run(elected="first")


TWO = {  # two heads of rows, whose tensor map has rows before heads
    "sizes": {"M": 16, "H": 2, "K": 8}, "grid": 2, "claim": "C[h,m,k] = A[m,h,k]",
    "params": [{"map": "A", "box": [8, 16, 1], "dims": "kmh"}, "C"],
    "arrays": {
        "A": {"dims": "mhk", "type": "f32", "strides": ["H*K", "K", 1]},
        "C": {"dims": "hmk", "type": "f32", "strides": ["M*K", "K", 1], "out": True},
    },
}  # fmt: skip
HEADS = ("shl.b32 %r11, %r10, 4;", "mov.u32 %r11, 0;"), ("2d", "3d"), ("{0, %r11}", "{0, %r11, %r10}")


@pytest.mark.parametrize(
    ("dims", "status"), [("kmh", "VERIFIED"), (["k", "m", "h"], "VERIFIED"), ("khm", "REFUTED"), ("kmx", "UNKNOWN")]
)
def test_a_tensor_map_may_name_the_order_of_its_axes(dims: object, status: str) -> None:
    text = COPY
    for old, new in HEADS:
        text = text.replace(old, new)
    params = [{**TWO["params"][0], "dims": dims}, "C"]  # type: ignore[index]
    (outcome,) = check(text, claim_of(TWO | {"block": 32, "params": params}), seed=3)
    assert outcome.status == status, outcome.findings


@pytest.mark.parametrize(
    ("extra", "words"), [({"dims": 3}, "in the order of coordinates"), ({"dims": [1]}, "in the order of coordinates")]
)
def test_axes_that_are_no_names_are_refused(extra: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        run(params=[{"map": "A", "box": [8, 16], **extra}, "C"])
