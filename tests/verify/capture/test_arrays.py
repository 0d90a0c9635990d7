# SPDX-License-Identifier: Apache-2.0
"""References in NumPy: each row of the table, and an expression over arrays, has the numbers that numpy computes."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.verify.capture.test_operations import EVERY, evaluate
from verify.capture.contents import Contents, TensorReading
from verify.capture.expressions import NAMES, GivenArray, Writer
from verify.capture.places import Unchecked, ViewPlaces
from verify.capture.recording.arrays import DRAWS, FILLED, MADE_OF, ArrayRecorder, RecordedArray, install_arrays
from verify.capture.recording.recorder import Recorder
from verify.capture.recording.torch_mode import make_mode
from verify.capture.table import TorchOperation
from verify.kernel.claims.expression import read_claim

Compute = Callable[[Any], Any]
NUMPY = [(name, row) for name, row in EVERY if name.startswith("numpy.")]
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed: pip install torch==2.13.0 (CPU build)"
)


class Bench:
    """A recorder of arrays, with one array that a kernel would be given."""

    def __init__(self) -> None:
        self.recorder = Recorder(SimpleNamespace(Tensor=()))
        self.arrays = install_arrays(self.recorder)
        self.x: Any = np.random.RandomState(7).rand(6, 5) + 0.01
        self.given = GivenArray("X", TensorReading.of(self.arrays.read_array(self.x)))

    def write(self, made: Any) -> tuple[str, Any]:
        """The text of a recorded array, and the numbers of this text; raises Unchecked."""
        side = self.arrays.read_array(made)
        table = json.loads(json.dumps({str(at): content for at, content in enumerate(self.recorder.contents)}))
        writer = Writer(Contents(table, lambda launch: frozenset()), -1, [self.given])
        names = tuple(name if extent > 1 else "" for name, extent in zip(NAMES[made.ndim], made.shape, strict=True))
        writer.sizes.update({name: extent for name, extent in zip(names, made.shape, strict=True) if name})
        text = writer.write(TensorReading.of(side), names)
        own = [name for name in names if name]
        _, value = read_claim(f"Z[{','.join(own) or 'i'}] = {text}", double=True)
        axes = {index: at for at, index in enumerate([*own, *(name for name in writer.sizes if name not in own)])}
        places = ViewPlaces(self.given.offset, self.given.shape, self.given.strides).each
        numbers = np.asarray(self.x).view(np.ndarray).ravel()[places].reshape(self.given.shape or 1)
        evaluated = evaluate(value, {"X": numbers}, axes, writer.sizes)
        evaluated = np.broadcast_to(evaluated, [*(writer.sizes[name] for name in own), *[1] * (len(axes) - len(own))])
        return text, evaluated.reshape(made.shape)

    def uses(self) -> list[str]:
        return [event["how"] for event in self.recorder.events if event["kind"] == "use"]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    for name in (*FILLED, *MADE_OF):
        monkeypatch.setattr(np, name, getattr(np, name))
    for name in ("RandomState", "Generator", "default_rng", *DRAWS):
        if hasattr(np.random, name):
            monkeypatch.setattr(np.random, name, getattr(np.random, name))
    yield Bench()


def find_function(name: str) -> Any:
    """The function of a row's name; those of generators are methods of one."""
    function: Any = np
    for word in name.split(".")[1:]:
        function = getattr(function if hasattr(function, word) else np.random.default_rng(3), word)
    return function


def call(name: str, row: TorchOperation, x: Any) -> list[Any]:
    """Results of a row's function."""
    word = name.rpartition(".")[2]
    if name.startswith("numpy.ndarray."):
        return [getattr(x, word)(*(["float32"] if word == "astype" else []))]
    function = find_function(name)
    if row.relation:
        made = function(*[x > 0.3, x < 0.6][: len(row.parameters)] if row.relation.isalpha() else (x, 1 - x))
        return [np.where(made, x, 2 * x)]
    given: list[Any] = [[x, 1 - x / 2], [x, 3.5], [x, x.sum(0, keepdims=True)], [2.5, x]]
    if word in ("clip", "power"):
        given = [[x, 0.25, 0.75] if word == "clip" else [x, 2]]
    elif row.einsum:
        given = [["ij,kj->ik", x, x], ["ij,jk", x, 2 * x.T], ["ij->j", x], ["ij,ij,ij->i", x, x, x]]
    elif row.product:
        given = [[x, x.T], [x.T, x], [x, x.sum(0)]]
    elif row.choice:
        given = [[x > 0.5, x, 0.0], [x > x.mean(0), 2 * x, x]]
    elif row.sum:
        return [function(x, axis=1), function(x, axis=0, keepdims=True), function(x)]
    elif len(row.parameters) == 1 or row.triangle:
        given = [[x], *([x, 1] for _ in row.triangle)]
    return [function(*arguments) for arguments in given]


