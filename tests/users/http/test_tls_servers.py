"""Servers of OpenSSL with old certificates, unusual keys and old protocols: what is accepted, and what is said."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.load.mistakes import BadValueError
from plimsoll.load.protocols.tls import check_own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.users.conftest import SessionBench

_RSA = ["-newkey", "rsa:2048"]
_ANY = ["-cipher", "ALL:@SECLEVEL=0"]
_OLD = "the server has neither TLS 1.2 nor TLS 1.3; older versions are not supported"
_NOTHING = "the server found nothing in common (alert handshake_failure)"


def _curve(name: str) -> list[str]:
    return ["-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{name}"]


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def _make(folder: Path, key: list[str], *, version: int = 3) -> tuple[str, str]:
    """Files of a self-signed certificate for 127.0.0.1 and of its key."""
    own, private, request = (str(folder / name) for name in ("own.pem", "own.key", "own.csr"))
    new = ["req", *key, "-nodes", "-keyout", private, "-subj", "/CN=127.0.0.1"]
    if version == 1:
        _openssl(*new, "-out", request)
        _openssl("x509", "-req", "-in", request, "-signkey", private, "-out", own, "-days", "2")
    else:
        _openssl(*new, "-x509", "-days", "2", "-out", own, "-addext", "subjectAltName=IP:127.0.0.1")
    return own, private


@contextlib.contextmanager
def _server(own: tuple[str, str], *options: str) -> Iterator[str]:
    command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", own[0], "-key", own[1], *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            line = next(line for line in process.stdout if line.startswith("ACCEPT"))
            yield f"https://127.0.0.1:{line.split(':')[-1].strip()}"
        finally:
            process.kill()


@dataclass(frozen=True)
class Case:
    key: list[str]
    options: list[str]
    unchecked: str
    """What verify=False gives: nothing, or the beginning of the message."""
    checked: str
    """The same with the certificate itself as the one to trust."""
    version: int = 3


_REFUSED = "the server's certificate "
CASES = {
    "version 3": Case(_RSA, [], "", ""),
    "version 1": Case(_RSA, [], "", _REFUSED + "is of X.509 version 1 (only version 3 can be checked)", 1),
    "RSA of 1024 bits": Case(
        ["-newkey", "rsa:1024"], _ANY, "", _REFUSED + "has a wrong signature, or an RSA key of fewer than 2048"
    ),
    "P-521": Case(_curve("P-521"), [], "", _NOTHING),
    # In TLS 1.2 a client with such a key in view must be able to exchange keys on that curve, too.
    "P-521 in TLS 1.2": Case(_curve("P-521"), ["-tls1_2"], _NOTHING, _NOTHING),
    "Ed448": Case(["-newkey", "ed448"], [], "", _NOTHING),
    "SHA-1 in the handshake": Case(_RSA, ["-tls1_2", "-sigalgs", "RSA+SHA1", *_ANY], "", _NOTHING),
    "TLS 1.1": Case(_RSA, ["-tls1_1", *_ANY], _OLD, _OLD),
    "DHE": Case(_RSA, ["-tls1_2", "-cipher", "DHE"], _NOTHING, _NOTHING),
    "static RSA": Case(_RSA, ["-tls1_2", "-cipher", "kRSA"], _NOTHING, _NOTHING),
    "client certificate": Case(_RSA, ["-Verify", "1"], *["the server asks for a client certificate (alert certif"] * 2),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_accepted_and_what_is_said(name: str, session_bench: SessionBench, tmp_path: Path) -> None:
    case = CASES[name]
    own = _make(tmp_path, case.key, version=case.version)
    with _server(own, *case.options) as url:
        # By default, FastHttpUser does not check certificates.
        sessions = {"http": session_bench.http(url), "fast": session_bench.fast(url)}
        for kind, session in sessions.items():
            settings = {"verify": False} if kind == "http" else {}
            response = session.get("/", **settings)  # type: ignore[attr-defined]
            assert response.status_code == (0 if case.unchecked else 200), (kind, response.error)
            assert str(response.error or "").startswith(case.unchecked)
        checked = session_bench.http(url).get("/", verify=own[0])
        assert checked.status_code == (0 if case.checked else 200), checked.error
        for error in (str(checked.error or ""), *(message for _, message in session_bench.failures)):
            assert case.checked in error or case.unchecked in error
            assert not set(error) & set("{}[]")
        if not case.unchecked and shutil.which("curl"):
            curl = ["curl", "-sk", "--ciphers", "DEFAULT:@SECLEVEL=0", "-o", "/dev/null", "-w", "%{http_code}", url]
            assert subprocess.run(curl, capture_output=True, check=False).stdout == b"200"


def test_a_client_certificate_of_version_1_is_sent_as_it_is(session_bench: SessionBench, tmp_path: Path) -> None:
    (tmp_path / "client").mkdir()
    own, client = _make(tmp_path, _RSA), _make(tmp_path / "client", _RSA, version=1)
    assert check_own(*client) == list(client)
    with _server(own, "-Verify", "1", "-CAfile", client[0], "-verify_return_error") as url:
        response = session_bench.http(url).get("/", verify=False, cert=client)
        assert response.status_code == 200, response.error


def test_a_client_key_of_p521_is_refused_before_the_run(tmp_path: Path) -> None:
    client = _make(tmp_path, _curve("P-521"))
    with pytest.raises(BadValueError) as caught:
        check_own(*client)
    path = tmp_path / "own.key"
    expected = f"the key in {path} is of the curve P-521, which cannot sign here; use RSA of 2048 to 4096 bits, "
    assert str(caught.value).startswith(expected)
    assert caught.value.field == "key"
