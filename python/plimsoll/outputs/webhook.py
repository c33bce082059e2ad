"""A message with the verdict when a run ends, as JSON that Slack and what takes the same understand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.transports import HttpTransport, http_headers

if TYPE_CHECKING:
    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.output import OutputEvent

VERDICTS = {
    "passed": "passed",
    "failed": "failed",
    "invalid": "is invalid: its load was not the load that was asked for",
}


class Webhook(DeliveredOutput):
    """Sends nothing before the end of the run."""

    def __init__(self, target: OutputTarget) -> None:
        """Raises UsageError."""
        transport = HttpTransport(target.url, "application/json", http_headers(target.settings))
        super().__init__(Delivery(target.name, transport, is_of_lines=False))

    def event(self, event: OutputEvent) -> None:
        if event.kind != "end":
            return
        details = event.details
        lines = [
            f"Run {self._run.id} ({self._run.name}) {VERDICTS[details['verdict']]}.",
            event.text,
            *(f"Invalid: {reason}." for reason in details["reasons"]),
            *(
                f"Threshold {result['text']}: {result['outcome']}. {result['detail']}"
                for result in details["thresholds"]
            ),
        ]
        message = {"text": "\n".join(lines), "run": self._run.id, "name": self._run.name, **details}
        self._delivery.put(json.dumps(message, ensure_ascii=False).encode())
