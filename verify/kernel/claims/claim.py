# SPDX-License-Identifier: Apache-2.0
"""The claim beside a kernel: what it computes, on which arrays, with which parameters, grid and sizes.

`claim_of(table)` gives the `KernelClaim` of a table, or raises SpecError. Sizes may be a list, each a `Launch`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from verify.core.errors import SpecError
from verify.kernel.claims import defaults, expression, sparsity
from verify.kernel.claims.evaluation import index_places
from verify.kernel.claims.every import concrete, for_all
from verify.kernel.claims.expression import whole
from verify.kernel.claims.launch import MAX_ELEMENTS, MAX_PLACES, Array, Launch, require_known, sort_axes
from verify.kernel.claims.rewriting import divide_by_logged, settle_roots
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.floats import largest
from verify.kernel.data.values import LIMITS, SIZE

MAX_BYTES = 1 << 39  # from the start of an array's memory to its end: more than any GPU has
MAX_SPARSE = 1 << 20  # of a sparse one
MAX_SHARED = 1 << 18  # bytes of dynamic shared memory: more than any GPU has
MOST_FLOOR = -1000.0  # exp2 of it is 0 in f32, whatever is added to it that is small
MAX_THREADS = 1 << 30  # of a grid; a run of all its CTAs takes fewer
KEYS = (
    *("kernel", "grid", "block", "smem", "sizes", "tiles", "stages", "claim", "scalars", "params", "accumulate"),
    *("narrow", "arrays", "smem_align", "given", "floor", "elected", "ptx"),
)
ELECTED = ("any", "lowest")  # which lane elect.sync chooses
ARRAY_KEYS = ("dims", "type", "strides", "offset", "out", "scratch", "zero", "range", "sparse", "metadata")
MUST = {  # keys that every claim has, with an example
    "grid": 'the CTAs of the launch, as grid = ["cdiv(M, 64)", "cdiv(N, 64)"]',
    "block": "the threads of a CTA, as block = 128",
    "claim": 'what it computes, as claim = "C[m,n] = sum_k A[m,k]*B[k,n]"',
    "arrays": "a table for each array, as [arrays]",
}
WORDS = ("u8", "u16", "u32")  # types of metadata
NOTHING = (
    expression.Element("", ()),
    expression.ClaimNumber(Fraction(0)),
)  # target and value of a launch without a claim


class KernelClaim(NamedTuple):
    """A claim: which kernel, its text, and one launch for each table of sizes."""

    kernel: str
    text: str
    launches: tuple[Launch, ...]
    file: str = ""
    for_all: Mapping[str, Any] | None = None  # the table of a claim for all sizes


def _launch(table: Mapping[str, Any], sizes: Any) -> Launch:
    """Return the launch of one table of sizes."""
    if not isinstance(sizes, dict) or not all(type(extent) is int and extent >= 0 for extent in sizes.values()):
        raise SpecError("sizes", "expected a table of integers, as { M = 128, N = 192, K = 64 }")
    arrays, filled = _arrays(table["arrays"], sizes)
    target, value = expression.read_claim(table["claim"]) if "claim" in table else NOTHING
    double = any(array.name == target.name and array.kind in ("f64", *LIMITS) for array in arrays)  # integers are exact
    if double and "claim" in table:
        target, value = expression.read_claim(table["claim"], double)
    value = divide_by_logged(
        settle_roots(value, {name: sizes[name] for name in sizes if name not in table.get("scalars", {})})
    )
    launch = Launch(
        sizes=sizes,
        grid=_three("grid", table["grid"], sizes),
        block=_three("block", table["block"], sizes),
        smem=_read_shared_bytes(table.get("smem", 0), sizes),
        arrays=arrays,
        params=tuple(table.get("params", ())),
        scalars={name: _fraction(f"scalars.{name}", given, double) for name, given in table.get("scalars", {}).items()},
        target=target,
        value=value,
        narrow=tuple(dict.fromkeys([*table.get("narrow", []), table.get("accumulate", "f32")])),
        filled=(*(() if "sizes" in table else ("sizes",)), *filled),
        floor=_floor(table["floor"]) if "floor" in table else 0.0,
        smem_align=_alignment(table["smem_align"]) if "smem_align" in table else 0,
        elected=_read_elected(table.get("elected", ELECTED[0])),
    )
    extents = _check(launch, table["claim"]) if "claim" in table else {}
    _check_threads(launch)
    return launch._replace(extents=extents)


def claim_of(table: Mapping[str, Any], file: str = "", *, claimed: bool = True) -> KernelClaim:
    """Return the claim of a table; without `claimed` it may leave the key `claim` out, and says how to launch."""
    require_known(table, KEYS, "")
    for key, example in MUST.items():
        if key not in table and (claimed or key != "claim"):
            raise SpecError(key, f"this key is missing: {example}")
    if not isinstance(table.get("claim", ""), str):
        raise SpecError("claim", "expected a text, as C[m,n] = sum_k A[m,k]*B[k,n]")
    if not isinstance(table["arrays"], dict) or (claimed and not table["arrays"]):
        raise SpecError("arrays", "expected a table with a table for each array")
    for key, kind in (("params", list), ("scalars", dict), ("narrow", list), ("accumulate", str), ("kernel", str)):
        if key in table and not isinstance(table[key], kind):
            raise SpecError(key, f"expected a {kind.__name__}, found {table[key]!r:.60}")
    if not {"claim", "sizes"} & table.keys():
        table = {**table, "sizes": {}}
    whole_table = table if for_all(table) else None
    if whole_table is not None and not claimed:
        raise SpecError("sizes", '"all" proves a claim, and none is checked here: give numbers')
    table = concrete(table) if whole_table is not None else table
    sizes = table["sizes"] if "sizes" in table else defaults.sizes(table)
    if sizes == []:
        raise SpecError("sizes", "an empty list: nothing would be checked; give a table, or leave the key out")
    launches = tuple(_launch(table, chosen) for chosen in (sizes if isinstance(sizes, list) else [sizes]))
    return KernelClaim(table.get("kernel", ""), table.get("claim", ""), launches, file, whole_table)


def _fraction(key: str, value: Any, double: bool) -> Fraction:
    """Return a scalar as the kernel holds it."""
    if type(value) not in (int, float):
        raise SpecError(key, f"expected a number, found {value!r:.60}")
    try:
        return expression.round_number(value, double)
    except (ValueError, OverflowError):
        raise SpecError(key, f"{value} isn't a number of type {'f64' if double else 'f32'}") from None


def _three(key: str, given: Any, sizes: Mapping[str, int]) -> tuple[int, int, int]:
    parts = given if isinstance(given, list) else [given]
    if not 1 <= len(parts) <= 3:
        raise SpecError(key, f"expected one to three numbers, found {given!r:.60}")
    numbers = [whole(key, part, sizes) for part in parts] + [1, 1]
    if min(numbers) < 1:
        raise SpecError(key, f"every extent is at least 1, found {numbers[: len(parts)]}")
    return numbers[0], numbers[1], numbers[2]


def _read_shared_bytes(given: Any, sizes: Mapping[str, int]) -> int:
    """Return the bytes of dynamic shared memory."""
    count = whole("smem", given, sizes)
    if not 0 <= count <= MAX_SHARED:
        raise SpecError("smem", f"0 to {MAX_SHARED} bytes, found {count}")
    return count


def _floor(given: Any) -> float:
    """Return the number from which on numbers stand for -inf."""
    if type(given) not in (int, float) or not -1e38 < given <= MOST_FLOOR:
        raise SpecError("floor", f"expected a number up to {MOST_FLOOR:g}, as -1e5, found {given!r:.60}")
    return float(given)


def _read_elected(given: Any) -> str:
    """Return which lane elect.sync chooses."""
    if given not in ELECTED:
        raise SpecError("elected", f"expected one of {', '.join(ELECTED)}, found {given!r:.60}")
    return str(given)


def _alignment(given: Any) -> int:
    """Return the alignment of dynamic shared memory."""
    if type(given) is not int or not 1 <= given <= MAX_SHARED or given & (given - 1):
        raise SpecError("smem_align", f"expected a power of two in bytes, as 1024, found {given!r:.60}")
    return given


def _arrays(table: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[tuple[Array, ...], list[str]]:
    """Return the arrays of a table, and in words the strides and offsets that it does not give."""
    made: list[Array] = []
    filled = []
    for number, (name, given) in enumerate(table.items()):
        taken = {*sizes.values(), *(step for array in made for step in array.strides)}
        made.append(_array(name, number, given, sizes, taken))
        if "strides" not in given and len(made[-1].dims) > 1:
            filled.append(f"strides {'x'.join(map(str, made[-1].strides))} of {name}")
        if "offset" not in given:
            filled.append(f"{name} from element {made[-1].offset}")
    return _metadata(made, table), filled


def _array(name: str, number: int, given: Any, sizes: Mapping[str, int], taken: set[int]) -> Array:
    key = f"arrays.{name}"
    if not isinstance(given, dict):
        raise SpecError(key, 'expected a table, as { dims = "mk", type = "f16", strides = ["K+8", 1] }')
    require_known(given, ARRAY_KEYS, key)
    dims, kind = given.get("dims"), given.get("type")
    dims = tuple(dims) if isinstance(dims, (str, list)) and dims else ()
    if not dims or not all(isinstance(dim, str) for dim in dims) or len(set(dims)) < len(dims):
        raise SpecError(f"{key}.dims", 'expected the names of its indices, as "mk"')
    if not isinstance(kind, str) or kind not in SIZE or not kind:
        raise SpecError(f"{key}.type", f"expected one of {', '.join(known for known in SIZE if known)}, found {kind!r}")
    shape = tuple(_extent(f"{key}.dims", dim, sizes) for dim in dims)
    strides = given["strides"] if "strides" in given else defaults.strides(shape, taken)
    if not isinstance(strides, (list, tuple)) or len(strides) != len(dims):
        raise SpecError(f"{key}.strides", f"expected {len(dims)} strides, found {strides!r:.60}")
    steps = tuple(whole(f"{key}.strides", stride, sizes) for stride in strides)
    flags = [given.get(flag, False) for flag in ("out", "scratch", "zero")]
    if not all(isinstance(flag, bool) for flag in flags):
        raise SpecError(key, "out, scratch and zero are true or false")
    offset = whole(f"{key}.offset", given["offset"] if "offset" in given else defaults.offset(number, kind), sizes)
    made = Array(name, dims, shape, steps, kind, offset, *flags)._replace(limits=_limits(given, key))
    if 0 in shape and (made.out or given.get("sparse") or given.get("metadata")):
        extents = "x".join(map(str, shape))
        raise SpecError(f"{key}.dims", f"{extents} elements: only an array that is read may have none")
    if given.get("sparse", False) is not False:
        made = _sparse(made, given["sparse"], key)
    _check_places(made, key)
    return made


def _limits(given: Mapping[str, Any], key: str) -> tuple[float, float] | None:
    """Return the least and the greatest number of an array, integers if it is one of integers."""
    limits, kind = given.get("range"), given["type"]
    if limits is None:
        return None
    types = (int,) if kind in LIMITS else (int, float)
    least, most = LIMITS.get(kind) or (-float(largest(kind)), float(largest(kind)))
    if not isinstance(limits, list) or len(limits) != 2 or not all(type(limit) in types for limit in limits):
        raise SpecError(f"{key}.range", f"expected the least and the greatest number, as [0, 15], found {limits!r:.60}")
    if not least <= limits[0] <= limits[1] <= most or given.get("zero") is True:
        said = f"expected numbers from {least:.15g} to {most:.15g}, the least first, found {limits}"
        raise SpecError(f"{key}.range", said)
    return limits[0], limits[1]


def _sparse(array: Array, given: Any, key: str) -> Array:
    """Return a matrix of which only the columns of a pattern are stored; `true` draws one."""
    listed = isinstance(given, list) and given and all(isinstance(group, list) for group in given)
    if len(array.shape) != 2 or array.out or array.scratch or not (given is True or listed):
        raise SpecError(f"{key}.sparse", "expected true or a list of stored columns, of an input with two indices")
    if int(np.prod(array.shape, dtype=object)) > MAX_SPARSE:
        raise SpecError(f"{key}.sparse", f"at most {MAX_SPARSE} elements")
    try:
        stored = sparsity.columns(array.kind, *array.shape, None if given is True else given)
    except (ValueError, TypeError) as error:
        raise SpecError(f"{key}.sparse", str(error)) from None
    except KeyError:
        raise SpecError(f"{key}.sparse", f"no metadata describes elements of type {array.kind}") from None
    return array._replace(stored=stored)


def _metadata(arrays: Sequence[Array], table: Mapping[str, Any]) -> tuple[Array, ...]:
    """Return the arrays, those that are metadata with their words."""
    made = list(arrays)
    for place, array in enumerate(arrays):
        of, key = table[array.name].get("metadata"), f"arrays.{array.name}"
        if of is None:
            continue
        sparse = next((matrix for matrix in arrays if matrix.name == of and matrix.stored is not None), None)
        if sparse is None or sparse.stored is None or array.kind not in WORDS or len(array.shape) != 2:
            raise SpecError(
                f"{key}.metadata", f"expected words ({', '.join(WORDS)}) with two indices, of a sparse array"
            )
        try:
            content = sparsity.words(sparse.kind, sparse.stored, 8 * SIZE[array.kind], sparse.shape[1])
        except ValueError as error:
            raise SpecError(f"{key}.metadata", str(error)) from None
        if content.shape != array.shape or array.out or array.scratch or array.zero:
            raise SpecError(f"{key}.dims", f"an input of {content.shape} words of metadata, not {array.shape}")
        made[place] = array._replace(content=content)
    return tuple(made)


def _check_places(array: Array, key: str) -> None:
    large = int(np.prod(array.shape, dtype=object)) > MAX_ELEMENTS
    apart = min(array.strides) >= 0 and sort_axes(array) is not None
    if array.offset < 0 or (large and not apart):
        raise SpecError(key, f"at most {MAX_ELEMENTS} elements, from an offset of 0 up")
    if min(array.strides) < 0 or array.end * SIZE[array.kind] > MAX_BYTES:
        raise SpecError(f"{key}.strides", f"strides from 0 up, within {MAX_BYTES} bytes")
    if apart:
        return
    places = array.places[array.places >= 0]
    if not places.size:
        return
    few = array.end <= MAX_PLACES  # so that each can be counted
    if int(np.bincount(places).max()) > 1 if few else len(sort_distinct(places)) < len(places):
        raise SpecError(f"{key}.strides", f"two elements of {array.name} have the same place")


def _extent(key: str, dim: str, sizes: Mapping[str, int]) -> int:
    """Return the extent of an index: the size of its name, or of its name in capitals; a number is itself."""
    if dim.isdigit():
        return int(dim)
    for name in (dim, dim.upper()):
        if name in sizes:
            return sizes[name]
    raise SpecError(key, f"no size is named {dim!r} or {dim.upper()!r}")


def _in_text(text: str, word: str, problem: str) -> expression.ClaimTextError:
    """Return the error at a word of the claim's text."""
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return expression.ClaimTextError(problem, text, match.start() if match else 0)


