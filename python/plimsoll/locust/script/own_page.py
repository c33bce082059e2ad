"""`environment.web_ui` of a run that has a page: a locustfile's additions to it are served besides our own page."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import gevent

if TYPE_CHECKING:
    from plimsoll.locust.environment import Environment
    from plimsoll.locust.web.ui import WebUI

logger = logging.getLogger("locust.web")

LOOPBACK = "127.0.0.1"
POLL_INTERVAL_S = 0.02
START_TIMEOUT_S = 5.0
"""Time limit for the start of a page."""


class LocustPage:
    """A placeholder for a `WebUI`, which is created on first use: most locustfiles never use it, and then need no
    Flask. All access then goes to the real one."""

    def __init__(self, environment: Environment) -> None:
        vars(self).update(_environment=environment, _made=None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._make(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._make(), name, value)

    def _make(self) -> WebUI:
        from plimsoll.locust.web.ui import WebUI

        made: WebUI | None = vars(self)["_made"]
        if made is None:
            # Only for programs on this machine. Our own page may be open to others because it requires a token.
            made = WebUI(vars(self)["_environment"], LOOPBACK, 0, delayed_start=True)
            vars(self)["_made"] = made
        return made


def serve(page: LocustPage) -> None:
    """Serve it if the locustfile has used it, on any free port; the log has the address."""
    made: WebUI | None = vars(page)["_made"]
    if made is None:
        return
    made.start()
    end = time.monotonic() + START_TIMEOUT_S
    while made.server is None or not made.server.started:
        if time.monotonic() > end:  # the reason is in the log
            return
        gevent.sleep(POLL_INTERVAL_S)
    logger.info("the locustfile's own routes are at http://%s:%d", LOOPBACK, made.server.server_port)
