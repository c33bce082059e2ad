"""A message with the verdict when a run, an experiment or a comparison ends: as JSON, or as a chat system takes it."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plimsoll.errors import UsageError
from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.transports import HttpTransport, http_headers
from plimsoll.report.notice import Notice
from plimsoll.say.notices import invalid_line, run_notice_title, threshold_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.output import OutputEvent

MOST_LETTERS = 12_000
"""Of the text of a message. Slack takes 40,000, and Teams 28 KB in all."""
MOST_FINDINGS = 5
"""Of a run, in its message."""
_SLACK_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MARKDOWN_ESCAPES = str.maketrans({letter: f"\\{letter}" for letter in "\\*_[]`#~"})
_MARKS = {"passed": "✅", "failed": "❌", "invalid": "⚠️"}
_TONES = {"passed": "Good", "failed": "Attention", "invalid": "Warning"}
_CARD = "application/vnd.microsoft.card.adaptive"
_HOSTS = {
    "hooks.slack.com": "slack", "webhook.office.com": "teams", "logic.azure.com": "teams",
    "powerplatform.com": "teams",
}  # fmt: skip
"""Templates by the end of a host's name."""


def _as_json(notice: Notice) -> dict[str, Any]:
    return {"text": "\n".join((notice.title, *notice.lines)), **notice.details}


def _as_slack(notice: Notice) -> dict[str, Any]:
    """https://api.slack.com/messaging/webhooks: text in Slack's own markup."""
    title, *lines = (text.translate(_SLACK_ESCAPES) for text in (notice.title, *notice.lines))
    return {"text": "\n".join((f"{_MARKS[notice.verdict]} *{title}*", *lines))[:MOST_LETTERS]}


def _as_teams(notice: Notice) -> dict[str, Any]:
    """A message with an Adaptive Card, as a workflow of Teams that begins with a webhook takes it."""
    title, *lines = (text.translate(_MARKDOWN_ESCAPES) for text in (notice.title, *notice.lines))
    body = [
        {
            "type": "TextBlock", "size": "Medium", "weight": "Bolder", "wrap": True,
            "color": _TONES[notice.verdict], "text": title,
        },
        *({"type": "TextBlock", "wrap": True, "spacing": "Small", "text": line} for line in lines),
    ]  # fmt: skip
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
        "body": body,
    }  # fmt: skip
    return {"type": "message", "attachments": [{"contentType": _CARD, "contentUrl": None, "content": card}]}


TEMPLATES: dict[str, Callable[[Notice], Any]] = {"json": _as_json, "slack": _as_slack, "teams": _as_teams}
"""Messages by the name of their form."""
VARIABLES = ("title", "lines", "text", "verdict", "name", "exit_code")
"""Names that stand for parts of a message in the texts of a template file: `${text}` is the title and the lines."""


class TemplateFile:
    """JSON with variables in its texts."""

    def __init__(self, path: str) -> None:
        """Raises UsageError for a file that cannot be read, that is not JSON, or that has an unknown variable."""
        try:
            self._content = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"cannot read the template {path}: {error.strerror}") from error
        except ValueError as error:
            raise UsageError(f"the template {path} is not JSON: {error}") from error
        try:
            _filled(self._content, dict.fromkeys(VARIABLES, ""))
        except KeyError as error:
            known = ", ".join(f"${{{name}}}" for name in VARIABLES)
            raise UsageError(f"the template {path} has ${{{error.args[0]}}}; there are {known}") from error
        except ValueError as error:
            raise UsageError(f"the template {path} has a $ that begins no ${{name}}; write $$ for it") from error

    def __call__(self, notice: Notice) -> Any:
        lines = "\n".join(notice.lines)[:MOST_LETTERS]
        values = {"title": notice.title, "lines": lines, "text": f"{notice.title}\n{lines}", "verdict": notice.verdict}
        return _filled(self._content, {**values, **{name: notice.details[name] for name in ("name", "exit_code")}})


def _filled(content: Any, values: Mapping[str, Any]) -> Any:
    """Raises KeyError for a variable that has no value, and ValueError for a malformed one."""
    match content:
        case str():
            return Template(content).substitute(values)
        case dict():
            return {name: _filled(part, values) for name, part in content.items()}
        case list():
            return [_filled(part, values) for part in content]
        case _:
            return content


class Webhook(DeliveredOutput):
    """Sends nothing before the end of the run."""

    def __init__(self, target: OutputTarget) -> None:
        """Settings: `template`, and `header`. Raises UsageError."""
        transport = HttpTransport(target.url, "application/json", http_headers(target.settings))
        super().__init__(Delivery(target.name, transport, is_of_lines=False))
        name = target.settings.get("template") or _template_of(target.url)
        if name not in TEMPLATES and not name.endswith(".json"):
            raise UsageError(f"template is {', '.join(TEMPLATES)} or FILE.json, not {name}")
        self._template = TEMPLATES.get(name) or TemplateFile(name)
        self._findings: list[str] = []

    def event(self, event: OutputEvent) -> None:
        if event.kind == "finding":
            self._findings.append(event.text)
        if event.kind != "end":
            return
        details, run = event.details, self._run
        lines = (
            *dict.fromkeys((*details["answer"], event.text)),
            *self._findings[:MOST_FINDINGS],
            *map(invalid_line, details["reasons"]),
            *(threshold_line(result["text"], result["outcome"], result["detail"]) for result in details["thresholds"]),
        )
        title = run_notice_title(run.id, run.name, details["verdict"])
        self.put(Notice(title, details["verdict"], lines, {"run": run.id, "name": run.name, **details}))

    def put(self, notice: Notice) -> None:
        self._delivery.put(json.dumps(self._template(notice), ensure_ascii=False).encode())


def _template_of(url: str) -> str:
    host = urlsplit(url).hostname or ""
    return next((name for end, name in _HOSTS.items() if host == end or host.endswith(f".{end}")), "json")
