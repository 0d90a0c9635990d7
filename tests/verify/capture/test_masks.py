# SPDX-License-Identifier: Apache-2.0
"""Masks, softmax and attention of a reference in torch: the recorded text has the numbers that torch computes."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.verify.capture.test_operations import ROWS, call, evaluate, read_array
from verify.capture.contents import Contents, TensorReading
from verify.capture.expressions import NAMES, GivenArray, Writer
from verify.capture.places import Unchecked
from verify.capture.recording.arrays import ArrayRecorder
from verify.capture.recording.recorder import Recorder
from verify.capture.recording.torch_mode import make_mode
from verify.capture.table import TorchOperation
from verify.kernel.claims.expression import read_claim

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed: pip install torch==2.13.0 (CPU build)"
)
INF = float("inf")


def mask_scores(t: Any, x: Any) -> Any:
    """Scores of which the upper triangle is hidden, as people write it."""
    return t.where(t.tril(t.ones(6, 6)) == 0, -INF, x @ x.mT)


RIGHT: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a mask of data": (lambda t, x: t.where(x > 0.5, x, 0.0), "where(X[m,n] > 0.5, X[m,n], 0.0)"),
    "on the other side": (lambda t, x: t.where(0.5 >= x, x, x * 2), ""),
    "masked_fill": (lambda t, x: x.masked_fill(~(x > 0.5), 1.0), "where(X[m,n] <= 0.5, 1.0, X[m,n])"),
    "Tensor.where": (lambda t, x: x.where(x != x * 2, x), ""),
    "and": (lambda t, x: t.where((x > 0.25) & (x < 0.75), x, 0.0), ""),
    "not or": (lambda t, x: t.where(~((x < 0.25) | (x > 0.75)), x, 0.0), ""),
    "tril": (lambda t, x: t.tril(x), "where(n <= m, X[m,n], 0)"),
    "triu": (lambda t, x: x.triu(2), "where(n >= m + 2, X[m,n], 0)"),
    "below": (lambda t, x: x.tril(diagonal=-1), ""),
    "ranges": (lambda t, x: t.where(t.arange(6)[:, None] >= t.arange(5)[None, :], x, 0.0), ""),
    "a range on the GPU": (lambda t, x: t.where(t.arange(5, device="cuda") > 2, x, 0.0), "where(n > 2, X[m,n], 0.0)"),
    "a triangle of truth": (lambda t, x: x.masked_fill(t.ones(6, 5).gt(0).triu(1), 3.0), ""),
    "a triangle of ones": (
        lambda t, x: x.masked_fill(t.triu(t.ones(6, 5, dtype=t.bool), diagonal=1), 3.0),
        "where(n >= m + 1, 3.0, X[m,n])",
    ),
    "a triangle of a constant": (lambda t, x: x.masked_fill(~t.full((6, 5), True).tril(), 3.0), ""),
    "a triangle of zeros": (lambda t, x: x.masked_fill(t.zeros(6, 5).gt(0).triu(1), 3.0), ""),
    "a triangle as truth": (lambda t, x: t.where(t.tril(t.ones(6, 5)).bool(), x, 0.0), ""),
    "numbers as truth": (lambda t, x: t.where(x.mul(0).to(t.bool), x, 0.0), ""),
    "truth as truth": (lambda t, x: t.where((x > 0.5).to(t.bool), x, 0.0), ""),
    "softmax": (lambda t, x: x.softmax(-1), "softmax_n(X[m,n])"),
    "softmax of columns": (lambda t, x: t.softmax(x, dim=0), "softmax_m(X[m,n])"),
    "log_softmax": (lambda t, x: t.nn.functional.log_softmax(x, dim=1), ""),
    "logsumexp": (lambda t, x: t.logsumexp(x, 1), "logsumexp_k(X[i,k])"),
    "logsumexp kept": (lambda t, x: x.logsumexp(0, keepdim=True), ""),
    "causal by hand": (lambda t, x: mask_scores(t, x).softmax(-1) @ x, ""),
    "linear": (lambda t, x: t.nn.functional.linear(x, x[:5] * 2, x[0] * 0 + 1.5), ""),
    "a part": (lambda t, x: t.where(x > 0.5, x, 0.0)[1:], ""),
    "a part of a part": (lambda t, x: (x[1:] * 2)[:, 1:4] + x[:5, 2:], ""),
    "attention": (lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x), ""),
    "causal": (lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x * 2, x, is_causal=True, scale=0.5), ""),
    "variance": (lambda t, x: t.var(x, dim=1, keepdim=True), ""),
    "variance of all": (lambda t, x: x * x.var(unbiased=False), ""),
    "variance of columns": (lambda t, x: x.var(0, correction=2), ""),
    "layer_norm": (lambda t, x: t.nn.functional.layer_norm(x, (5,)), ""),
    "layer_norm of all": (lambda t, x: t.nn.functional.layer_norm(x, (6, 5), eps=0.5), ""),
    "layer_norm with weights": (lambda t, x: t.nn.functional.layer_norm(x, (5,), x.sum(0), x.mean(0)), ""),
    "a module": (lambda t, x: t.nn.LayerNorm(5, elementwise_affine=False, dtype=t.float64)(x), ""),
    "rms_norm": (lambda t, x: t.nn.functional.rms_norm(x, (5,), x.sum(0), 1e-3), ""),
    "einsum": (lambda t, x: t.einsum("ij,kj->ik", x, x), "sum_k ((X[m,k] * X[n,k]))"),
    "einsum of three": (lambda t, x: t.einsum("ij, kj, kl -> il", [x, x, x + 1]), ""),
    "einsum without an arrow": (lambda t, x: t.einsum("ba,bc", x, x), ""),
    "einsum of one": (lambda t, x: t.einsum("ij->ji", x), ""),
    "log": (lambda t, x: t.log(x) + x.log2() + x**2 + x.reciprocal(), ""),
}
WRONG: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "mixed words": (lambda t, x: t.where((x > 0.2) & ((x < 0.5) | (x > 0.7)), x, 0.0), "by `and` and by `or`"),
    "a row": (lambda t, x: t.where(x > 0.5, x, 0.0)[1], "a view of where"),
    "a softmax of which a part is read": (lambda t, x: x.softmax(1)[:, 1:], "along the index"),
    "another power": (lambda t, x: x**3, "exponent = 3"),
    "dropout": (lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5), "has dropout_p"),
    "a mask": (lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=x @ x.mT), "has attn_mask"),
    "a triangle of false": (
        lambda t, x: x.masked_fill(t.zeros(6, 5, dtype=t.bool).triu(1), 3.0),
        "a condition of a claim",
    ),
    "truth as numbers": (lambda t, x: x * (x > 0.5), "mixes|type"),
    "truth of another shape": (lambda t, x: t.where((x > 0.5).reshape(5, 6).T, x, 0.0), "another shape|a view"),
    "a range from 2": (lambda t, x: t.where(t.arange(2, 7) > 3, x, 0.0), "has more arguments"),
    "a range into a tensor": (
        lambda t, x: t.where(t.arange(5, out=t.empty(5, dtype=t.int64)) > 3, x, 0.0),
        "changed|out",
    ),
    "a maximum": (lambda t, x: x - x.amax(1, keepdim=True), "amax .*not in the table"),
    "a maximum of a pair": (lambda t, x: x - x.max(1, keepdim=True).values, r"max\[0\] .*not in the table"),
    "a place": (lambda t, x: x.argmax(1), "argmax .*not in the table"),
    "variance of one": (lambda t, x: x[:, :1].mul(2).var(1), "divides by no positive number"),
    "rms_norm without eps": (lambda t, x: t.nn.functional.rms_norm(x, (5,)), "has no eps"),
    "a diagonal": (lambda t, x: t.einsum("ii->i", x @ x.mT), "not read"),
    "dots": (lambda t, x: t.einsum("...j,kj->...k", x, x), "equation that is not read"),
    "a broadcast extent": (lambda t, x: t.einsum("ij,kj->ik", x, x.sum(1, keepdim=True)), "two extents of j"),
    "infinite": (lambda t, x: t.where(x > 0.5, x, INF), "isn't a number of a claim"),
}


def record(compute: Callable[[Any, Any], Any]) -> tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return (text, what it computes, what torch does) of a function of one 6 x 5 tensor."""
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(7)
    x = torch.rand(6, 5, dtype=torch.float64) + 0.01
    recorder = Recorder(torch)
    given = recorder.read_tensor(x)
    with make_mode(recorder, ArrayRecorder(recorder)):
        made = compute(torch, x)
    side = recorder.read_tensor(made)
    table = json.loads(json.dumps({str(at): content for at, content in enumerate(recorder.contents)}))
    contents = Contents(table, lambda launch: frozenset())
    array = GivenArray("X", TensorReading.of(given))
    writer = Writer(contents, -1, [array])
    names = tuple(name if extent > 1 else "" for name, extent in zip(NAMES[made.dim()], made.shape, strict=True))
    writer.sizes.update({name: extent for name, extent in zip(names, made.shape, strict=True) if name})
    text = writer.write(TensorReading.of(side), names)
    own = [name for name in names if name]
    _, value = read_claim(f"Z[{','.join(own)}] = {text}", double=True)
    axes = {index: at for at, index in enumerate([*own, *(name for name in writer.sizes if name not in own)])}
    evaluated = evaluate(value, {"X": read_array(array, x)}, axes, writer.sizes)
    evaluated = np.broadcast_to(evaluated, [*(writer.sizes[name] for name in own), *[1] * (len(axes) - len(own))])
    return text, evaluated.reshape(tuple(made.shape)), made.numpy()


