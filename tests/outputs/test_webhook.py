from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.outputs.receiver import receiving

from plimsoll.errors import UsageError
from plimsoll.experiment.ports import free_port
from plimsoll.outputs.kinds import OutputTarget, opened
from plimsoll.outputs.output import OutputEvent
from plimsoll.outputs.webhook import TEMPLATES, TemplateFile, Webhook
from plimsoll.report.notice import Notice

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command, CountingTarget
    from tests.outputs.receiver import Receiver

    from plimsoll.outputs.output import OutputRun

NOTICE = Notice("Run r1 (a_b) failed.", "failed", ("p99 < 5 ms & *more*", "<!channel>"), {"verdict": "failed"})


def _message(receiver: Receiver) -> dict[str, Any]:
    ((path, headers, body),) = receiver.requests
    assert (path, headers["Content-Type"]) == ("/services/T0/B0", "application/json")
    message: dict[str, Any] = json.loads(body)
    return message


def test_the_verdict_comes_when_the_run_is_stored(plimsoll: Command, target: CountingTarget) -> None:
    with receiving() as receiver:
        done = plimsoll(
            "run", f"{target.url}/fail", "-u", "1", "-t", "1", "--threshold", "errors < 1%", "--name", "shop",
            "--notify", f"{receiver.url}/services/T0/B0",
        )  # fmt: skip
    assert done.code == 1, done
    run, message = plimsoll.stored(), _message(receiver)
    assert (message["run"], message["verdict"], message["exit_code"]) == (run["run"]["id"], "failed", 1)
    first, answer, sentence, *rest = message["text"].splitlines()
    assert first == f"Run {run['run']['id']} (shop) failed."
    assert [answer] == message["answer"]
    assert sentence.startswith("All ")
    assert all(line in done.out.replace("\n", " ") for line in (answer, sentence))
    assert rest[-1].startswith("Threshold errors < 1%: broken. ")


def test_a_message_that_nobody_takes_is_said_and_changes_nothing(plimsoll: Command, target: CountingTarget) -> None:
    url = f"http://127.0.0.1:{free_port()}/services/whisper"
    done = plimsoll("run", target.url, "-u", "1", "-t", "1", "--notify", url, "--out", f"webhook={url}")
    assert done.code == 0, done
    assert done.err.count("1 message not delivered: Connection refused") == 2
    run = plimsoll.stored()
    assert run["run"]["notes"] == []
    # The path is the secret of a webhook.
    assert "whisper" not in json.dumps(run) + done.out + done.err


def test_a_wrong_url_is_refused_before_the_run(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "-u", "1", "-t", "1", "--notify", "hooks.slack.com/x")
    assert done.code == 2
    assert "--notify: a URL of the form http://host:port/path is needed" in done.err
    assert target.total == 0


def test_slack_gets_its_own_markup_and_nobody_is_called_by_it() -> None:
    assert TEMPLATES["slack"](NOTICE) == {
        "text": "❌ *Run r1 (a_b) failed.*\np99 &lt; 5 ms &amp; *more*\n&lt;!channel&gt;"
    }


def test_teams_gets_a_card() -> None:
    (attachment,) = TEMPLATES["teams"](NOTICE)["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    title, *lines = attachment["content"]["body"]
    assert (title["text"], title["color"]) == (r"Run r1 (a\_b) failed.", "Attention")
    assert [line["text"] for line in lines] == [r"p99 < 5 ms & \*more\*", "<!channel>"]


def test_a_message_has_what_was_found(output_run: OutputRun) -> None:
    end = {"answer": ["Slow. p99 2 s."], "reasons": [], "thresholds": [], "verdict": "passed", "exit_code": 0}
    with receiving() as receiver:
        target, output = opened(f"webhook={receiver.url}/x", has_page=False)
        output.open(output_run)
        output.event(OutputEvent("finding", 1.0, "One endpoint takes most of the time.", {"id": "x"}))
        output.event(OutputEvent("end", 1.0, "9 requests in 1 s.", end))
        assert output.flush(5.0) is None
        output.close()
    _, *lines = json.loads(receiver.body)["text"].splitlines()
    assert lines == ["Slow. p99 2 s.", "9 requests in 1 s.", "One endpoint takes most of the time."]
    assert target.name == f"output webhook ({receiver.url})"


def test_a_file_is_a_template(tmp_path: Path) -> None:
    file = tmp_path / "discord.json"
    file.write_text(
        '{"content": "${title} costs $$5", "embeds": [{"a": "${lines}", "n": 1}], "x": "${verdict} ${exit_code}"}'
    )
    template = TemplateFile(str(file))
    notice = replace(NOTICE, details={"name": "shop", "exit_code": 1})
    assert template(notice) == {
        "content": "Run r1 (a_b) failed. costs $5",
        "embeds": [{"a": "p99 < 5 ms & *more*\n<!channel>", "n": 1}],
        "x": "failed 1",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the template .*t.json: No such file or directory"),
        ("{", "the template .*t.json is not JSON: "),
        ('{"a": ["${colour}"]}', r"the template .*t.json has \$\{colour\}; there are \$\{title\}, "),
        ('{"a": "5 $"}', r"the template .*t.json has a \$ that begins no \$\{name\}; write \$\$ for it"),
    ],
)
def test_a_template_that_cannot_be_is_refused(content: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UsageError, match=f"--notify: {message}"):
        opened(f"webhook=http://h/x,template={file}", has_page=False)


@pytest.mark.parametrize(
    ("url", "template"),
    [
        ("https://hooks.slack.com/services/T/B/x", "slack"),
        ("https://shop.webhook.office.com/webhookb2/x", "teams"),
        ("https://prod-1.westeurope.logic.azure.com:443/workflows/x", "teams"),
        ("https://hooks.slack.com.example/x", "json"),
        ("http://127.0.0.1:1/x", "json"),
    ],
)
def test_the_host_tells_which_template(url: str, template: str) -> None:
    assert Webhook(OutputTarget("webhook", url))._template is TEMPLATES[template]
