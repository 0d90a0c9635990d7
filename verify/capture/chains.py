# SPDX-License-Identifier: Apache-2.0
"""A chain of launches as one claim: what the last one wrote, as a function of the tensors that the first ones read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from verify.capture.claims import TestClaim, claim_side, list_parts, make_table, refuse_problem
from verify.capture.contents import KINDS, Contents, TensorReading, say_made
from verify.capture.expressions import GivenArray
from verify.capture.places import Unchecked
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.ptx.parse import parse_kernel

Launches = Sequence[Mapping[str, Any]]
MOST = 8  # launches of a chain


def list_earlier(contents: Contents, launches: Launches, launch: int) -> list[int]:
    """Return the launches whose results a launch reads, and those whose results these read, in order."""
    earlier, rest = set[int](), [launch]
    while rest:
        for number in _list_sources(contents, launches[rest.pop()]):
            if number not in earlier:
                earlier.add(number)
                rest.append(number)
    return sorted(earlier)


def _list_sources(contents: Contents, launch: Mapping[str, Any]) -> Iterator[int]:
    """Yield the launches that wrote a tensor which a launch is given."""
    for tensor in launch["variants"][0]["tensors"]:
        content = contents.table[contents.resolve(tensor["content"])]
        if content["kind"] == "after":
            yield content["launch"]


def build_chain(
    contents: Contents,
    launches: Launches,
    earlier: Sequence[int],
    last: tuple[int, Mapping[str, Any]],
    sides: Sequence[tuple[TensorReading, TensorReading]],
    uses: Sequence[Mapping[str, Any]],
) -> TestClaim:
    """Return the claim of the last launch of a chain, (number, variant), as (side, reference); raises Unchecked."""
    if len(earlier) >= MOST:
        raise Unchecked(f"a chain of {len(earlier) + 1} launches")
    variants = {number: launches[number]["variants"] for number in earlier}
    if any(len(configs) > 1 or configs[0].get("timed") for configs in variants.values()):
        raise Unchecked("a launch before it has several configurations")
    chain = [*((number, configs[0]) for number, configs in variants.items()), last]
    arrays, aliases = _join_arrays(contents, chain)
    claim = claim_side(contents, last, (arrays, aliases[-1]), sides, uses)
    before = []
    for (_, variant), alias in zip(chain[:-1], aliases, strict=False):
        table = make_table(variant, arrays, alias, dict(claim.table["sizes"]), contents)
        before.append((variant["ptx"], {**table, "narrow": claim.table["narrow"]}))
    text = f"{claim.text}, after {' and '.join(f'launch {number + 1}' for number in earlier)}"
    return replace(claim, text=text, before=tuple(before), parts=_list_all_parts(arrays, chain, aliases))


def _list_all_parts(
    arrays: Sequence[GivenArray], chain: Sequence[tuple[int, Mapping[str, Any]]], aliases: Sequence[Mapping[str, str]]
) -> tuple[str, ...]:
    """Return the arrays that are parts of a larger tensor, of all launches of a chain."""
    tensors = [
        {**tensor, "arg": alias[tensor["arg"]]}
        for (_, variant), alias in zip(chain, aliases, strict=True)
        for tensor in variant["tensors"]
    ]
    return list_parts(arrays, {"tensors": tensors})


def _join_arrays(
    contents: Contents, chain: Sequence[tuple[int, Mapping[str, Any]]]
) -> tuple[list[GivenArray], list[dict[str, str]]]:
    """Return the arrays of all launches of a chain, and for each launch the array of each argument.

    Arrays have the names of the last launch's arguments; of others those that are free.
    """
    arrays: dict[int, GivenArray] = {}
    aliases: list[dict[str, str]] = []
    for number, variant in (chain[-1], *chain[:-1]):
        refuse_problem(variant)
        if variant["scratch"]:
            raise Unchecked("a launch of the chain has scratch memory")
        alias = dict[str, str]()
        for tensor in variant["tensors"]:
            base = _find_first(contents, tensor["content"])
            why = contents.rests_on(base)
            if why:
                raise Unchecked(f"{tensor['arg']} is {say_made(contents.table[base])}, and {why}")
            reading = replace(TensorReading.of(tensor), content=base)
            if reading.dtype not in KINDS and reading.dtype != "bool":
                raise Unchecked(f"{tensor['arg']} is of type {reading.dtype}")
            if not len(reading.places):
                raise Unchecked(f"{tensor['arg']} has no elements")
            names = {array.name for array in arrays.values()}
            name = tensor["arg"] if tensor["arg"] not in names else f"{tensor['arg']}_{number + 1}"
            known = arrays.setdefault(base, GivenArray(name, reading))
            if known.reading != reading:
                raise Unchecked(f"{known.name} and {tensor['arg']} are different views of one tensor")
            alias[tensor["arg"]] = known.name
        aliases.append(alias)
    return list(arrays.values()), [*aliases[1:], aliases[0]]


def _find_first(contents: Contents, number: int) -> int:
    """Return the content that a tensor had before any launch."""
    while (content := contents.table[number])["kind"] == "after":
        number = content["before"]
    return number


def put_before(claim: KernelClaim, before: Sequence[tuple[str, Mapping[str, Any]]]) -> KernelClaim:
    """Return a claim whose launch comes after others, (PTX, table) each."""
    if not before:
        return claim
    earlier = []
    for ptx, table in before:
        kernel = parse_kernel(ptx, str(table["kernel"]))
        earlier.append((kernel, claim_of(table, claimed=False).launches[0]))
    return claim._replace(launches=tuple(launch._replace(before=tuple(earlier)) for launch in claim.launches))
