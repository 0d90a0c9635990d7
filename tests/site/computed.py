# SPDX-License-Identifier: Apache-2.0
"""Sentences of the pages with numbers: those that are computed here, and those that were recorded once.

A row is a sentence, or a part of one, with `{}` for each number, and then these numbers. It computes no other number of
the sentence.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path

from benchmarks import front
from gpu_checks.laws import MOST, ON_CPU, ON_GPU
from isa_tables import instruction
from layouts import Layout, complement, composition, cosize, left_inverse, size, upcast
from layouts.atoms import registry
from layouts.bank_conflicts import BANKS, wavefronts
from tests.site.mutants import compute_mutants
from tests.site.sources import constant, count, differing, find_unowned, layout, load, operand, rejects, text, widths
from verify.binding.atom import prepare
from verify.core.errors import Exit
from verify.kernel.claims import compiled, defaults
from verify.kernel.claims.claim import claim_of
from verify.kernel.state import placement
from verify.layout.reading import LARGEST
from verify.maps.map import IsaFormula, Map
from verify.movement.spec import POINTS as OF_MOVEMENTS
from verify.pictures import elements
from verify.tiling.spec import POINTS as OF_TILINGS

ROOT = Path(__file__).parents[2]
E2M1 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
Row = tuple[object, ...]
NAMES = {  # how the pages call what the exit codes mean, in the order of the codes
    "README.md": "all verified|something refuted|usage|contradiction|unknown, unchecked|nothing selected|interrupted",
    "docs/stability.md": "`OK`|`REFUTED`|`USAGE`|`CONTRADICTION`|`UNDECIDED`|`EMPTY`|",
}


TILE: Row = ("the first {} rows and columns of a tile of {}x{}", 20, 128, 128)  # the command of the picture, in show.md


def exits(name: str) -> list[Row]:
    """Each exit code beside what it means."""
    between = " " if name == "README.md" else " | "
    return [(f"{{}}{between}{means}", int(code)) for code, means in zip(Exit, NAMES[name].split("|"), strict=True)]


def int4() -> tuple[Layout, Layout]:
    """B of the int4 m16n8k32, wrong and right: n + 8 k."""
    wrong = tomllib.loads(text("tests/museum/wrong.toml"))["1: SM80_16x8x32_S32S4S4S32_TN"]["B"]
    return layout(wrong), operand("SM80_16x8x32_S32S4S4S32_TN", "B")


def readme() -> list[Row]:
    wrong, right = int4()
    one_bit = tomllib.loads(text("tests/museum/wrong.toml"))["3: SM80_16x8x256_S32U1U1S32_TN_XORPOPC"]["B"]
    bits, correct = layout(one_bit), operand("SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "B")
    return [
        ("a stride of {} in place of {}.", wrong.stride[0][0], right.stride[0][0]),
        ("{} of {} elements are in no register", len(find_unowned(wrong)), size(wrong)),
        ("{} of {} have the wrong one", f"{differing(bits, correct):,}", f"{size(bits):,}"),
        read_measured(),
        *exits("README.md"),
    ]


def read_measured() -> Row:
    """The figures of the first screen, as recorded."""
    seconds = [f"{front.load()[name]['seconds']:.1f}" for name in front.COMMANDS]
    return "the wrong line below in {} s, an atom in {} s of a CPU (measured {})", *seconds, front.day()


def show() -> list[Row]:
    wrong, right = int4()
    k = [[wrong(i) // 8 for i in range(size(wrong))].count(at) for at in range(32)]
    two, none = [at for at in range(32) if k[at] == 16], [at for at in range(32) if k[at] == 0]
    moved = [
        at for at in range(32) if k[at] == 8 and any(wrong(i) != right(i) for i in range(256) if wrong(i) // 8 == at)
    ]
    assert [*two, *moved, *none] == list(range(two[0], 32))
    return [
        ("The rows of k from {} on have two owners, those from {} on have none", two[0], none[0]),
        ("k {} to {} have two owners each, k {} to {} another than the ISA's, k {} and up none",
         two[0], two[-1], moved[0], moved[-1], none[0]),
        ("offsets and banks of {} rows of {} elements", *layout("(8,64):(64,1)").shape),
        TILE,
        ("C of {}x{} in row-major memory", 32, 32),
        ("up to {} cells as elements", f"{constant('verify/pictures/svg.py', r'STATIC = (.+?) *#'):,}"),
        ("a window with more than {}^{} of them", 2, elements.LARGEST.bit_length() - 1),
        ("more than {} cells a window", f"{constant('verify/pictures/picture.py', r'MOST = (.+?) *#'):,}"),
    ]  # fmt: skip


def claims() -> list[Row]:
    refuted, contradiction, undecided = int(Exit.REFUTED), int(Exit.CONTRADICTION), int(Exit.UNDECIDED)
    of = {"VACUOUS": contradiction, "REFUTED": refuted, "RELABELLED": refuted, "UNKNOWN": undecided}
    of |= {"UNCHECKED": undecided, "VERIFIED": 0}
    ends = {name: re.search(rf"^\| {name} \| (.*) \| \d \|$", text("docs/claims.md"), re.M) for name in of}
    longest = prepare(registry()["SM90::GMMA::SPARSE::GMMA_64x256x64_S32S8S8_SS_TN"])
    return [
        *((f"| {name} | {line[1]} | {{}} |", of[name]) for name, line in ends.items() if line),
        ("file and line are printed | {} |", contradiction),
        ('In JSON `"observed": true` | {} |', 0),
        ("VERIFIED | UNCHECKED, {} | UNCHECKED, {} |", undecided, 0),
        ("UNCHECKED, {} | UNCHECKED, {} | UNCHECKED, {} |", undecided, undecided, 0),
        ("Of each block {} points or all ({} of a formula's)", Map.samples, IsaFormula.samples),
        ("layouts and tiles of at most {}^{} points", 2, LARGEST.bit_length() - 1),
        (
            "the points of its fragment, at most {}^{},",
            2,
            prod(longest.expect_extents(longest.parts[1])).bit_length() - 1,
        ),
        ("movements take layouts of at most {}^{} points", 2, min(OF_MOVEMENTS, OF_TILINGS).bit_length() - 1),
    ]


def laws() -> list[Row]:
    record = json.loads(text("proofs/symbolic/record.json"))["operations"]
    most = max(int(rank) for name in record for rank in re.findall(r"rank (\d)", name))
    whole = max(int(rank) for name in record for rank in re.findall(r"^composition, rank (\d) o rank \d$", name))
    paths = {name.split(", by")[0]: operation["paths"] for name, operation in record.items()}
    divided = {paths[f"logical_divide, rank {rank} by rank {most}"] for rank in range(1, most + 1)}
    multiplied = {paths[f"logical_product, rank {most} by rank {rank}"] for rank in range(1, most + 1)}
    special, step = layout("(2,2,2):(0,1,1)"), layout("3:3")
    run, two = layout("3:1"), layout("2:1")
    assert [special(step(k)) for k in range(3)] == [0, 1, 2] and rejects(lambda: composition(special, step))
    mixed, spread, pair = layout("(2,2):(8,12)"), layout("(2,2):(2,3)"), layout("(2,3):(1,1)")
    small, words = layout("(2,2):(1,3)"), layout("2:3")
    assert rejects(lambda: complement(mixed, 5)) and rejects(lambda: left_inverse(spread))
    assert rejects(lambda: upcast(words, 2)) and [words(i) // 2 for i in range(2)] == [0, 1]
    assert [pair(spread(i)) for i in range(4)] == [0, 1, 2, 3]
    budget = constant("verify/laws/conformance.py", r"\nBUDGET = (\d+)")
    return [
        ("| coalesce, right_inverse | 1-{} |", most),
        ("| complement, left_inverse | 1-{} |", most),
        ("| A 1-{}, B 1-{} | from end to end", whole, whole),
        ("| A 1-{}, B 1-{} | by the contract", most, most),
        ("| A 1-{}, T 1-{} | composition by", most, most),
        ("| A 1-{}, T 1-{} | the same", most, most),
        ("each for A of rank 1 to {}:", most),
        ("Composition of rank {} is not", whole + 1),
        ("So T of rank {} has {} paths for every A, and A of rank {} has {} for every T",
         most, *divided, most, *multiplied),
        ("All ranks up to {} take", most),
        ("smallest such case, by search up to rank {}, is A = {} and B = {}", 3, special, step),
        ("`layouts.complement` of {} in [0, {}) is {}", mixed, 4, complement(mixed, 4)),
        ("since {}, {} and {} - {} are {} or more", 8, 12, 12, 8, 4),
        ("({} by {} is rejected, though {} is", words, 2, two),
        ("({} is rejected, though {} gives", spread, pair),
        ("do not overlap, as {} in [0, 2)", layout("(2,2):(12,8)")),
        ("applied at {} million points (with numpy at {}), or until it has {}", ON_GPU // 10**6, f"{ON_CPU:,}", MOST),
        ("does not end within `--budget` seconds ({}", budget),
        ("at most {} for small layouts", constant("verify/laws/conformance.py", r"\nSMALL_SECONDS = (\d+)")),
        ("for `--budget` seconds ({}); the remaining", constant("verify/laws/command.py", r"options.budget or (\d+)")),
        ("any size: up to {}^{} values", 2, constant("proofs/definitions.py", r"MOST = 2\*\*(\d+)")),
        ("{} o {} = {} | {} coordinates for {} |", "(2,2):(1,100)", run, two, size(two), size(run)),
        ("complement({}, {}) = {} | cosize {} |", small, 6, "1:0", cosize(small)),
        ("left_inverse({}) = {} | L(2) = {} comes back as {} |", small, two, small(2), two(small(2))),
    ]  # fmt: skip


def movement() -> list[Row]:
    phases = {bits: len(wavefronts([bits // 8 * lane for lane in range(32)], bits).phases) for bits in (32, 64, 128)}
    lanes = {bits: 32 // count for bits, count in phases.items()}
    return [
        ("A row is {} consecutive bytes", 8 * 16 // 8),  # of a matrix of 8x8 elements of 16 bits
        ("wgmma of N = {}", 4 * 4 * 8 * 8 // 16),  # four stmatrix.x4 of 8x8, over the 16 rows of a warp
        ("The model has {} banks of four bytes", BANKS),
        ("phases of {} lanes for widths up to 32 bits, of {} lanes for 64 bits, of {} lanes for 128 bits",
         lanes[32], lanes[64], lanes[128]),
        ("took for {} patterns", len(load("banks"))),
    ]  # fmt: skip


def agreement() -> Iterator[Row]:
    """The counts of each project, which are the sums of its rows and reasons, and of all projects."""
    reports = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reports").glob("*.md"))
    totals: dict[str, int] = dict.fromkeys(("maps", "right", "relabelled", "wrong", "not compared"), 0)
    for section in re.split(r"^## ", text("docs/agreement.md"), flags=re.MULTILINE)[1:]:
        counts = dict.fromkeys(totals, 0)
        for many, result in re.findall(r"^\| `.*?`(?: \((\d+) maps\))? \| .*? \| (.*) \|$", section, re.MULTILINE):
            word = re.match(r"\**(\w+)", result)
            assert word, result
            counts[{"equal": "right", "agrees": "right"}.get(word[1], word[1])] += int(many or 1)
            yield from [("({} maps) |", int(many))] if many else []
            if count := re.search(r"\((\d+ of \d+) \w+ disagree\)", result):
                assert f"{count[1]} " in reports, result
                yield ("| {} |", result)  # what the command found; the report's page computes how many
        reasons = [int(many) for many in re.findall(r"^- (\d+) maps? not compared", section, re.MULTILINE)]
        yield from (("- {} map", many) for many in reasons)
        counts["not compared"] = sum(reasons)
        counts["maps"] = sum(counts.values())
        shown = [(word, count) for word, count in counts.items() if count and word != "maps"]
        yield (f"{{}} maps: {', '.join(f'{{}} {word}' for word, _ in shown)}.\n", counts["maps"], *dict(shown).values())
        totals = {word: totals[word] + count for word, count in counts.items()}
    yield ("{} maps: {} right, {} relabelled, {} wrong, {} not compared.", *totals.values())


def int4_report() -> list[Row]:
    wrong, right = int4()
    return [
        ("k = {}*(lane % {}) + i, n = lane / {}.", right(1) // 8, 4, 4),
        ("lane 1 the elements from k = {} on, where it has those from k = {} on", wrong(1) // 8, right(1) // 8),
        ("{} of {} points differ, and {} elements", differing(wrong, right), size(wrong), len(find_unowned(wrong))),
        ("k has the stride {}, so that a step of {} in k is {}:", 8, 8, right.stride[0][0]),
        ("lane 1, value 0 the element (n={}, k={})", right(1) % 8, right(1) // 8),
    ]


def e2m1_report() -> list[Row]:
    a = instruction(E2M1).operands["A"]
    upper = [i for i in range(32) if a.locate(0, i)[0] == 0]
    right = [i for i in range(32) if a.locate(0, i)[1] >= 32]
    starts = [i for i in upper if i - 1 not in upper]
    return [
        ("groupID for i in {}..{} and {}..{}, groupID + {} otherwise",
         starts[0], starts[1] // 2 - 1, starts[1], upper[-1], a.locate(0, 8)[0]),
        ("the columns from {} on are those of i in {}..{}", min(a.locate(0, i)[1] for i in right), right[0], right[-1]),
        ("So i = {} is row {}, column {} in lane 0,", 8, *a.locate(0, 8)),
        ("and i = {} is row {}, column {}.", 16, *a.locate(0, 16)),
        ("{} of {} elements are wrong", count("tilelang-e2m1-inverse"), 32 * 32),
    ]  # fmt: skip


def sm70_report() -> list[Row]:
    lanes = [row + 8 * col // 4 + 4 * rep for row in range(4) for col in range(16) for rep in range(2)]
    return [
        ("{} of {} elements are sent", count("tilelang-sm70-b"), 4 * 16),
        ("lanes up to {} of a warp of {}", max(lanes), 32),
    ]


def kernel() -> list[Row]:
    kernels = [name for group in tomllib.loads(text("tests/kernels/corpus.toml")).values() for name in group["kernels"]]
    (results,) = {int(str(line["results"])) for line in load("order") if "wgmma" in str(line["name"])}
    dims = {"A": "mk", "B": "kn", "C": "mn"}
    arrays = {name: {"dims": dims[name], "type": "f16", "out": name == "C"} for name in dims}
    product = {"claim": "C[m,n] = sum_k A[m,k]*B[k,n]", "grid": ["cdiv(M, 64)", "cdiv(N, 64)"], "block": 1}
    launches = claim_of({**product, "arrays": arrays}).launches
    return [
        ("has more than {} compiles of kernels", min(90, len(kernels) - 1)),
        ("no wrong result of {} in any probe", f"{results:,}"),
        ("how deep the pipeline is ({})", defaults.STAGES),
        ("`stages + {}` steps", launches[0].sizes["K"] // launches[1].sizes["K"] - defaults.STAGES),
        ("CTAs in every direction ({}, {}, … tiles)", *launches[0].grid[:2]),
        ("sizes that are {} short of a whole tile", launches[0].sizes["M"] - launches[2].sizes["M"]),
        ("or {} for an index that is summed", launches[1].sizes["K"]),
        ("| `warps`, `stages` | absent: {} and {} |", compiled.WARPS, compiled.STAGES),
        ("odd multiple of its `.align`, or of {} bytes", placement.LEAST),
        ("begins at a multiple of so many bytes; absent: of {} if", placement.SHARED_BASE),
    ]


def c_of_m16n8k16() -> list[Row]:
    c = operand("SM80_16x8x16_F32F16F16F32_TN", "C")
    threads, values = size(c[0]), size(c[1])
    return [
        ("The {} x {} result C", 16, 8),
        ("has {} elements. No lane sees all of them: each of the {} lanes", size(c), threads),
        ("has {} threads and {} values", threads, values),
    ]


def tiling() -> list[Row]:
    tile, grid, block = 128, 16, 4  # a tile of C, its threads, both in each direction; neighbours of a thread
    each = tile // grid  # outputs of a thread in each direction
    return [
        ("each thread has {} of the {}", each * each, tile * tile),
        ("R must divide {} / {} = {}; with R = {} the period is {}, which does not divide {}",
         tile, grid, each, 3, 3 * grid, tile),
        ("R = {} makes each group one 128-bit access for f32 (for f16, R = {} does)", 128 // 32, 128 // 16),
        ("Thread 17 is at ({},{}):", *divmod(17, grid)),
        ("the {}×{} blocks is not balance, since {} neighbours", block, block, each * each),
        ("both need {} rows of A and {} columns of B", 2 * each, tile),  # a warp is two rows of threads
        ("{} values of each for {} products, not {} and {}", each, each * each, 1, each * each),
        ("Four warps, {}×{}, of the m16n8k16 atom cover {}×{}×{}", 2, 2, 2 * 16, 2 * 8, 16),
        ("then the two warps {}", 2 * 8),
        ("not {}/{} = 2", 32, 16),
        ("values {} and {} are one row below values {} and {}", 2, 3, 0, 1),
    ]  # fmt: skip


ROWS: dict[str, Callable[[], list[Row]]] = {
    "README.md": readme,
    "docs/index.md": lambda: [read_measured(), ("and {} elements are in no register", len(find_unowned(int4()[0])))],
    "CHANGELOG.md": lambda: [
        ("is exit {} unless", int(Exit.UNDECIDED)),
        ("without a GPU is exit {}.", int(Exit.UNDECIDED)),
        ("is exit {}, counted", int(Exit.OK)),
        ("is a contradiction ({}) with", int(Exit.CONTRADICTION)),
        ("exits {}.", int(Exit.INTERRUPTED)),
        ("From {} atoms on, two", constant("verify/atom/selection.py", r"^MANY = (\d+)")),
        ("An atlas of {} atoms or more", constant("verify/atom/selection.py", r"^MANY = (\d+)")),
        ("a report of {} subjects or more", constant("verify/report/as_text.py", r"^MANY = (\d+)")),
        ("takes {}^{} points of any layout", 2, LARGEST.bit_length() - 1),
        ("Reports fit {} columns on a terminal and {} elsewhere", *widths()),
    ],
    "CONTRIBUTING.md": lambda: [
        ("at most {} lines", constant("tests/project/test_house.py", r"splitlines\(\)\) <= (4\d+)")),
        ("a function {};", constant("tests/project/test_house.py", r"length\(f\) > (\d+)")),
    ],
    "docs/agreement.md": lambda: list(agreement()),
    "docs/architecture.md": lambda: [("From {} atoms on", constant("verify/atom/selection.py", r"^MANY = (\d+)"))],
    "docs/atoms.md": lambda: [("all {} lanes give an address and x2 reads {} of them", 32, 2 * 8)],
    "docs/campaign.md": lambda: [
        ("`--budget` seconds ({})", constant("verify/campaign/tasks.py", r"BUDGET = (\d+)")),
        ("{} mutants of 478 distinct operand layouts, {} refuted by both, {} the same", 8867 + 483, 8867, 9350 - 8867),
    ],
    "docs/claims.md": claims,
    "docs/foreign.md": lambda: [("at most {} MiB each", constant("verify/maps/child.py", r"MOST = (\d+) << 20"))],
    "docs/kernel.md": kernel,
    "docs/laws.md": laws,
    "docs/movement.md": movement,
    "docs/mutants.md": compute_mutants,
    "docs/own-maps/index-arithmetic.md": lambda: [
        (
            "compares {} generated",
            f"{constant('tests/verify/maps/test_python_meaning.py', r'compare_values[(]many[(](.+)[)], 1'):,}",
        ),
    ],
    "docs/reports/tensor-layouts-s4-b.md": int4_report,
    "docs/reports/tilelang-e2m1-inverse.md": e2m1_report,
    "docs/reports/tilelang-mfma-b-64x16.md": lambda: [
        ("{} of {} elements are led", count("tilelang-mfma-b-64x16"), 64 * 16),
        ("each of {} lanes and {} values one element of a tile of {} rows (k) and {} columns", 64, 16, 64, 16),
    ],
    "docs/reports/tilelang-sm70-b.md": sm70_report,
    "docs/scan.md": lambda: [
        ("{}, {} of which are templates",
         constant("tests/verify/scan/test_released.py", r"read: (2486) of 2486"),
         constant("tests/verify/scan/test_released.py", r"; (\d+) templates")),
        ("| stride {} for {} |", int4()[0].stride[0][0], int4()[1].stride[0][0]),
    ],
    "docs/show.md": show,
    "docs/start.md": lambda: [
        (f"| {verdict} | {{}} |", int(code))
        for verdict, code in (("VERIFIED", Exit.OK), ("REFUTED", Exit.REFUTED), ("UNKNOWN, UNCHECKED", Exit.UNDECIDED))
    ],
    "docs/stability.md": lambda: [
        *exits("docs/stability.md"),
        ("| `schema` | {} |", constant("verify/report/as_json.py", r'"schema": (\d)`')),
    ],
    "docs/tiling.md": lambda: [
        TILE,
        ("more than {} threads", constant("verify/tiling/suggest.py", r"THREADS = (\d+)")),
    ],
    "docs/troubleshooting.md": lambda: [("{} on a terminal, {} elsewhere", *widths())],
    "docs/tutorial/algebra.md": lambda: [
        ("a {}×{} block of {}×{} copies is a {}×{} matrix", 2, 2, 3, 4, 2 * 3, 2 * 4),
        ("the second step of {} through six rows", 4),
    ],
    "docs/tutorial/layouts.md": lambda: [
        ("As a {}×{}×{} tensor", *layout("(2,2,2):(4,1,2)").shape),
        ("last two modes makes a {}×{} matrix", 2, 2 * 2),
        ("first and the last makes a {}×{} matrix", 2 * 2, 2),
        ("Here {}×{} blocks form a {}×{} grid", 2, 2, 2, 2),
    ],
    "docs/tutorial/tensors.md": lambda: [("A {}×{} block of a row-major {}×{} tile", 4, 4, 128, 128)],
    "docs/tutorial/tiling.md": tiling,
    "docs/tv-layouts.md": c_of_m16n8k16,
}  # fmt: skip

# Of a day and a program that the page names, of the code of others, or a bound by definition: nothing computes it here.
RECORDED: dict[str, tuple[str, ...]] = {
    "CHANGELOG.md": ("with 200 or 201 arrays", "have K = 0 in them, or print K >= 1", "without elements, as at K = 0"),
    "docs/attention.md": (
        *("head dimension 64", "(M = 192 or 200, N = 192 or 300, and grouped heads)", "FlashAttention 2 has no file"),
        *("kernel of its own (24 s, with CUTLASS at 7127592)", "`Flash_fwd_params`, 472 bytes"),
        "M = 128, N = 256 and two heads of Q on one of K it is checked in 1.4 s",
    ),
    "docs/campaign.md": ("478 distinct", "(1 if absent: flat)", "such as n:1 divided", "numbers beyond 64"),
    "docs/claims.md": (
        "have one profile, rank 2 |",
        "that takes at most 70 MiB.",
        "a process takes up to 120 MiB for such a tiling, and 310 MiB for such a movement.",
    ),
    "docs/discover.md": ("-1 where it is not known",),
    "docs/glossary.md": ("four warps, 128 threads",),
    "docs/kernel.md": (
        *("at least 2 x 2 CTAs", "no element of 74 kernels differed", "An empty sum, K = 0, is"),
        *("the theorem says K >= 0;", "K >= 1 is a precondition"),
        "tried 300 drifts of `plain_f16` and read those",
        "The table is of seed 2911 at commit", "Of each proved kernel 300 sizes were drawn",
        "each of the 13 proved kernels at 50 random sizes",
    ),
    "docs/laws.md": (
        "extents (at least 1), numbers of at least 0",
        "of rank 1 to 4 and on random ones up to rank 6, with integers up to 2^40",
        "take stride 1 in mode i and 0 elsewhere",
        "`logical_divide` of n:1",
        "| coalesce, right_inverse | 1-",
        "| complement, left_inverse | 1-3 | from end to end, any extents, strides of 0 or more",
        "| composition, A o B | A 1-2, B 1-2 | from end to end: A coalesced, B with extents of",
        "extents of 2 or more and strides of 1 or",
        "| composition, A o B | A 1-3, B 1-3 | by the contract of a run: any extents and strides,",
        "and extents of 1",
        "| logical_divide, A by T | A 1-3, T 1-3 | composition by its contract; any T with strides of 0",
        "| logical_product, A by T | A 1-3, T 1-3 | the same; any A and T with strides of 0",
        "for A of rank 1 to",
        "for strides that are 0 in all modes but one",
        "Ranks 1 and 2 are executed on request",
        "up to rank 2 or the given",
        "ranks up to 4, extents of 1 and strides of 0",
        "(6,2):(1,7) o (3,2):(2,3)",
        "(6,2):(1,7) o (2,2,2):(1,2,3)",
        "all 80 cases",
        "complement(2:1, 1) = 1:0",
        "L(2) =",
        "extents of 1, strides of 0 or below",
        "2:(E<0> + E<1>) in (2,2)",
    ),
    "docs/pytest.md": (
        "drew, 27 were refuted, and the compiler rejected 3",
        "Of 30 bugs",
        "at most 65,536",
        "a product of 4096x4096 matrices takes 0.9 GB",
    ),
    "docs/mutants.md": ("2 of them by a time-out", "found 68 killed and 3 not", "with 95 % confidence"),
    "docs/reports/README.md": ("for MFMA with k = 64",),
    "docs/reports/tilelang-mfma-b-64x16.md": ("for MFMA with k = 64", "for k = 4, 16 and 32, and those of the 32x32"),
    "docs/scan.md": ("of intel/sycl-tla 2503 of 2509", "allows M = 128"),
    "docs/stability.md": ("an internal error; outranks 1", "`column` from 1;"),
    "docs/support.md": ("never 8 bits with 4", "2.x", "not including, 6"),
}  # fmt: skip
