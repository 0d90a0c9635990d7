# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the files that users write, from the keys that the readers know.

`python -m tests.project.schemas --write` writes them to verify/schemas, where editors find them: a TOML file names its
schema in a first line `#:schema PATH`. A schema describes keys, types and choices; the commands check that layouts
parse, that extents fit each other and that names exist.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from isa_tables import schema as isa
from layouts.atoms import copying, mma
from verify import kinds
from verify.campaign import spec as campaign
from verify.core import specs
from verify.core.specs import keys
from verify.index import spec as index
from verify.kernel.claims import claim, compiled
from verify.kernel.claims.launch import PARAM_KEYS
from verify.kernel.data.values import SIZE
from verify.movement import spec as movement
from verify.tiling import spec as tiling

BOXES = ("none", "32B", "64B", "128B")  # swizzles of a tensor map
HOME = Path(__file__).parents[2] / "verify" / "schemas"
Schema = dict[str, Any]

WORD: Schema = {"type": "string", "pattern": r"\S"}
COUNT: Schema = {"type": "integer", "minimum": 1}
MNEMONICS: Schema = {
    "description": "instructions issued, in order; a nested list has several mnemonics of one instruction; []: none",
    "oneOf": [WORD, {"type": "array", "items": {"oneOf": [WORD, {"type": "array", "items": WORD, "minItems": 1}]}}],
}
LAYOUT = {**WORD, "description": "a layout, such as ((4,8),(2,2)):((32,1),(16,8))"}
FILLED = {"type": "string", "pattern": r"\{"}  # a text of a family, with parameters to fill in
PARAMS: Schema = {
    "description": "parameters of a family, each a list of integers or of words",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "array", "minItems": 1, "items": {"oneOf": [COUNT, WORD]}},
}