ORDINARY = [
    pair for pair in NUMPY if not (pair[1].constant or pair[1].random or pair[1].joins)
]  # these are in test_parts.py


@pytest.mark.parametrize(("name", "row"), ORDINARY, ids=[name for name, _ in ORDINARY])
def test_a_row_is_what_numpy_computes(bench: Bench, name: str, row: TorchOperation) -> None:
    for made in call(name, row, bench.x):
        written = bench.write(made)[1]
        np.testing.assert_allclose(written, made.view(np.ndarray), rtol=1e-6 if made.dtype == np.float32 else 1e-7)
        assert name in {content.get("op") for content in bench.recorder.contents}


FILLERS = [pair for pair in NUMPY if pair[1].constant or pair[1].random]


@pytest.mark.parametrize(("name", "row"), FILLERS, ids=[name for name, _ in FILLERS])
def test_a_row_fills_an_array(bench: Bench, name: str, row: TorchOperation) -> None:
    function = find_function(name)
    like = bench.x if name.endswith("_like") else (4, 5)
    given = [like, 2.5] if row.constant == "value" else [like]
    whole, real = [0, 999, (4, 5)], [0.0, 1.0, (4, 5)]
    ways = {"rand": [4, 5], "randn": [4, 5], "randint": whole, "integers": whole, "normal": real, "uniform": real}
    given = ways.get(name.rpartition(".")[2], given)
    made = function(*given)
    if row.random:
        assert len(set(made.ravel().tolist())) > 4
        with pytest.raises(Unchecked, match="which the kernel isn't given"):
            bench.write(made)
    else:
        assert (made == bench.write(made)[1]).view(np.ndarray).all()


RIGHT: dict[str, tuple[Compute, str]] = {
    "a product": (lambda x: x @ x.T, "sum_k (X[m,k] * X[n,k])"),
    "dot": (lambda x: x.dot(x.T), "sum_k (X[m,k] * X[n,k])"),
    "a mean": (lambda x: x.mean(axis=1), ""),
    "a variance": (lambda x: np.var(x, axis=1, keepdims=True), ""),
    "in place": (lambda x: _scale(x.copy()), "(X[m,n] * 0.5)"),
    "views": (lambda x: (x + x.mean(1)[:, None])[::1, :].T, ""),
    "a new axis": (lambda x: (x[:, None, :] * x[None, :, :]).sum(-1), ""),
    "asarray": (lambda x: np.asarray(x) + np.array(x) * np.ascontiguousarray(x.T).T, ""),
    "a relu": (lambda x: np.maximum(x - 0.5, 0), "max((X[m,n] - 0.5), 0)"),
    "a sigmoid": (lambda x: 1 / (1 + np.exp(-x)), ""),
}
WRONG: dict[str, tuple[Compute, str]] = {
    "a maximum": (lambda x: x - x.max(1, keepdims=True), "numpy.maximum.reduce .*is not in the table"),
    "a cumulated sum": (lambda x: np.cumsum(x, 1), "not in the table"),
    "an index list": (lambda x: x[[1, 0, 2]], "not in the table"),
    "a part of a sum": (lambda x: np.add.reduce(x, 1, where=x > 0.5), "has where"),
    "a start of a sum": (lambda x: np.add.reduce(x, 1, initial=3.0), "has initial"),
    "a write": (lambda x: _poke(x + 1), "changed without an operation|changed a part"),
    "a write through a view": (lambda x: _poke((x + 1).view()), "changed without an operation"),
    "an operation on a part": (lambda x: _scale_part(x + 1), "changed a part of it"),
    "a diagonal": (lambda x: np.einsum("ii->i", x[:5] * 2), "an equation that is not read|a view of"),
    "bits": (lambda x: x.view("uint64") & np.uint64(0xFF), "which no text describes"),
}


def _scale(x: Any) -> Any:
    x *= 0.5
    return x


def _scale_part(x: Any) -> Any:
    x[1:] *= 0.5
    return x


def _poke(x: Any) -> Any:
    x[0, 0] = 3
    return x


