"""The page of `run`, and of `serve`: where it is served, and who may see it."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.parts.workers import await_workers
from plimsoll.errors import UsageError
from plimsoll.locust.script.form import describe_form
from plimsoll.locust.web.swarm_routes import routes
from plimsoll.server.app import make_app
from plimsoll.server.control.scenarios import SentScenarios
from plimsoll.server.control.session import PageSession
from plimsoll.server.live.live import Live
from plimsoll.server.security.access import LOOPBACK, Access, is_loopback, make_token
from plimsoll.server.serving import PageServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.run.transport.master import Master
    from plimsoll.server.control.run_requests import RunRequests
    from plimsoll.server.live.stream import Viewers

PORT = 8089
ALL = {"*": "0.0.0.0"}
"""As Locust spells it."""


def run_with_page(requests: RunRequests, given: Mapping[str, Any], master: Master | None = None) -> int:
    """The exit code of the last run. master: of the workers that join. Raises PlimsollError."""
    live = Live()
    session = PageSession(requests, live, describe_form, lambda line: click.echo(line, err=True), master)
    waits = not requests.is_fixed and not given["autostart"]
    autoquit = given["autoquit"]
    if autoquit is None:
        autoquit = 0 if requests.is_fixed else -1
    scenarios = SentScenarios(session, requests)
    with closing(scenarios), page(given, given["store"], live, session, scenarios) as viewers:
        if waits:
            click.echo("Start the run there. --autostart starts it at once; --headless runs without a page.", err=True)
        stays = {"is_watched": lambda: viewers.has_any} if given["autoquit"] is None else {}
        if master is not None and not waits and given["on"] is None:
            await_workers(master, given)
        first = None if waits else requests.first()
        return session.run(first, None if autoquit < 0 else float(autoquit), **stays)


@contextmanager
def page(
    given: Mapping[str, Any],
    store: str | None,
    live: Live | None,
    control: PageSession | None,
    scenarios: SentScenarios | None = None,
) -> Iterator[Viewers]:
    """Within the block the page is served; prints where. given: the options of `PAGE`. Raises UsageError."""
    host = given["web_host"] or LOOPBACK
    host = ALL.get(host, host)
    token = given["web_token"]
    # Nobody starts load on other machines who does not know the token, not even on this machine.
    is_made = token is None and (given["web_login"] or bool(given.get("on")) or not is_loopback(host))
    access = Access(host, make_token() if is_made else token)
    app = make_app(
        store=store,
        live=live,
        control=control,
        access=access,
        base_path=given["web_base_path"] or "",
        more_routes=routes,
        scenarios=scenarios,
    )
    server, address = _served(app, host, given)
    try:
        busy = "" if given["web_port"] is not None or f":{PORT}" in address else f"port {PORT} is busy; "
        click.echo(f"{busy}the page: {address} (Ctrl-C ends)", err=True)
        if is_made:
            click.echo(f"its token: {access.token}", err=True)
        if access.token is not None and not is_loopback(host) and address.startswith("http:"):
            click.echo(
                "warning: token and results cross the network in clear, for everybody on the way to read. "
                "Give --tls-cert and --tls-key, or listen on 127.0.0.1 and come through an SSH tunnel.",
                err=True,
            )
        yield app.state.viewers
    finally:
        server.stop()


def _served(app: Any, host: str, given: Mapping[str, Any]) -> tuple[PageServer, str]:
    """At the port that was asked for; if none was, at ours or, when that is taken, at any."""
    tls = given["tls_cert"], given["tls_key"]
    asked = given["web_port"]
    server = PageServer(app, host, PORT if asked is None else asked, *tls)
    try:
        return server, server.start()
    except UsageError:
        if asked is not None:
            raise
    server = PageServer(app, host, 0, *tls)
    return server, server.start()
