# SPDX-License-Identifier: Apache-2.0
"""Logs of tests as the recorder writes them, and the PTX of a kernel that adds two vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verify.capture.decisions import Decision, Judge, KernelSession

ADD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd3, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, 32, %r2;
  setp.ge.s32 %p1, %r4, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd4, %r4, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
DONE:
  ret;
}
"""
BARE = ADD.replace("  @%p1 bra DONE;\n", "")  # without a mask: right for whole blocks of 32
SIZE = 70
VECTOR = {"offset": 0, "shape": [SIZE], "strides": [1]}


class Log:
    """A log that is written by hand."""

    def __init__(self, folder: Path, ptx: str = ADD) -> None:
        self.contents: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.folder, self.launches, self.compared = folder, 0, 0
        (folder / "add.ptx").write_text(ptx)

    def add(self, kind: str, **keys: Any) -> int:
        self.contents.append({"kind": kind, "at": f"test_x.py:{len(self.contents)}", **keys})
        return len(self.contents) - 1

    def op(self, name: str, *args: Any, dtype: str = "float32", layout: Any = VECTOR, **more: Any) -> int:
        kwargs = more.pop("kwargs", {})
        return self.add("op", op=name, args=list(args), kwargs=kwargs, dtype=dtype, layout=layout, **more)

    def draw(self, **more: Any) -> int:
        return self.op("torch.randn", SIZE, **more)

    def see(self, content: int, dtype: str = "float32", **layout: Any) -> dict[str, Any]:
        return {"content": content, "dtype": dtype, **VECTOR, **layout}

    def operand(self, content: int, **more: Any) -> dict[str, Any]:
        return {"reading": self.see(content, **more)}

    def launch(self, given: Sequence[int], names: Sequence[str] = ("x", "y", "out"), **more: Any) -> list[int]:
        """Launch `add` on three contents; returns what their memory holds then."""
        tensors = [
            {"arg": name, "elements": SIZE, **self.see(content)} for name, content in zip(names, given, strict=True)
        ]
        variant = {
            "name": "add", "config": "", "ptx": "add.ptx", "entry": "add", "grid": [3, 1, 1], "block": 32, "smem": 0,
            "scratch": 0, "params": [*({"tensor": name} for name in names), SIZE], "problem": "", "tensors": tensors,
            "at": "test_x.py:9", "file": "", **more,
        }  # fmt: skip
        self.events.append({"kind": "launch", "name": "add", "variants": [variant], "configs": 1, "at": "test_x.py:9"})
        after: dict[int, int] = {}
        for content in given:
            if content not in after:
                args = [name for name, argument in zip(names, given, strict=True) if argument == content]
                after[content] = self.add("after", launch=self.launches, args=args, before=content)
        self.launches += 1
        return [after[content] for content in given]

    def add_whole_blocks(self) -> None:
        """Launch the kernel without a mask on 64 elements, and compare what it wrote with the sum."""
        (self.folder / "bare.ptx").write_text(BARE)
        layout = {**VECTOR, "shape": [64]}
        x, y, out = (self.op("torch.randn", 64, layout=layout) for _ in range(3))
        tensors = [
            {"arg": name, "elements": 64, **self.see(content, **layout)}
            for name, content in zip(("x", "y", "out"), (x, y, out), strict=True)
        ]
        params = [*({"tensor": name} for name in ("x", "y", "out")), 64]
        written = self.launch(
            [x, y, out],
            ptx="bare.ptx",
            grid=[2, 1, 1],
            params=params,
            tensors=tensors,
            constants={"BLOCK": 32},
            name="bare",
        )
        both = self.op("torch.Tensor.add", self.operand(x, **layout), self.operand(y, **layout), layout=layout)
        self.compare(self.see(written[2], **layout), self.see(both, **layout))

    def use(self, content: int, how: str = "item", **layout: Any) -> None:
        self.events.append({"kind": "use", "how": how, **self.see(content, **layout), "at": "test_x.py:10"})

    def compare(self, actual: Any, expected: Any) -> None:
        sides = [side if isinstance(side, dict) else self.see(side) for side in (actual, expected)]
        event = {
            "kind": "compare",
            "how": "assert_close",
            "number": self.compared,
            "sides": sides,
            "at": "test_x.py:11",
        }
        self.events.append(event)
        self.compared += 1

    def record(self, asserted: Sequence[int] | None = None, **more: Any) -> dict[str, Any]:
        return {
            "test": "test_x.py::test_add", "line": 1, "outcome": "passed", "why": "", "events": self.events,
            "contents": {str(at): content for at, content in enumerate(self.contents)},
            "asserted": list(range(self.compared)) if asserted is None else list(asserted), **more,
        }  # fmt: skip


def decide(log: Log, **keys: object) -> list[Decision]:
    judge = Judge(KernelSession(1), log.record(**keys), log.folder)  # type: ignore[arg-type]
    return [judge.decide(*entry) for entry in judge.plan()]


def only(log: Log, **keys: object) -> Decision:
    (decision,) = decide(log, **keys)
    return decision
