"""plimsoll schema: JSON Schema of the files that people write, and of those that Plimsoll writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def _plan() -> dict[str, Any]:
    from plimsoll.load.json_schema import json_schema
    from plimsoll.load.plan_model import PlanTable

    return json_schema(PlanTable, "A plan of Plimsoll")


def _experiment() -> dict[str, Any]:
    from plimsoll.experiment.file.model import ExperimentTable
    from plimsoll.load.json_schema import json_schema

    return json_schema(ExperimentTable, "An experiment of Plimsoll")


def _limits() -> dict[str, Any]:
    from plimsoll.load.json_schema import json_schema
    from plimsoll.load.limits_model import LimitsTable

    return json_schema(LimitsTable, "The limits of a machine")


def _analysis() -> dict[str, Any]:
    from plimsoll.report.render.analysis_json import schema

    return schema()


def _run() -> dict[str, Any]:
    from plimsoll.load.json_schema import document_schema
    from plimsoll.report.render.run_fields import RunFields

    return document_schema(RunFields, "A run of Plimsoll")


WRITTEN: dict[str, Callable[[], dict[str, Any]]] = {"plan": _plan, "experiment": _experiment, "limits": _limits}
"""Of what people write."""
SCHEMAS = {**WRITTEN, "run": _run, "analysis": _analysis}
"""Also of what `plimsoll show RUN --json` and `plimsoll report --format json` write."""


@click.command(
    epilog="""\b
Examples:
  plimsoll schema plan > plan.schema.json
  plimsoll schema experiment > experiment.schema.json
An editor that knows taplo checks and completes a file whose first line is
  #:schema ./plan.schema.json"""
)
@click.argument("name", type=click.Choice(tuple(SCHEMAS)), metavar="NAME")
def schema(name: str) -> None:
    """Print the JSON Schema of a file: a plan, an experiment, limits, a run or an analysis."""
    click.echo(json.dumps(SCHEMAS[name](), indent=1, ensure_ascii=False))
