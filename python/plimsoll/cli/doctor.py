"""`plimsoll doctor`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.checks import all_checks
from plimsoll.cli.common import json_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.cli.checks import MachineCheck


@click.command(
    epilog="""\b
Examples:
  plimsoll doctor
  plimsoll doctor --json | jq '.checks[] | select(.verdict == "warn")'

The exit code is 1 when there is a warning."""
)
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check whether this machine is fit to generate load, and say what to change."""
    checks = all_checks()
    click.echo(json.dumps(_document(checks), indent=2, ensure_ascii=False) if as_json else _text(checks))
    ctx.exit(0 if all(check.ok for check in checks) else 1)


def _verdict(check: MachineCheck) -> str:
    return "ok" if check.ok else "warn"


def _text(checks: Sequence[MachineCheck]) -> str:
    name = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{_verdict(check):<4}  {check.name:<{name}}  {check.value}")
        if check.advice:
            lines.append(f"{'':<4}  {'':<{name}}  → {check.advice}")
    return "\n".join(lines)


def _document(checks: Sequence[MachineCheck]) -> dict[str, Any]:
    rows = [
        {"name": check.name, "value": check.value, "verdict": _verdict(check), "advice": check.advice}
        for check in checks
    ]
    return {"schema": "plimsoll.doctor", "version": 1, "checks": rows}