def _check(launch: Launch, text: str) -> dict[str, int]:
    """Return the extents of the claim's indices; SpecError unless its text fits the arrays."""
    names = {array.name: array for array in launch.arrays}
    for element in (launch.target, *expression.elements(launch.value)):
        if element.name not in names:
            raise _in_text(text, element.name, f"no array is named {element.name!r}; there are {', '.join(names)}")
        array = names[element.name]
        if array.content is not None:
            problem = f"{array.name} is metadata: the claim is about the matrix that it describes"
            raise _in_text(text, array.name, problem)
        if len(element.indices) != len(array.dims):
            problem = f"{array.name} has {len(array.dims)} indices, the claim gives {len(element.indices)}"
            raise _in_text(text, array.name, problem)
    if not names[launch.target.name].out:
        raise SpecError(f"arrays.{launch.target.name}", "the claim is about it: out = true")
    indices = {index for element in (launch.target, *expression.elements(launch.value)) for index in element.indices}
    for name in expression.scalars(launch.value) - launch.scalars.keys() - indices - launch.sizes.keys():
        raise _in_text(text, name, f"no scalar is named {name!r}: scalars = {{ {name} = … }}")
    return _extents(launch, names, text)


def _check_threads(launch: Launch) -> None:
    threads = int(np.prod(launch.grid, dtype=object) * np.prod(launch.block, dtype=object))
    if threads > MAX_THREADS or np.prod(launch.block, dtype=object) > 1024:
        raise SpecError("grid", f"{threads} threads; at most {MAX_THREADS}, and 1024 of a CTA")


def _extents(launch: Launch, arrays: Mapping[str, Array], text: str) -> dict[str, int]:
    """Return the extent of each index of the claim; SpecError where arrays differ, or an index leaves one."""
    every = (launch.target, *expression.elements(launch.value))
    extents: dict[str, int] = {}
    for element in every:
        for index, extent in zip(element.indices, arrays[element.name].shape, strict=True):
            if index.isidentifier() and extents.setdefault(index, extent) != extent:
                problem = f"index {index} has {extents[index]} values, and {extent} in {element.name}"
                raise _in_text(text, element.name, problem)
    for index in expression.list_summed(launch.value) - extents.keys() & launch.sizes.keys():
        extents[index] = launch.sizes[index]  # of an index that no element has alone: sum_k A[m,k+64]
    for element in every:
        for index, extent in zip(element.indices, arrays[element.name].shape, strict=True):
            _, places = index_places(index, extents, launch.sizes)
            if places is not None and (element is launch.target or ((places < 0) | (places >= extent)).any()):
                raise _in_text(text, element.name, f"the index {index} of {element.name} leaves its {extent} values")
    return extents
