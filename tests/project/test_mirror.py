# SPDX-License-Identifier: Apache-2.0
"""The tests of a room are in the folder of its name, in files named by its modules."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck", "layouts", "proofs", "verify")
# files that check one property of several modules of a room
PROPERTIES = {
    "layouts/atoms": {"against_cutlass"},
    "layouts/tiled": {"against_cute"},
    "proofs/laws": {"induction", "induction_complete", "induction_parts", "induction_runs", "special_strides"},
    "proofs/symbolic": {"by_value", "divmod", "goals"},
    "verify/campaign": {"interrupted"},
    "verify/capture": {"numbers"},
    "verify/cli": {"full_disk", "interrupted"},
    "verify/evidence": {"shared_evidence"},
    "verify/index": {"hostile"},
    "verify/kernel": {
        "alert_places", "atomic_words", "chains", "data_in_some_threads", "docs", "drawn_operand", "empty_sums",
        "largest", "lifted_matrices", "meanings", "messages", "modular", "pack", "plain_bits", "predicates",
        "safety_command", "schedules", "signedness", "signs_and_clamps", "sums_in_flight", "tilelang",
        "unaligned_barriers", "unread", "votes_at_barriers", "wide_strides",
    },
    "verify/maps": {"every_operation", "keys", "planted_commands", "planted_maps", "without_numpy"},
    "verify/movement": {"planted_bugs", "repairs"},
    "verify/report": {"fixes"},
    "verify/scan": {"edits", "folders", "mnemonics", "released"},
    "verify/show": {"docs", "pages", "png"},
    "verify/tiling": {"docs", "outside_its_tile"},
}  # fmt: skip
# rooms of verify whose modules are tested together, by the file that does
TOGETHER = {
    "verify/capture": "test_decisions",  # logs of tests, right and wrong; recordings in tests/lanecheck
    "verify/campaign": "test_run",  # a whole campaign of each sort
    "verify/kernel": "test_check",  # whole kernels, right and wrong
    "verify/identify": "test_command",  # maps in every form, what they are, and their other forms
    "verify/layout": "test_command",  # layouts right, wrong and unreadable, and their pictures in tests/verify/show
    "verify/index": "test_command",  # right and wrong expressions, tables and bases
    "verify/maps": "test_search",  # maps of every source, compared point by point
    "verify/pictures": "test_picture",  # the same pictures by every writer
    "verify/show": "test_command",  # every sort of argument
    "verify/scan": "test_command",  # headers right, wrong, unreadable and hostile, from their text to the report
    "verify/movement": "test_planted_bugs",  # every sort of movement, with bugs planted in what it rests on
}


def modules(room: Path) -> set[str]:
    """The modules and folders of a room, also those of rooms inside, and its own name for tests of the whole room."""
    return {room.name} | {path.stem for path in room.rglob("*.py")} | {path.stem for path in room.iterdir()}


def test_the_tests_of_a_room_are_named_by_its_modules_or_by_a_property() -> None:
    files = [path for package in PACKAGES for path in (ROOT / "tests" / package).glob("*/test_*.py")]
    assert len(files) > 70
    rooms = {path.parent.relative_to(ROOT / "tests").as_posix() for path in files}
    assert [room for room in rooms if not (ROOT / room).is_dir()] == []
    properties = {room: set() for room in PROPERTIES}
    for path in files:
        room, name = path.parent.relative_to(ROOT / "tests"), path.stem.removeprefix("test_")
        if name not in modules(ROOT / room):
            properties.setdefault(room.as_posix(), set()).add(name)
    assert properties == PROPERTIES


def test_every_module_of_verify_has_a_test_of_its_name() -> None:
    every = [path for path in (ROOT / "verify").glob("**/*.py") if not path.name.startswith("__")]
    every = [path for path in every if path.parent.name != "adapters"]  # they run where their projects are
    every = [path for path in every if path.name not in ("kind.py", "kinds.py")]  # tests/verify/test_kinds.py
    rooms = {path: path.parent.relative_to(ROOT).as_posix() for path in every}
    assert TOGETHER.keys() <= set(rooms.values())
    outer = {room: "/".join(room.split("/")[:2]) for room in rooms.values()}  # rooms inside are tested with it
    rooms = {path: outer[room] if outer[room] in TOGETHER else room for path, room in rooms.items()}
    tests = {f"tests/{room}/{TOGETHER.get(room, f'test_{path.stem}')}.py" for path, room in rooms.items()}
    assert len(tests) > 50
    assert sorted(test for test in tests if not (ROOT / test).is_file()) == []
