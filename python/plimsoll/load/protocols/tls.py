"""Certificate files of a target: those that it may show, and the client's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Origin
from plimsoll.load.file_access import checked
from plimsoll.load.mistakes import BadValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

_CERTIFICATE, _KEY = b"-----BEGIN CERTIFICATE-----", b"PRIVATE KEY-----"
_ENCRYPTED = (b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED")


def check_authorities(path: str) -> str:
    """The path of a PEM file whose certificates a target may show, or that signed one. Raises BadValueError."""
    if _CERTIFICATE not in _content(path):
        raise BadValueError(f"{path} has no certificate in PEM")
    _check_with_engine(verify=path)
    return path


def check_own(certificate: str, key: str | None = None) -> str | list[str]:
    """The client's own certificate as a scenario has it: one PEM file with its key, or a file for each. Raises
    BadValueError; its field is "key" for a file that is only the key."""
    if _CERTIFICATE not in _content(certificate):
        raise BadValueError(f"{certificate} has no certificate in PEM")
    path = certificate if key is None else key
    field = "" if key is None else "key"
    content = _content(path, field)
    if any(mark in content for mark in _ENCRYPTED):
        raise BadValueError(f"the key in {path} is encrypted; a key without a passphrase is needed", field)
    if _KEY not in content:
        why = "; name a file with the key, too" if key is None else ""
        raise BadValueError(f"{path} has no private key in PEM{why}", field)
    own = certificate if key is None else [certificate, key]
    try:
        # The certificates of the system take long to read, and there may be many own ones.
        _check_with_engine(cert=own, verify=False)
    except BadValueError as error:
        raise BadValueError(str(error), field if str(error).startswith("the key in ") else "") from error
    return own


def tls_settings(target: Mapping[str, Any]) -> dict[str, Any]:
    """`verify` and `cert` of a target of a scenario as the engine takes them: of JSON a pair is a list. If each user
    has a certificate, that of the first row."""
    own = target.get("cert") or next(iter((target.get("certs") or {}).get("rows", ())), None)
    return {"verify": target.get("verify", True), "cert": tuple(own) if isinstance(own, list) else own}


def _content(path: str, field: str = "") -> bytes:
    try:
        return checked(Path(path)).read_bytes()
    except OSError as error:
        raise BadValueError(f"cannot read {path}: {error.strerror}", field) from error


def _check_with_engine(**settings: Any) -> None:
    try:
        Origin("https://localhost", **tls_settings(settings))
    except ValueError as error:
        raise BadValueError(str(error)) from error
