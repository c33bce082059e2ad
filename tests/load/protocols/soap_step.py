"""A step of the tests: a call of SOAP, and its row in the registry; run as a script, `plimsoll` that has it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from plimsoll.load.bodies import header_lines
from plimsoll.load.protocols.steps import STEPS
from plimsoll.load.step_model import StepTable

if TYPE_CHECKING:
    from plimsoll.load.protocols.draft import Draft


class SoapStep(StepTable):
    """[[flow.step]] with soap: a call of SOAP."""

    made_by: ClassVar = ("soap",)
    called: ClassVar = "a call of SOAP"
    instead: ClassVar = {"body": "the call is in soap"}

    soap: str | None = None
    """The call."""

    def definition(self, draft: Draft, path: str) -> dict[str, Any]:
        target, where = draft.locate(self, "/soap", path, None)
        body = {"json": json.dumps({"call": self.soap})}
        own = {"name": self.name or "call", "target": target, "method": "POST", "path": where}
        return {**own, "headers": header_lines(self.headers), **self.common(draft, body)}


STEPS.append(SoapStep)

if __name__ == "__main__":
    from plimsoll.cli import main

    main(prog_name="plimsoll")
