"""Users with client certificates of their own, and servers that ask for them: the server counts by subject."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from benches.nginx import program
from tests.run.joined import free_port
from websockets.sync.server import ServerConnection, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.command import Command

START_S = 60.0
NAMES = ("ann", "bob", "eve")

NGINX = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ }}
http {{
  log_format subjects '$ssl_client_s_dn $connection $ssl_session_reused $request_uri';
  access_log {folder}/access.log subjects;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 7;
  ssl_certificate {certificate};
  ssl_certificate_key {key};
  ssl_client_certificate {certificate};
  ssl_verify_client on;
  ssl_session_cache shared:all:1m;
  server {{
    listen 127.0.0.1:{port} ssl{http2};
    location / {{ return 200 "$ssl_client_s_dn;"; }}
  }}
}}
"""

PLAN = """
http2 = {http2}
[target]
url = "{url}"
verify = "{authority}"
cert = "${{people.name}}.pem"
[feeder.people]
rows = [{{ name = "ann" }}, {{ name = "bob" }}, {{ name = "eve" }}]
[[flow]]
[[flow.step]]
get = "/who/${{people.name}}/${{iteration}}"
expect = {{ contains = "CN=${{people.name}};" }}
[[phase]]
users = 6
[stop]
iterations = 120
"""


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture
def authority(plimsoll: Command, certificate: tuple[str, str]) -> Path:
    """The authority of the files NAME.pem, which the command finds in its folder."""
    folder = plimsoll.directory
    for name in NAMES:
        key, request = folder / f"{name}.key", folder / f"{name}.csr"
        new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}"]
        _openssl(*new, "-keyout", key, "-out", request)
        signed = ["x509", "-req", "-in", request, "-CA", certificate[0], "-CAkey", certificate[1], "-CAcreateserial"]
        _openssl(*signed, "-CAserial", folder / f"{name}.srl", "-days", "2", "-out", folder / f"{name}.crt")
        (folder / f"{name}.pem").write_text((folder / f"{name}.crt").read_text() + key.read_text())
    return folder


@contextmanager
def nginx(folder: Path, certificate: tuple[str, str], http2: bool) -> Iterator[int]:
    """The port of a server that asks for certificates and answers with their subject; it writes folder/access.log."""
    port = free_port()
    options = {"port": port, "http2": " http2" if http2 else ""}
    settings = NGINX.format(folder=folder, certificate=certificate[0], key=certificate[1], **options)
    (folder / "nginx.conf").write_text(settings)
    with subprocess.Popen([str(program()), "-p", folder, "-c", folder / "nginx.conf"]) as process:
        try:
            end = time.monotonic() + START_S
            while True:
                assert process.poll() is None and time.monotonic() < end, "nginx does not listen"
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=START_S).close()
                    break
                except OSError:
                    time.sleep(0.01)
            yield port
        finally:
            process.terminate()


@pytest.mark.skipif(program() is None, reason="nginx is not installed")
@pytest.mark.parametrize(
    ("http2", "more", "options"),
    [
        (False, "", ()),
        (True, "", ()),
        # Users that share a client do not share connections of different certificates.
        (True, "users_per_connection = 6", ()),
        (False, "", ("--processes", "2")),
    ],
    ids=["http1", "http2", "shared", "processes"],
)
def test_each_user_shows_the_certificate_of_its_row(
    plimsoll: Command,
    tmp_path: Path,
    certificate: tuple[str, str],
    authority: Path,
    http2: bool,
    more: str,
    options: tuple[str, ...],
) -> None:
    folder = tmp_path / "nginx"
    folder.mkdir()
    with nginx(folder, certificate, http2) as port:
        plan = PLAN.format(url=f"https://127.0.0.1:{port}", authority=certificate[0], http2=str(http2).lower())
        plimsoll.write(f"{more}\n{plan}", "plan.toml")
        done = plimsoll("run", str(authority / "plan.toml"), "--headless", "--summary", "-", *options)
    total = json.loads(done.out)["total"]
    assert (total["requests"], total["failures"]) == (120, 0), done
    lines = [line.split(" ") for line in (folder / "access.log").read_text().splitlines()]
    subjects = Counter(subject for subject, *_ in lines)
    # The server's count by certificate is that by the row of the user, which is in the path of its requests.
    assert subjects == Counter(f"CN={path.split('/')[2]}" for *_, path in lines)
    assert (len(lines), set(subjects)) == (120, {f"CN={name}" for name in NAMES})
    of_connections = {(connection, subject) for subject, connection, *_ in lines}
    assert len(of_connections) == len({connection for connection, _ in of_connections})
    # Sessions are resumed, but only those of the same certificate.
    assert any(reused == "r" for _, _, reused, _ in lines)


def test_websockets_show_the_certificate_of_their_user(
    plimsoll: Command, certificate: tuple[str, str], authority: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.load_verify_locations(certificate[0])
    context.verify_mode = ssl.CERT_REQUIRED
    seen: Counter[tuple[str, str]] = Counter()

    def answer(connection: ServerConnection) -> None:
        shown = connection.socket.getpeercert()["subject"][0][0][1]  # type: ignore[attr-defined]
        for message in connection:
            seen[shown, str(message)] += 1
            connection.send(f"CN={shown};")

    with serve(answer, "127.0.0.1", 0, ssl=context) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            port = server.socket.getsockname()[1]
            text = PLAN.format(url=f"https://127.0.0.1:{port}", authority=certificate[0], http2="false")
            steps = """[[flow.step]]
connect = "/chat"
[[flow.step]]
send = "${people.name}"
[[flow.step]]
receive = "reply"
expect = { contains = "CN=${people.name};" }
"""
            begin, end = text.index("[[flow.step]]"), text.index("[[phase]]")
            plimsoll.write(text[:begin] + steps + text[end:], "plan.toml")
            done = plimsoll("run", str(authority / "plan.toml"), "--headless", "--summary", "-")
        finally:
            server.shutdown()
            thread.join()
    assert json.loads(done.out)["total"]["failures"] == 0, done
    assert set(seen) == {(name, name) for name in NAMES}
    assert seen.total() == 120
