# SPDX-License-Identifier: Apache-2.0
"""The state of a machine at the head of a loop, as far as it decides what comes next: relative to the present.

Times are compared by their order alone, and those that every thread of the CTA knows are one. Default-deny: each
attribute of a state object is compared here, must be empty, or is listed with the reason why no later step of a proof
depends on its difference. An attribute in none of the lists ends the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from verify.kernel.sizes.forms import NotLifted
from verify.kernel.state.barriers import Barrier, Barriers
from verify.kernel.state.copies import Copies
from verify.kernel.state.global_memory import Global
from verify.kernel.state.local_memory import LocalMemory
from verify.kernel.state.loops import Loops
from verify.kernel.state.machine import Machine
from verify.kernel.state.memory import Shared
from verify.kernel.state.order import NOBODY, Order
from verify.kernel.state.phases import Executed, Phases
from verify.kernel.state.products import Products, Reads
from verify.kernel.state.region import Stored

_SAME = "the same for the whole run"
_TEXT = "for the text of a finding, and a finding ends the proof"
_REPORT = "counts for the report"
_SCRATCH = "set anew by each instruction"

# state object -> attributes that `relative` or `induction` compares
COMPARED: Mapping[type, frozenset[str]] = {
    Machine: frozenset({"registers", "state", "pc", "group", "shared", "barriers", "memory", "active", "products"}),
    Shared: frozenset({"labels", "plain", "order", "copies", "pending", "generic"}),
    Copies: frozenset({"threads", "cells", "places", "labels", "plain", "group", "open"}),
    Order: frozenset({"known", "floor", "heard", "writer", "written", "reader", "read", "by_lanes"}),
    Barriers: frozenset({"state", "barriers"}),
    Barrier: frozenset({"came", "waited"}),
    Global: frozenset({"arrays"}),
    Stored: frozenset({"writer", "reader", "reader_cta", "written", "read"}),
    Products: frozenset(
        {"reads", "touched", "fenced", "serial", "complete", "committed", "spans", "results", "inputs"}
    ),
    Reads: frozenset({"ended", "reading"}),
}
# and attributes that must be empty: kernels that use them are refused
EMPTY: Mapping[type, frozenset[str]] = {
    Machine: frozenset({"units", "loading", "watch", "local", "unsure", "run_unsure", "fork"}),
    Shared: frozenset({"loads", "loaded", "loaded_by", "held", "holds"}),
    Order: frozenset({"engine", "columns", "added", "added_by_lanes", "adds", "beside", "several"}),
    Barriers: frozenset({"executed"}),
    Barrier: frozenset({"arrived", "waiting", "times"}),
    Copies: frozenset({"sources", "counted"}),
    Global: frozenset({"flies", "constants", "fetching"}),
    Stored: frozenset({"constant", "flying", "atomic", "adders", "fetches"}),
    Products: frozenset({"issued"}),
}
# and attributes of which a difference changes nothing that a proof rests on
LISTED: Mapping[type, Mapping[str, str]] = {
    Machine: {
        **dict.fromkeys(("kernel", "launch", "values", "findings", "parameters", "budget", "real", "threads"), _SAME),
        **dict.fromkeys(("bound", "placement", "symbols", "cell", "asynchronous"), _SAME),
        **dict.fromkeys(("ctas", "count", "carry", "thread", "cta", "everyone", "specials"), _SAME),
        **dict.fromkeys(("ticked", "together", "shadow", "arrangement"), _SAME),
        "kinds": "of wmma's fragments: filled as instructions are bound, before the first one is executed",
        "constants": "found by their bits, and the same whenever they are read",
        "unwritten": "lines of reads before any write, for a report: what those give has no meaning in a proof",
        **dict.fromkeys(("steps", "begun", "ran", "guards", "trips", "offsets_read"), _REPORT),
        "number": _SCRATCH,
        "effects": "counts for `loops`, which finds a loop without an end",
        "loops": "finds a loop without an end at the sample; the trips at all sizes are what is proved",
    },
    Shared: {
        **dict.fromkeys(("values", "placement", "cell", "threads", "findings", "span"), _SAME),
        **dict.fromkeys(("load_line", "counted", "first", "grid"), _TEXT),
        "nearly": _SCRATCH,
        "maybe": _SCRATCH,
        "written": "tells the reads of wgmma of each write, and these are compared",
    },
    Copies: {"line": _TEXT},
    Order: {
        **dict.fromkeys(("threads", "lanes", "real", "local"), _SAME),
        "now": "later than all that was done",
        "adder": "read of cells that an atomic operation changed, and `added` must be empty",
        **dict.fromkeys(("write_line", "read_line"), _TEXT),
    },
    Barriers: {
        **dict.fromkeys(("shared", "findings", "threads"), _SAME),
        "said": "of bar.red, which no lifted kernel has",
    },
    Barrier: {
        "line": _TEXT,
        **dict.fromkeys(("expected", "aligned", "votes"), "read where threads have arrived, and none have"),
    },
    Global: {
        **dict.fromkeys(("values", "findings", "base", "threads"), _SAME),
        "order": "that of shared memory, which is compared",
        **dict.fromkeys(("grid", "meetings"), _TEXT),
        "known_before": "made of the arrays when it is asked for",
        "fenced": "read by bulk copies of global memory, which no lifted kernel has",
    },
    Stored: {"labels": "nobody has written them", "plain": "nobody has written them"},
    Products: {
        **dict.fromkeys(("barriers", "findings"), _SAME),
        "lines": _TEXT,
    },
    Reads: {**dict.fromkeys(("shared", "order", "findings"), _SAME), **dict.fromkeys(("reading_line", "lines"), _TEXT)},
    Loops: {"machine": _SAME, "by_branch": "counts trips", "number": _SAME, "head": _SAME},
}
REFUSED = (Executed, Phases)  # objects that no lifted kernel has


def attributes(of: object) -> dict[str, Any]:
    """Return the attributes of an object, with slots or without."""
    slots = [name for kind in type(of).__mro__ for name in getattr(kind, "__slots__", ()) if name != "__dict__"]
    return {**{name: getattr(of, name) for name in slots}, **getattr(of, "__dict__", {})}


def check_attributes(of: object, kind: type) -> None:
    """Raise NotLifted for an attribute in none of the lists, or one that is not empty and must be."""
    known = COMPARED.get(kind, frozenset()) | EMPTY.get(kind, frozenset()) | LISTED.get(kind, {}).keys()
    for name, held in attributes(of).items():
        if name not in known:
            raise NotLifted(0, f"nobody compares {kind.__name__}.{name} at the head of the loop: a bug of Lanecheck")
        if name in EMPTY.get(kind, frozenset()) and _is_there(held):
            raise NotLifted(0, f"the kernel uses {kind.__name__}.{name}, which has no meaning for all sizes yet")


def _is_there(held: Any) -> bool:
    if isinstance(held, np.ndarray):
        return bool(held.any())
    if isinstance(held, list):
        return any(part is not None and not (isinstance(part, list) and not part) for part in held)
    return bool(held) if isinstance(held, int | dict | tuple | str | LocalMemory) else held is not None


def relative(machine: Machine) -> dict[str, Any]:
    """Return everything but registers, shared bytes and copies: each value must be equal after some trips.

    Raises NotLifted for a state that no proof for all sizes knows.
    """
    shared, order, barriers = machine.shared, machine.shared.order, machine.barriers
    for of, kind in ((machine, Machine), (shared, Shared), (order, Order), (barriers, Barriers)):
        check_attributes(of, kind)
    for copy in shared.copies:
        check_attributes(copy, Copies)
    for barrier in barriers.barriers.values():
        check_attributes(barrier, Barrier)
    check_attributes(machine.memory, Global)
    check_attributes(machine.loops, Loops)
    for region in machine.memory.arrays:
        if region.stored is not None:
            check_attributes(region.stored, Stored)
            if (region.stored.writer >= 0).any() or (region.stored.reader != -1).any():
                raise NotLifted(0, f"{region.array.name} is written or read before the end of the loop")
    return {
        "places of threads": machine.pc.copy(),
        "states of threads": machine.state.copy(),
        "threads that execute": machine.active.copy(),
        "cells with a copy on its way": shared.pending > 0,
        "cells written since a proxy fence": shared.generic.copy(),
        **_times(order, barriers, machine.products),
        **(_products(machine.products) if machine.products is not None else {}),
    }


def _products(products: Products) -> dict[str, Any]:
    """Return the wgmma on their way, counted back from the last one, and registers written since a wgmma.fence."""
    check_attributes(products, Products)
    check_attributes(products.reads, Reads)
    last, reading = products.serial, products.reads.reading
    state = {
        "warpgroups without a wgmma.fence": products.fenced < 0,
        "wgmma that may still read cells": np.where(reading > 0, reading - last, 1),
        "committed groups of wgmma": np.array(
            [(group, serial - last) for group, each in enumerate(products.committed) for serial, _ in each]
        ),
    }
    for group, spans in enumerate(products.spans):
        for place, (serial, cells) in enumerate(spans):
            state[f"wgmma {place} on its way of warpgroup {group}"] = np.array([serial - last, *cells.tolist()])
    for verb, table in (("writes", products.results), ("reads", products.inputs)):
        for register, serials in table.items():
            if (late := serials > products.complete).any():
                state[f"register {register}, which a wgmma on its way {verb}"] = np.where(late, serials - last, 1)
    for register, touched in products.touched.items():
        if (late := touched > products.fenced).any():
            state[f"register {register}, written since a wgmma.fence"] = late
    return state


def _times(order: Order, barriers: Barriers, products: Products | None) -> dict[str, Any]:
    """Return all clocks, each time as its place in the order of those that some thread may not know."""
    real = slice(0, order.real)
    least = int(order.floor[real].min())  # every thread of the CTA comes after all that was done until then
    own = order.known == np.iinfo(np.int32).max  # a thread knows all of itself
    known = np.where(own, least, order.known)[real, real]
    came = {
        key: np.zeros(1, np.int32) if barrier.came is None else barrier.came
        for key, barrier in barriers.barriers.items()
    }
    parts = [known, order.floor[real], order.heard[real], order.written, order.read, order.by_lanes, *came.values()]
    parts += [products.reads.ended] if products is not None else []
    different = np.unique(np.concatenate([np.ravel(part) for part in parts]))
    different = different[different > least]

    def place(times: Any) -> Any:
        return np.searchsorted(different, times, side="right") * (times > least)

    state = {
        "what threads know of each other": place(known),
        "what threads know of all others": place(order.floor[real]),
        "when threads last came to know of others": place(order.heard[real]),
        "a thread's knowledge of itself": own,
        "when cells were written": place(order.written),
        "who wrote cells": np.where(order.written > least, order.writer, NOBODY),
        "when cells were read": place(order.read),
        "who read cells": np.where(order.read > least, order.reader, NOBODY),
        "when lanes read cells": place(order.by_lanes),
    }
    if products is not None:
        state["when the wgmma that read cells were waited for"] = place(products.reads.ended)
    for key, barrier in barriers.barriers.items():
        state[f"barrier {key[1]}: who came"] = place(came[key])
        state[f"barrier {key[1]}: who waited"] = barrier.waited if (came[key] > least).any() else np.zeros(0)
    return state


def differs(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the first part of two relative states that is not the same; "" if all are."""
    for name in (*before, *after):
        if name not in before or name not in after:
            return name
    return next((name for name, held in before.items() if not np.array_equal(held, after[name])), "")
