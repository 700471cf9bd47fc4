"""The JSON Schema of a report, as shipped in `glge/report.schema.json`.

`python -m glge.reports.schema` writes that file anew after a change of `glge/results.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import DataclassField, ModelField, TypedDictField

from glge.reports.files import write
from glge.results import SCHEMA_VERSION, Report

COMMAND = "python -m glge.reports.schema"
PATH = Path(__file__).parents[1] / "report.schema.json"


class _Written(GenerateJsonSchema):
    """The schema of what is written: every key is there, those with a default too."""

    def field_is_required(self, field: ModelField | DataclassField | TypedDictField, total: bool) -> bool:
        return True


def schema() -> dict[str, Any]:
    """The schema of what `render(report, "json")` writes: every key is there, always."""
    model = Report.model_json_schema(schema_generator=_Written, mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:glge:report:{SCHEMA_VERSION}",
        **model,
        "title": "GLGE report",
    }


def text() -> str:
    """The schema as the text of its file."""
    return json.dumps(schema(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    write(text(), PATH)
