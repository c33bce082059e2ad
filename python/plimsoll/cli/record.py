"""`plimsoll record`."""

from __future__ import annotations

import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.parts.scenario_files import check_free, check_output
from plimsoll.cli.scenario import scenario
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run import interrupts

if TYPE_CHECKING:
    from plimsoll.run.supervised.process import Process
    from plimsoll.sources.live.recording import RecordingProxy

_LOOK_S = 0.2


@click.command(
    epilog="""\b
Examples:
  plimsoll record http://127.0.0.1:8000/ --browser -o shop.toml
  plimsoll record -o shop.toml --port 8899
  curl --proxy http://127.0.0.1:8899 http://127.0.0.1:8000/todos/

\b
It needs mitmdump, a program of mitmproxy, which has an environment of its own: pipx install mitmproxy.
For https a client must trust the certificate that mitmproxy makes. It is never installed for you."""
)
@click.argument("page", metavar="[URL]", required=False)
@click.option(
    "-o", "--output", metavar="FILE", required=True,
    help="The plan (.toml) or the locustfile (.py); the HAR is beside it, with the same name.",
)  # fmt: skip
@click.option(
    "--port", default=8899, show_default=True, type=click.IntRange(0, 65535), help="Of the proxy; 0: a free one."
)
@click.option("--browser", is_flag=True, help="Open the URL in Chromium or Chrome, with an empty profile of its own.")
@click.option("--browser-program", default="", metavar="PROGRAM", help="The browser to open; with --browser.")
@click.option(
    "-k", "--insecure", is_flag=True, help="Do not check the certificates of recorded services, nor does the scenario."
)
@click.option("--hosts", metavar="PATTERNS", default="", help="Hosts to keep, as for plimsoll scenario.")
@click.option("--assets", is_flag=True, help="Keep images, stylesheets, scripts and fonts.")
@click.option("--prove", is_flag=True, help="Replay the scenario, as plimsoll scenario --prove does.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.pass_context
def record(
    ctx: click.Context,
    page: str | None,
    output: str,
    port: int,
    browser: bool,
    browser_program: str,
    insecure: bool,
    hosts: str,
    assets: bool,
    prove: bool,
    force: bool,
) -> None:
    """Record what a browser or another client does, and write the scenario of it.

    A proxy on this machine records requests until Ctrl-C, or until the browser that it opened is closed. Then it writes
    the HAR, which has credentials and which only you can read, and the scenario.
    """
    from plimsoll.sources.live.recording import RecordingProxy, open_browser

    check_output(output)
    if browser_program and not browser:
        raise UsageError("--browser-program is for --browser")
    if page is not None and "://" not in page:
        raise UsageError(f"{page} is no URL; write http://{page}")
    if page is not None and not browser:
        raise UsageError(f"{page}: add --browser to open it, or leave it out and use your own client")
    har = Path(output).with_suffix(".har")
    check_free((Path(output), har), force=force)
    stop = threading.Event()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-record-")))
        recorded = folder / "recorded.har"
        recording = RecordingProxy(recorded, port, folder / "proxy.log", insecure=insecure)
        # The thread that watches signals ends the recording: it has then seen that the signal does not end the command.
        with recording as proxy, interrupts.passed_to(lambda _: None, stop.set):
            proxy.wait_until_it_listens()
            window = None
            if browser:
                window = stack.enter_context(open_browser(browser_program, proxy.url, page or "about:blank", folder))
            _tell(proxy, has_browser=browser)
            _wait(stop, proxy, window)
            if window is not None:
                window.stop()
        _keep(recorded, har)
    click.echo(f"Written: {har}, with credentials; keep it out of version control.")
    ctx.invoke(
        scenario, sources=(str(har),), output=output, hosts=hosts, assets=assets, insecure=insecure, prove=prove,
        force=force,
    )  # fmt: skip


def _tell(proxy: RecordingProxy, *, has_browser: bool) -> None:
    """How to use the proxy."""
    from plimsoll.sources.live.recording import AUTHORITY

    who = "The browser that opens uses" if has_browser else "Let your browser or client use"
    end = "close the browser, or press Ctrl-C" if has_browser else "press Ctrl-C"
    click.echo(f"Recording. {who} the proxy {proxy.url}; to end, {end}.")
    click.echo(
        f"For https, let your client trust {AUTHORITY}, as http://mitm.it says through the proxy. It is not installed "
        "for you; remove it afterwards."
    )


def _wait(stop: threading.Event, proxy: RecordingProxy, window: Process | None) -> None:
    """Until a signal comes or the browser is closed. Raises PlimsollError if the proxy ends before."""
    while not stop.wait(_LOOK_S):
        if window is not None and window.poll() is not None:
            return
        if proxy.has_ended:
            raise PlimsollError("the proxy has ended; nothing is recorded")


def _keep(recorded: Path, har: Path) -> None:
    """Move the HAR to its place. Raises PlimsollError if there is none."""
    from plimsoll.sources.making import new_file

    try:
        content = recorded.read_bytes()
    except OSError as error:
        raise PlimsollError(f"the proxy has written no HAR: {error.strerror}") from error
    try:
        with new_file(har) as file:
            file.write(content)
    except OSError as error:
        raise UsageError(f"cannot write {har}: {error.strerror}") from error
