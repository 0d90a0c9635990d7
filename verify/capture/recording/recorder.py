# SPDX-License-Identifier: Apache-2.0
"""What the memory of each tensor holds, told as contents: the log that `verify.capture.claims` reads.

A storage holds one content at a time: data from the host, the result of an operation, or whatever a launch left. Each
write makes a new content, and a `_version` that moved without a recorded write makes one of which nothing is known. A
reading is a view of a content: offset, shape and strides. Nothing here decides what is a claim.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from verify.capture.contents import EMPTY
from verify.capture.table import by_name

OUTSIDE = ("torch", "triton", "numpy", "pytest", "_pytest", "pluggy", "verify", "lanecheck", "contextlib", "importlib")
EARLIER = "what a launch before this test left"
LOOSE = {"rtol": 1.0, "atol": 60.0}  # a relative tolerance that accepts 0 for any number, and an absolute one
UNSEEN = "its memory changed without an operation that was seen"
ADDRESSED = "its address was taken (data_ptr), which a launch may have got as a number"


@dataclass
class Tracked:
    """One storage: what it holds now."""

    storage: Any  # kept alive, so that no other storage has its address
    content: int  # its number
    version: int  # of the tensor that was seen last
    device: bool  # whether the program put it on the GPU
    escaped: str = ""  # who else may write it, in words
    numbers: Any = None  # all of it as an array, if NumPy may write it
    digest: bytes = b""  # of these numbers, when they were written last
    addressed: bool = False  # whether the program has its address, which a launch may get as a number


@dataclass
class Recorder:
    """The log of one program, and of the test that runs in it now."""

    torch: Any  # the module
    contents: list[dict[str, Any]] = field(default_factory=list)  # of all tests, by number
    events: list[dict[str, Any]] = field(default_factory=list)  # of this run, in order
    tracked: dict[int, Tracked] = field(default_factory=dict)  # storages by their address
    arrays: list[Any] = field(default_factory=list)  # memories of NumPy's arrays
    flipped: int = -1  # the comparison of this run that reports a difference
    place: int = 0  # of the element that differs, if elements are compared: the first, the last, or one between
    comparisons: int = 0  # made in this run
    test: int = 0  # how many tests have begun
    run: int = 0  # how many runs of tests have
    variants: list[dict[str, Any]] | None = None  # of an autotuned launch, while its configs are compiled

    def start(self, flipped: int = -1, place: int = 0) -> None:
        """Begin the run of a test: forget its predecessor's events, and storages that nobody else has."""
        self.events, self.comparisons, self.flipped, self.place = [], 0, flipped, place
        self.run += 1
        self.arrays.clear()
        count = self.torch._C._storage_Use_Count
        self.tracked = {key: tracked for key, tracked in self.tracked.items() if count(key) > 1}
        for tracked in self.tracked.values():
            if self._rests_on_launch(tracked.content):
                tracked.content = self.add(
                    "unknown",
                    at=self.contents[tracked.content]["at"],
                    why=EARLIER,
                    valueless="no kernel runs here",
                    was=tracked.content,
                )

    def _rests_on_launch(self, number: int) -> bool:
        """Return whether a content was made of what a launch left, of those that this run counts."""
        seen, rest = set[int](), [number]
        while rest:
            source = rest.pop()
            if self.contents[source]["kind"] == "after":
                return True
            if source not in seen:
                seen.add(source)
                rest += list_contents(self.contents[source])
        return False

    # ---- contents

    def add(self, kind: str, **keys: Any) -> int:
        """Return the number of a new content."""
        self.contents.append({"kind": kind, "at": find_line(), **keys})
        return len(self.contents) - 1

    def track(self, tensor: Any) -> Tracked:
        """Return what is known of a tensor's storage; one that is new holds data of the host."""
        storage = tensor.untyped_storage()
        known = self.tracked.get(storage._cdata)
        if known is None:
            made = self.add("source", made="host", layout=layout_of(tensor), dtype=name_of(tensor.dtype))
            known = self.tracked[storage._cdata] = Tracked(storage, made, tensor._version, False)
        elif known.version != tensor._version:
            known.content = self.add("unknown", why=UNSEEN, of=[known.content])
            known.version = tensor._version
        elif known.numbers is not None and digest(known.numbers) != known.digest:
            known.content, known.digest = self.add("unknown", why=UNSEEN, of=[known.content]), digest(known.numbers)
        return known

    def read_tensor(self, tensor: Any) -> dict[str, Any]:
        """Return the reading of a tensor as it is now."""
        known = self.track(tensor)
        content = known.content
        if known.escaped:
            content = self.add("unknown", why=known.escaped, of=[content])
        flows = {"grad": True} if tensor.requires_grad and self.torch.is_grad_enabled() else {}
        return {"content": content, "dtype": name_of(tensor.dtype), **layout_of(tensor), **flows}

    def write(self, tensor: Any, content: int) -> None:
        """Note that a tensor's storage holds a content from here on."""
        storage = tensor.untyped_storage()
        known = self.tracked.get(storage._cdata)
        if known is None:
            self.tracked[storage._cdata] = Tracked(storage, content, tensor._version, False)
        else:
            known.content, known.version = content, tensor._version
            if known.numbers is not None:
                known.digest = digest(known.numbers)

    def note_address(self, tensor: Any) -> None:
        """Note that the program takes a tensor's address: whoever has it may write there, so its bytes are watched."""
        known = self.track(tensor)
        known.addressed = True
        if known.numbers is None:
            known.numbers = self.torch.empty(0, dtype=self.torch.uint8).set_(known.storage).numpy()
            known.digest = digest(known.numbers)

    def find_pointed(self, address: int) -> tuple[Tracked, bool] | None:
        """Return the storage in which an address that the program took lies, and whether its tensor begins there."""
        for tracked in self.tracked.values():
            start = tracked.storage.data_ptr() if tracked.addressed else 0
            if start and start <= address < start + tracked.storage.nbytes():
                layout = self._find_layout(tracked.content)
                return tracked, bool(layout) and address == start + layout["offset"] * layout["bytes"]
        return None

    def _find_layout(self, number: int) -> dict[str, Any]:
        """Return how a content lies in its storage, and its type; empty if that isn't known."""
        while self.contents[number]["kind"] == "after":
            number = self.contents[number]["before"]
        content = self.contents[number]
        if "layout" not in content:
            return {}
        return {**content["layout"], "dtype": content["dtype"], "bytes": getattr(self.torch, content["dtype"]).itemsize}

    def read_pointed(self, known: Tracked) -> dict[str, Any]:
        """Return the reading of what an address points at, as a launch is given it."""
        layout = self._find_layout(known.content)
        elements = known.storage.nbytes() // layout.pop("bytes")
        return {"content": known.content, **layout, "elements": elements}

    def note_use(self, tensors: Sequence[Any], how: str) -> None:
        """Note that the program reads numbers of tensors, on which what it does from here on may rest."""
        for tensor in tensors:
            self.note_reading(self.read_tensor(tensor), how)

    def note_reading(self, reading: Mapping[str, Any], how: str) -> None:
        """Note that the program reads the numbers of a reading."""
        self.events.append({"kind": "use", "how": how, **reading, "at": find_line()})

    # ---- launches

    @contextmanager
    def group(self, configs: int) -> Iterator[None]:
        """Take the launches of a block as one, in several configurations."""
        if self.variants is not None:
            yield
            return
        self.variants = []
        try:
            yield
            variants = self.variants
        finally:
            self.variants = None
        if variants:
            with self.torch._C.DisableTorchFunction():
                self._end_launch(variants, configs)

    def launch(self, variant: dict[str, Any]) -> None:
        """Add one launch, or one configuration of the launch that is compiled now."""
        if self.variants is not None:
            self.variants.append(variant)
        else:
            with self.torch._C.DisableTorchFunction():
                self._end_launch([variant], 1)

    def _end_launch(self, variants: list[dict[str, Any]], configs: int) -> None:
        """Record a launch; each storage that it was given may hold something else from here on."""
        number = sum(earlier["kind"] == "launch" for earlier in self.events)
        by_storage: dict[int, tuple[Any, list[str]]] = {}
        for variant in variants:
            for name, given in variant.pop("given"):
                storage = given.storage if isinstance(given, Tracked) else given.untyped_storage()
                names = by_storage.setdefault(storage._cdata, (given, []))[1]
                names += [name] * (name not in names)
        for given, names in by_storage.values():
            known = given if isinstance(given, Tracked) else self.track(given)
            known.content = self.add("after", launch=number, args=names, before=known.content)
        for key, tracked in self.tracked.items():
            if tracked.addressed and key not in by_storage:
                tracked.content = self.add("unknown", why=ADDRESSED, of=[tracked.content])
        name = variants[0]["name"]
        event = {"kind": "launch", "name": name, "variants": variants, "configs": configs, "at": find_line()}
        self.events.append(event)

    # ---- comparisons

    def compare(self, kind: str, actual: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
        """Record a comparison; returns whether it is to say that the two are equal."""
        number = self.comparisons
        self.comparisons += 1
        self.events.append(
            {"kind": "compare", "how": kind, "number": number, "sides": [actual, expected], "at": find_line()}
        )
        return number != self.flipped

    def note_tolerances(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Note that the last comparison has a tolerance, rtol or atol in this order, that accepts nearly anything."""
        given = [kwargs.get(name, argument) for name, argument in zip(LOOSE, (*args, None, None), strict=False)]
        if any(
            isinstance(tolerance, (int, float)) and tolerance >= most
            for tolerance, most in zip(given, LOOSE.values(), strict=True)
        ):
            self.events[-1]["loose"] = True

    def compare_each(self, kind: str, actual: Mapping[str, Any], expected: Mapping[str, Any], count: int) -> int | None:
        """Record a comparison element by element; returns the element that is to differ, None if all are equal."""
        equal = self.compare(kind, actual, expected)
        self.events[-1]["each"] = True
        return None if equal else (0, count - 1, count * 2 // 5)[self.place]

    def is_output(self, content: int) -> bool:
        """Return whether a launch was given a content that was empty or filled with one number before, or a cast."""
        launched = False
        while True:
            origin = self.contents[content]
            if origin["kind"] == "after" or "was" in origin:
                launched, content = True, origin["was" if "was" in origin else "before"]
                continue
            row = by_name().get(origin["op"]) if origin["kind"] == "op" else None
            given = origin["args"][0] if row is not None and row.cast and origin["args"] else None
            if not isinstance(given, dict) or "reading" not in given or launched:
                return launched and origin["kind"] == "op" and (origin["op"] in EMPTY or bool(row and row.constant))
            content = given["reading"]["content"]

    # ---- the log

    def log(self) -> dict[str, Any]:
        """Return the events of this run, and all contents that they speak of."""
        wanted: dict[str, Any] = {}
        rest = [content for event in self.events for content in list_contents(event)]
        while rest:
            number = rest.pop()
            if str(number) not in wanted:
                wanted[str(number)] = self.contents[number]
                rest += list_contents(self.contents[number])
        return {"events": self.events, "contents": wanted}


def list_contents(value: Any) -> Iterator[int]:
    """Yield the numbers of contents in an event or a content."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("content", "before"):
                yield inner
            elif key == "of":
                yield from inner
            else:
                yield from list_contents(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from list_contents(inner)


def digest(array: Any) -> bytes:
    """Return a digest of the bytes of a NumPy array."""
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).digest()


def layout_of(tensor: Any) -> dict[str, Any]:
    """Return where the elements of a tensor lie in its storage."""
    return {"offset": tensor.storage_offset(), "shape": list(tensor.shape), "strides": list(tensor.stride())}


def name_of(dtype: Any) -> str:
    """Return the name of a type of torch: `float16`."""
    return str(dtype).removeprefix("torch.")


def find_line() -> str:
    """Return `file:line` of the program's own code that is running, the innermost."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in OUTSIDE:
            if not frame.f_code.co_filename.startswith("<"):
                return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
