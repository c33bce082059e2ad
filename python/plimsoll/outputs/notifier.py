"""Messages that are about no run in progress: the results of experiments, comparisons and reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.outputs.kinds import WEBHOOK, opened
from plimsoll.outputs.webhook import Webhook
from plimsoll.say.notices import undelivered_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.report.notice import Notice

NOTIFY_S = 5.0
"""Seconds in which a message is to be delivered."""


class Notifier:
    """Sends a message that is about no run in progress."""

    def __init__(self, urls: Iterable[str]) -> None:
        """urls: as `--notify` has them. Raises UsageError."""
        self._hooks: list[tuple[str, Webhook]] = []
        for url in urls:
            target, output = opened(f"{WEBHOOK}={url}", has_page=False)
            assert isinstance(output, Webhook)
            self._hooks.append((target.name, output))

    def send(self, notice: Notice, exit_code: int) -> list[str]:
        """Returns what was not delivered, for people."""
        notice = replace(notice, details={**notice.details, "exit_code": exit_code})
        lost = []
        for name, hook in self._hooks:
            hook.put(notice)
            if (missing := hook.flush(NOTIFY_S)) is not None:
                lost.append(f"{name}: {undelivered_text(missing.messages, missing.reason)}")
            hook.close()
        return lost