@pytest.mark.parametrize("name", RIGHT)
def test_an_expression_has_the_numbers_of_numpy(bench: Bench, name: str) -> None:
    compute, wanted = RIGHT[name]
    made = compute(bench.x)
    assert isinstance(made, RecordedArray)
    text, written = bench.write(made)
    assert wanted in ("", text)
    np.testing.assert_allclose(written, made.view(np.ndarray), rtol=1e-7)


@pytest.mark.parametrize("name", WRONG)
def test_what_no_text_says_is_unchecked(bench: Bench, name: str) -> None:
    compute, words = WRONG[name]
    with pytest.raises(Unchecked, match=words):
        bench.write(compute(bench.x))


READS: dict[str, Compute] = {
    "an element": lambda x: float(x[0, 0]),
    "a sum": lambda x: x.sum(),
    "a truth": lambda x: bool((x > 0).all()),
    "a list": lambda x: x.tolist(),
    "an item": lambda x: x.item(3),
    "a row": lambda x: list(x[0]),
    "a place": lambda x: x.argmax(),
    "a maximum": np.max,
}


@pytest.mark.parametrize("name", READS)
def test_a_number_that_the_program_reads_is_noted(bench: Bench, name: str) -> None:
    before = len(bench.uses())
    READS[name](bench.x)
    assert len(bench.uses()) > before


def test_an_integer_that_may_wrap_before_it_widens_is_unchecked(bench: Bench) -> None:
    given = np.random.RandomState(1).randint(-9, 9, (6, 5), dtype=np.int8)
    bench.given, bench.x = GivenArray("X", TensorReading.of(bench.arrays.read_array(given))), given
    assert bench.write(given.astype(np.int32) * given)[0] == "(X[m,n] * X[m,n])"
    with pytest.raises(Unchecked, match="in which an earlier result may wrap"):
        bench.write((given * given).astype(np.int32))
    with pytest.raises(Unchecked, match="in which an earlier result may wrap"):
        bench.write((given * given).sum(1))


WHOLE: dict[str, tuple[Compute, str]] = {
    "a product": (lambda x: (x.astype("f4") @ x.astype("f4").T).astype("i4"), ""),
    "a sum": (lambda x: (x.astype("f4") * 3 - x.astype("f4")).sum(1).astype("i4"), ""),
    "rounded sums": (lambda x: (x.astype("f2") @ x.astype("f2").T).astype("i4"), "mixes float16 and int32"),
    "a narrow result": (lambda x: (x.astype("f4") @ x.astype("f4").T).astype("i2"), "mixes float32 and int16"),
    "a sign that is lost": (lambda x: (x.astype("f4") * 2).astype("u4"), "mixes float32 and uint32"),
    "a fraction": (lambda x: (x.astype("f4") * 0.5).astype("i4"), "mixes float32 and int32"),
    "a quotient": (lambda x: (x.astype("f4") / 2).astype("i4"), "mixes float32 and int32"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_in_floats_become_integers_if_no_sum_can_round(bench: Bench, name: str) -> None:
    compute, words = WHOLE[name]
    given = np.random.RandomState(1).randint(-9, 9, (6, 5), dtype=np.int8)
    given[given == 0] = 1  # a write that leaves integers, of which nothing else is known
    bench.given, bench.x = GivenArray("X", TensorReading.of(bench.arrays.read_array(given))), given
    made = compute(given)
    if words:
        with pytest.raises(Unchecked, match=words):
            bench.write(made)
    else:
        np.testing.assert_array_equal(bench.write(made)[1], made.view(np.ndarray))


@needs_torch
@pytest.mark.parametrize("word", ["tensor", "as_tensor", "asarray", "from_numpy"])
def test_a_tensor_of_an_array_is_the_array(bench: Bench, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """A write to the array, which torch doesn't see, is seen if the tensor shares its memory."""
    torch: Any = importlib.import_module("torch")
    monkeypatch.setattr(torch, "from_numpy", torch.from_numpy)
    recorder, arrays = bench.recorder, ArrayRecorder(bench.recorder)
    recorder.torch = torch
    with make_mode(recorder, arrays):
        tensor = getattr(torch, word)(bench.x)
        made = (tensor * 2).numpy()
    text, written = bench.write(made)
    assert text == "(X[m,n] * 2)"
    np.testing.assert_allclose(written, 2 * bench.x.view(np.ndarray))
    assert recorder.contents[recorder.read_tensor(tensor)["content"]]["op"] == f"torch.{word}"
    bench.x[0, 0] = 9.0
    later = recorder.contents[recorder.read_tensor(tensor)["content"]]
    assert (later["kind"] == "unknown") == (word != "tensor")
