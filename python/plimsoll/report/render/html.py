"""A document as JSON, and as one HTML file that needs nothing else: with the page's style, its script and the JSON."""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
from html import escape
from typing import TYPE_CHECKING, Any

from plimsoll.plain_text import one_line
from plimsoll.report.document.blocks import Answer, Doubts, Facts, Findings
from plimsoll.report.document.study import document_of
from plimsoll.report.text import dumps
from plimsoll.web import report_script, report_style

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.report.document.blocks import Block, ReportDocument
    from plimsoll.report.sources import OutputRequest, RunSource, StudySource


def to_json(document: ReportDocument) -> str:
    """As `web/contract.schema.json` says. Raises ValueError for a number that is not finite, which JSON has not."""
    return dumps(document, allow_nan=False, separators=(",", ":"), default=_fields)


def _fields(value: Any) -> dict[str, Any]:
    """Of a dataclass, which JSON does not know. Not `asdict`: it would copy every row of every table first."""
    kind: Any = type(value)
    return {name: getattr(value, name) for name in _names(kind)}


@functools.cache
def _names(of: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(of))


def safe_json(document: ReportDocument) -> str:
    """JSON that ends neither the element that it stands in nor a line of JavaScript, whatever a target sent."""
    text = to_json(document)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def html(source: StudySource | RunSource, request: OutputRequest) -> str:
    """Raises PlimsollError if the page was not built."""
    return written(document_of(source))


def written(document: ReportDocument) -> str:
    """The file as text. Raises PlimsollError if the page was not built."""
    script = report_script()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{escape(document.written_by)}">
<title>{_shown(document.title)}</title>
<style>{report_style()}</style>
</head>
<body>
<div id="page"></div>
<noscript>
<main>
{chr(10).join(_in_short(document))}
</main>
</noscript>
<script type="application/json" id="document">{safe_json(document)}</script>
<script>{script}</script>
</body>
</html>
"""


def _shown(text: str) -> str:
    """As the content of an element."""
    return escape(one_line(text))


def _policy(script: str) -> str:
    """Nothing may be fetched, sent or framed, and no script may run but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _in_short(document: ReportDocument) -> Iterator[str]:
    """What can be read where no script runs: what it is about, the answer, what speaks against it, what was found."""
    yield f"<h1>{_shown(document.title)}</h1>"
    yield from map(_paragraph, document.lines)
    yield _paragraph(
        "Tables and charts of this report are drawn by the script that is in this file, and scripts do not run here. "
        "This is the report in short."
    )
    for block in (*document.head, *(block for section in document.sections for block in section.blocks)):
        yield from _block_lines(block)


def _block_lines(block: Block) -> Iterator[str]:
    """A block in words; nothing of those that are tables or pictures."""
    match block:
        case Answer(sentences):
            first, *others = (each.replace("`", "") for each in sentences)
            yield _paragraph(first)
            yield _list(others)
        case Facts(facts, "status"):
            yield _list([f"{each.name}: {each.value}" for each in facts])
        case Doubts(title, _, lines, small):
            yield f"<h2>{_shown(title)}</h2>"
            yield _list(lines)
            yield from map(_paragraph, small)
        case Findings(findings):
            yield "<h2>Findings</h2>"
            yield _list([f"{each.word}: {each.statement}" for each in findings])
        case _:
            return


def _paragraph(text: str) -> str:
    return f"<p>{_shown(text)}</p>"


def _list(lines: tuple[str, ...] | list[str]) -> str:
    return f"<ul>{''.join(f'<li>{_shown(each)}</li>' for each in lines)}</ul>" if lines else ""