def table(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """The schema of a table with these keys and no others."""
    schema: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def of_operands(names: Iterable[str], value: Schema) -> Schema:
    """The schema of a table from operands to values."""
    return table(dict.fromkeys(names, value))


def entries(entry: Schema) -> Schema:
    """The schema of a file of entries, each a table with a name."""
    return {"type": "object", "additionalProperties": entry}


def atoms() -> Schema:
    """The schema of a file of MMA and copy atoms; an entry with Src or Dst is a copy."""
    everything = (*mma.OPERANDS, *mma.EXTRA)
    common = {
        "ptx": MNEMONICS,
        "thr": {**WORD, "description": "logical thread -> lane, a layout"},
        "source": {**WORD, "description": "where the entry comes from"},
        "known_defect": {**WORD, "description": "the operands that are refuted, a colon, and why"},
        "expect": {"type": "string", "pattern": r"^UNCHECKED\s*:"},
        "params": PARAMS,
    }
    shape = {"type": "array", "items": {"oneOf": [COUNT, FILLED]}, "minItems": 3, "maxItems": 3}
    element = {"type": "string", "pattern": f"^({mma.ELEMENT})$"}
    product = {
        **common,
        "shape": {"description": "M, N, K", "oneOf": [shape, WORD]},
        "types": of_operands((*mma.TYPED, *mma.EXTRA), WORD),
        "space": of_operands(everything, {"enum": [*mma.SPACES]}),
        "copies": of_operands(everything, COUNT),
        "relabel": {**of_operands(mma.AXES, LAYOUT), "description": "declared permutations of m, n and k"},
        "element": {"oneOf": [element, of_operands(mma.TYPED, element)]},
        **dict.fromkeys(everything, LAYOUT),
    }
    adapter = {"name": WORD, "bytes": {"type": "array", "items": {"type": "integer", "minimum": 0}}}
    copy = {
        **common,
        "space": of_operands(copying.OPERANDS, {"enum": [*copying.SPACES]}),
        "copies": of_operands(copying.OPERANDS, COUNT),
        "bits": of_operands(copying.OPERANDS, COUNT),
        "adapter": table(adapter, adapter),
        **dict.fromkeys(copying.LAYOUTS, LAYOUT),
    }
    assert product.keys() == {*mma.SAID, *mma.REQUIRED, *mma.OPTIONAL, "params"}
    assert copy.keys() == {*copying.SAID, *copying.REQUIRED, *copying.OPTIONAL, "params"}
    sorts = {
        "if": {"anyOf": [{"required": [side]} for side in copying.OPERANDS]},
        "then": table(copy, copying.REQUIRED),
        "else": table(product, mma.REQUIRED),
    }
    return entries(sorts)


def tilings() -> Schema:
    """The schema of a file of tilings."""
    number = {"type": "integer", "minimum": 1, "maximum": tiling.LARGEST}
    several = {"oneOf": [WORD, {"type": "array", "items": {"oneOf": [number, WORD]}, "minItems": 1, "maxItems": 3}]}
    values = {
        "atom": {**WORD, "description": "the atom's whole name"},
        "atoms_layout": {**several, "description": "how many atoms along M, N, K, or a layout of them"},
        "permutation": {**several, "description": "for M, N, K: _ keeps, a number enlarges, a layout also reorders"},
        "tile": {**several, "description": "the CTA's tile M, N, K"},
        **dict.fromkeys(tiling.OPERANDS, LAYOUT),
        "smem": of_operands(("A", "B"), {**WORD, "description": "the swizzle atom that shared memory repeats"}),
    }
    assert values.keys() == {"atom", *tiling.KEYS}
    return entries(table(values, ["atom"]))


def movements() -> Schema:
    """The schema of a file of movements, of three sorts."""
    later = {"width": {"type": "integer", "minimum": 8}, "narrow": {"enum": [8, 16, 32]}}
    sorts = []
    for sort in movement.SORTS.values():
        known = keys(sort)
        values = {name: later.get(name, describe_parser(key.parse)) for name, key in known.items()}
        sorts.append(table(values, [name for name, key in known.items() if key.required]))
    return entries({"oneOf": sorts})


def of_specs(specs: Iterable[type]) -> Schema:
    """The schema of a file whose tables have the fields of one of some specs."""
    forms = []
    for spec in specs:
        known = keys(spec)
        values = {name: {**describe_parser(key.parse), "description": key.help} for name, key in known.items()}
        forms.append(table(values, [name for name, key in known.items() if key.required]))
    return entries(forms[0] if len(forms) == 1 else {"oneOf": forms})


def maps() -> Schema:
    """The schema of a file of index arithmetic: an instruction with one operand, or a table for each of several."""
    names: Schema = {"type": "object", "additionalProperties": WORD}
    special = {
        "lang": {"enum": [*index.LANGUAGES]},
        "type": {"enum": ["int", "unsigned"]},
        "let": names,
        "relabel": of_operands(index.AXES, WORD),
        "select": {"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
        "memory": {"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
        "operand": {"type": "string", "pattern": f"^({index.OPERAND.pattern})$"},
    }
    values = {name: {**special.get(name, WORD), "description": key.help} for name, key in index.options().items()}
    own = {name: value for name, value in values.items() if name in keys(index.OperandSpec)}
    several = {
        **table({name: values[name] for name in index.SHARED}, ["ptx"]),
        "patternProperties": {f"^({index.OPERAND.pattern})$": table(own)},
    }
    return entries({"if": {"required": ["operand"]}, "then": table(values, ["ptx", "operand"]), "else": several})


def campaigns() -> Schema:
    """The schema of a file of campaigns, of two kinds."""
    listed: Schema = {"type": "array", "items": WORD, "minItems": 1}
    kinds = []
    for kind, spec in campaign.KINDS.items():
        known = keys(spec)
        values = {name: {**describe_parser(key.parse), "description": key.help} for name, key in known.items()}
        values |= {"kind": {"const": kind}} | ({"atoms": listed} if "atoms" in known else {})
        kinds.append(table(values, [name for name, key in known.items() if key.required]))
    return entries({"oneOf": kinds})


def describe_parser(parse: object) -> Schema:
    """The schema of a value, from its parser."""
    if isinstance(parse, specs.Choice):
        return {"enum": [*parse.choices]}
    if isinstance(parse, specs.Between):
        return {"type": "integer", "minimum": parse.least, "maximum": parse.most}
    if isinstance(parse, specs.Several):
        return {"type": "array", "items": describe_parser(parse.each), "minItems": 1, "uniqueItems": True}
    return WORD


def instructions() -> Schema:
    """The schema of an instruction's table; tables named by capitals are its operands."""
    texts: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
    word: Schema = {"type": ["integer", "string"]}
    words: Schema = {"type": "array", "items": word, "minItems": 1}
    size: Schema = {"oneOf": [COUNT, {"type": "string"}]}
    name: Schema = {"type": "string", "pattern": f"^{isa.OPERAND.pattern}$"}
    row: Schema = {
        "type": "array",
        "items": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    }
    of: dict[str, Schema] = {
        "text": {"type": "string"},
        "texts": {"type": "array", "items": {"type": "string"}},
        "targets": {"type": "array", "items": {"type": "string", "pattern": f"^{isa.TARGET.pattern}$"}},
        "count": COUNT,
        "size": size,
        "offset": {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]},
        "pair": {"type": "array", "items": size, "minItems": 2, "maxItems": 2},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2, "uniqueItems": True},
        "truth": {"type": "boolean"},
        "space": {"enum": [*isa.SPACES]},
        "named texts": texts,
        "places": {"type": "object", "additionalProperties": {"enum": [*isa.SPACES]}},
        "maps": of_operands(("row", "col"), {"type": "string"}),
        "table": {"type": "object"},
        "tables": {"type": "array", "items": {"type": "object"}, "minItems": 1},
        "choices": {"type": "object", "additionalProperties": words},
        "conditions": {"type": "object", "additionalProperties": {"oneOf": [word, words]}},
        "types": {"type": "array", "items": row, "minItems": 1},
        "operands": {"type": "array", "items": name, "minItems": 1},
        "columns": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
    }

    def keys(name: str) -> dict[str, Schema]:
        kinds = {kind: word for word, kind in isa.KINDS.items()}
        return {key: of[kinds[kind]] for key, kind in isa.keys()[name].items()}

    form = table(keys("form"), ("mnemonic", "targets"))
    case = table({**keys("operand"), "when": of["conditions"]}, ("when",))
    operand = table({**keys("operand"), "case": {"type": "array", "items": case, "minItems": 1}})
    file = {
        **keys("file"),
        **keys("form"),
        "form": {"type": "array", "items": form, "minItems": 1},
        "descriptor": {"type": "array", "items": table(keys("descriptor"), ("types",)), "minItems": 1},
        "sparsity": table(keys("sparsity"), ("columns", "kept")),
    }
    return {
        **table(file, ("schema", "isa", "section", "lanes")),
        "patternProperties": {name["pattern"]: operand},
    }


def claims() -> Schema:
    """The schema of a claim about a kernel: one table, with one for each array and one for what Triton compiles."""
    number: Schema = {"type": "number"}
    count: Schema = {"description": "an integer, or an expression of the sizes", "type": ["integer", "string"]}
    three = {"oneOf": [count, {"type": "array", "items": count, "minItems": 1, "maxItems": 3}]}
    sizes: Schema = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}
    every: Schema = {"const": "all"}
    words: Schema = {"type": "array", "items": WORD}
    flag: Schema = {"type": "boolean"}
    columns: Schema = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "minItems": 1}
    array = {
        "dims": {"oneOf": [WORD, {**words, "minItems": 1, "uniqueItems": True}]},
        "type": {"enum": [name for name in SIZE if name]},
        "strides": {"type": "array", "items": count, "minItems": 1},
        "offset": count,
        **dict.fromkeys(("out", "scratch", "zero"), flag),
        "range": {"type": "array", "items": number, "minItems": 2, "maxItems": 2},
        "sparse": {"oneOf": [flag, columns]},
        "metadata": WORD,
    }
    copied = {
        "map": WORD,
        "box": {"type": "array", "items": COUNT},
        "swizzle": {"enum": [*BOXES]},
        "dims": array["dims"],
    }
    maps = {"type": "object", "additionalProperties": table(copied, ["map", "box"])}
    packed = {"struct": WORD, "values": {"type": "array", "items": {"type": ["number", "string"]}}, "maps": maps}
    valued = {"value": {"type": ["number", "string"]}, "type": WORD}
    tables = [table(packed, ["struct"]), table(copied, ["map", "box"]), table(valued, ["value"])]
    param: Schema = {"oneOf": [{"type": ["number", "string"]}, *tables, table({"unused": {"const": True}}, ["unused"])]}
    python = {str: WORD, dict: {"type": "object"}, int: COUNT}
    values = {
        **{"kernel": WORD, "claim": WORD, "ptx": WORD, "accumulate": WORD},
        **{"grid": three, "block": three, "smem": count, "smem_align": COUNT},
        "sizes": {"oneOf": [sizes, every, {"type": "array", "items": {"oneOf": [sizes, every]}, "minItems": 1}]},
        "tiles": {"type": "object", "additionalProperties": COUNT},
        "stages": COUNT,
        "scalars": {"type": "object", "additionalProperties": number},
        "params": {"type": "array", "items": param},
        **{"narrow": words, "given": words, "floor": number, "elected": {"enum": [*claim.ELECTED]}},
        "arrays": {"type": "object", "additionalProperties": table(array, ("dims", "type")), "minProperties": 1},
    }
    assert values.keys() == {*claim.KEYS} and array.keys() == {*claim.ARRAY_KEYS}
    assert {key for form in tables for key in form["properties"]} | {"unused"} == {*PARAM_KEYS}
    values["triton"] = table({name: python[kind] for name, kind in compiled.KEYS.items()})
    return table(values, ["arrays"])


OF_THEIR_OWN = {  # kinds whose files have more to say than the fields of their specs, by name
    "atom": atoms,
    "tiling": tilings,
    "movement": movements,
    "index": maps,
    "campaign": campaigns,
}


def schemas() -> dict[str, Callable[[], Schema]]:
    """The schema of a file of each kind, by the name of its file."""
    kept = [kind for kind in kinds.all() if kind.signs is not None]
    by_file = {
        kind.plural.replace(" ", "_"): OF_THEIR_OWN.get(kind.name, partial(of_specs, kind.specs())) for kind in kept
    }
    return {**by_file, "instruction": instructions, "claims": claims}


def text(name: str) -> str:
    """The text of a schema's file."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"Lanecheck: {name}"}
    return json.dumps(head | schemas()[name](), indent=1) + "\n"


if __name__ == "__main__":
    for each in schemas():
        if sys.argv[1:] == ["--write"]:
            HOME.mkdir(exist_ok=True)
            (HOME / f"{each}.schema.json").write_text(text(each), encoding="utf-8")
        else:
            print(text(each), end="")
