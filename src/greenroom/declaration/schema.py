"""The declaration as JSON schema (draft 2020-12), from the tables that the checker reads.

Committed beside this module, so that editors can take it from an installed greenroom.
"""

from __future__ import annotations

import json
import os
from typing import Any

from greenroom.declaration import tables

__all__ = ["path", "schema", "text"]


def schema() -> dict[str, Any]:
    """Return the schema of ``greenroom.toml`` and of ``[tool.greenroom]``."""
    top = tables.TOP.schema()
    # every table but [actors], whose dotted names may nest, is what the checker's is
    top["properties"]["actors"]["additionalProperties"] = {"$ref": "#/$defs/actor"}
    nested = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {
            "pattern": "^[^\\s.\\-\\d][^\\s.\\-]*$",
            "not": {"enum": [key.name for key in tables.SPEC.keys]},
        },
        "additionalProperties": {"$ref": "#/$defs/actor"},
        "description": "A part of an unquoted dotted name.",
    }
    actor = tables.ACTOR.schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "greenroom's declaration",
        **top,
        "$defs": {"actor": {**actor, "anyOf": [*actor["anyOf"], nested]}},
    }


def text() -> str:
    """Return the schema as it is committed."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def path() -> str:
    """Return where the committed schema stands."""
    return os.path.join(os.path.dirname(__file__), "greenroom.schema.json")
