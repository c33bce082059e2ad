"""Signatures of requests as Amazon's services check them, version 4.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

ALGORITHM = "AWS4-HMAC-SHA256"
_ENDPOINT = ".amazonaws.com"


@dataclass(frozen=True, slots=True)
class AwsCredentials:
    key: str
    """Its id, which is no secret."""
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)
    """Of temporary credentials; "" for others."""

    @classmethod
    def from_environment(cls) -> AwsCredentials:
        """Raises UsageError."""
        key, secret = os.environ.get("AWS_ACCESS_KEY_ID", ""), os.environ.get("AWS_SECRET_ACCESS_KEY", "")
        if not (key and secret):
            raise UsageError("auth=sigv4 needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        return cls(key, secret, os.environ.get("AWS_SESSION_TOKEN", ""))


@dataclass(frozen=True, slots=True)
class AwsSigner:
    """Signs POSTs to one host."""

    credentials: AwsCredentials
    host: str
    """As the header Host has it."""
    service: str
    region: str

    @classmethod
    def from_environment(cls, url: str, service: str, region: str | None) -> AwsSigner:
        """region: None is that of AWS_REGION, AWS_DEFAULT_REGION, or of the host of the URL. Raises UsageError."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        of_host = host.removesuffix(_ENDPOINT).rpartition(".")[2] if host.endswith(_ENDPOINT) else ""
        given = (region, os.environ.get("AWS_REGION"), os.environ.get("AWS_DEFAULT_REGION"), of_host)
        if (chosen := next(filter(None, given), None)) is None:
            raise UsageError("auth=sigv4 needs a region: region=eu-central-1, or the variable AWS_REGION")
        # http.client leaves out the port of the scheme.
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        name = f"[{host}]" if ":" in host else host
        return cls(
            AwsCredentials.from_environment(),
            name if parts.port in (None, usual) else f"{name}:{parts.port}",
            service,
            chosen,
        )

    def headers(self, path: str, body: bytes) -> dict[str, str]:
        """The headers of a POST that is sent now. path: with its query."""
        return self.headers_at(path, body, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))

    def headers_at(self, path: str, body: bytes, stamp: str, method: str = "POST") -> dict[str, str]:
        """stamp: time in UTC, as 20261130T091500Z."""
        added = {"X-Amz-Date": stamp}
        if self.credentials.token:
            added["X-Amz-Security-Token"] = self.credentials.token
        signed = {"host": self.host, **{name.lower(): value for name, value in added.items()}}
        names = ";".join(sorted(signed))
        scope = f"{stamp[:8]}/{self.region}/{self.service}/aws4_request"
        request = _canonical(method, path, signed, names, hashlib.sha256(body).hexdigest())
        text = "\n".join((ALGORITHM, stamp, scope, hashlib.sha256(request.encode()).hexdigest()))
        signature = hmac.new(self._key(stamp[:8]), text.encode(), hashlib.sha256).hexdigest()
        authorization = (
            f"{ALGORITHM} Credential={self.credentials.key}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
        return {**added, "Authorization": authorization}

    def _key(self, day: str) -> bytes:
        key = f"AWS4{self.credentials.secret}".encode()
        for part in (day, self.region, self.service, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key


def _canonical(method: str, path: str, headers: Mapping[str, str], names: str, digest: str) -> str:
    """The canonical request. names: of the headers. digest: of the body."""
    where, _, query = path.partition("?")
    lines = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    # The path is encoded once more than in the request itself.
    return "\n".join((method, quote(where), _canonical_query(query), lines, names, digest))


def _canonical_query(query: str) -> str:
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return "&".join(
        f"{name}={value}" for name, value in sorted((_encoded(name), _encoded(value)) for name, _, value in pairs)
    )


def _encoded(text: str) -> str:
    return quote(unquote(text), safe="-_.~")