@pytest.mark.parametrize("name", RIGHT)
def test_the_text_has_the_numbers_of_torch(name: str) -> None:
    compute, wanted = RIGHT[name]
    text, written, made = record(compute)
    assert wanted in ("", text)
    np.testing.assert_allclose(written, made, rtol=1e-7)


MASKING = [(name, row) for name, row in ROWS if row.relation or row.choice or row.triangle or row.range]


@pytest.mark.parametrize(("name", "row"), MASKING, ids=[name for name, _ in MASKING])
def test_a_row_of_masks_is_what_torch_computes(name: str, row: TorchOperation) -> None:
    """Truth values choose between x and 2 x; `not`, `and` and `or` are of two relations."""

    def compute(torch: Any, x: Any) -> Any:
        function = call(torch, name)
        if row.relation in ("not", "and", "or"):
            made = function(*[x > 0.3, x < 0.6][: len(row.parameters)])
        elif row.relation:
            made = function(x, 1 - x)
        elif row.choice:
            given = {"a": x if "fill" not in name else 3.0, "b": x * 2, "condition": x > 0.5}
            return function(*(given[parameter] for parameter in row.parameters))
        else:
            made = function(x, 1) if row.triangle else function(5) > 2
        if row.triangle:
            return made
        return torch.where(made, x, x * 2)

    _, written, made = record(compute)
    np.testing.assert_allclose(written, made, rtol=1e-12)


@pytest.mark.parametrize("name", WRONG)
def test_what_no_text_says_is_unchecked(name: str) -> None:
    compute, words = WRONG[name]
    with pytest.raises(Unchecked, match=words):
        record(compute)
