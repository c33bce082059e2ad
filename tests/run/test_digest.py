"""Digest authentication against Apache, which counts what it answers in its own log."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command

MODULES = "/usr/lib/apache2/modules"
PROGRAM = shutil.which("apache2", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
START_S = 60.0
APACHE = """
ServerName 127.0.0.1
PidFile {folder}/pid
ErrorLog {folder}/error.log
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authn_file_module {modules}/mod_authn_file.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule auth_digest_module {modules}/mod_auth_digest.so
LoadModule dir_module {modules}/mod_dir.so
{user}
Listen 127.0.0.1:{port}
DocumentRoot {folder}/files
DirectoryIndex index
MaxKeepAliveRequests 0
LogFormat "%s %u" short
CustomLog {folder}/access.log short
<Location />
  AuthType Digest
  AuthName "the realm"
  AuthDigestProvider file
  AuthUserFile {folder}/users
  AuthDigestNonceLifetime {lifetime}
  Require valid-user
</Location>
"""
PLAN = """
target = "{url}"
auth.digest = ["${{account.name}}", "${{account.password}}"]
[feeder.account]
rows = [{{ name = "ann", password = "x" }}, {{ name = "bob", password = "{password}" }}]
[[request]]
get = "/?q=a%20b"
expect.contains = "hello"
[[phase]]
users = 2
[stop]
iterations = 40
"""
pytestmark = [pytest.mark.long, pytest.mark.skipif(PROGRAM is None, reason="apache2 is not installed")]


@contextmanager
def serving(lifetime: int) -> Iterator[tuple[str, Path]]:
    """The URL and the folder of a server whose nonces are valid for so many seconds; 0: for one request."""
    with TemporaryDirectory(prefix="plimsoll-digest-") as name, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        listener.close()
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "files").mkdir()
        (folder / "files" / "index").write_text("hello")
        lines = (f"{user}:the realm:{_secret(user, password)}\n" for user, password in (("ann", "x"), ("bob", "y")))
        (folder / "users").write_text("".join(lines))
        own = "User nobody\nGroup nogroup" if os.geteuid() == 0 else ""
        text = APACHE.format(folder=folder, modules=MODULES, port=port, user=own, lifetime=lifetime)
        (folder / "apache.conf").write_text(text)
        process = subprocess.Popen([PROGRAM or "", "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"])
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}", folder
        finally:
            process.terminate()
            process.wait()


def _secret(user: str, password: str) -> str:
    return hashlib.md5(f"{user}:the realm:{password}".encode()).hexdigest()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        assert process.poll() is None and time.monotonic() < deadline, "it does not start"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)


@pytest.mark.parametrize("lifetime", [300, -1], ids=["", "without an end"])
def test_each_user_answers_one_challenge(plimsoll: Command, lifetime: int) -> None:
    with serving(lifetime) as (url, folder):
        plimsoll.write(PLAN.format(url=url, password="y"), "plan.toml")
        done = plimsoll("run", "plan.toml", "--headless", "--summary", "-")
        log = [line.split()[0] for line in (folder / "access.log").read_text().splitlines()]
    assert done.code == 0, done
    rows = {row["method"]: row["requests"] for row in json.loads(done.out)["endpoints"]}
    assert rows == {"GET": 40, "auth challenge": log.count("401")}
    assert (log.count("200"), log.count("401")) == (40, 2)


def test_a_nonce_that_is_too_old_is_replaced(plimsoll: Command) -> None:
    with serving(0) as (url, folder):
        plimsoll.write(PLAN.format(url=url, password="y"), "plan.toml")
        done = plimsoll("run", "plan.toml", "--headless", "--summary", "-")
        log = [line.split()[0] for line in (folder / "access.log").read_text().splitlines()]
    assert done.code == 0, done
    rows = {row["method"]: row["requests"] for row in json.loads(done.out)["endpoints"]}
    assert rows == {"GET": log.count("200"), "auth challenge": log.count("401")}
    assert log.count("200") == 40


def test_a_wrong_password_is_a_failure_of_its_account(plimsoll: Command) -> None:
    with serving(300) as (url, _):
        plimsoll.write(PLAN.format(url=url, password="z"), "plan.toml")
        done = plimsoll("run", "plan.toml", "--headless", "--summary", "-")
    document = json.loads(done.out)
    assert (done.code, document["total"]["requests"], document["total"]["failures"]) == (1, 40, 20)
