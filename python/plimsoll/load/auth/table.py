"""The table `auth` of a plan or of a step."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, model_validator

from plimsoll.load.auth.oauth2 import Oauth2Table
from plimsoll.load.bodies import fixed_text, has_variables, header_value
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.table import HeaderName, HeadersTable, TomlTable
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.load.auth.definition import Value

_HEADERS = ("basic", "bearer", "api_key")
_SCHEMES = ("oauth2", "aws_sigv4", "digest")
_AUTHS = (*_HEADERS, *_SCHEMES)
_Credential = Annotated[str, Field(min_length=1), AfterValidator(header_value)]


class AwsTable(TomlTable):
    """auth.aws_sigv4 = { access_key = "…", secret_key = "…", region = "eu-central-1", service = "sqs" }"""

    access_key: _Credential
    """The id of the key, as `"AKIDEXAMPLE"`."""
    secret_key: _Credential
    """The key itself."""
    session_token: _Credential | None = None
    """Of temporary credentials."""
    region: _Credential
    """As `"eu-central-1"`."""
    service: _Credential
    """As `"execute-api"` (API Gateway), `"s3"` or `"sqs"`."""

    def definition(self) -> dict[str, Value]:
        """In the format for native users."""
        return {name: getattr(self, name) for name in self.field_names()}


class AuthTable(TomlTable):
    """auth = { bearer = "${token}" }"""

    basic: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """`[user, password]`, as in `["${account.name}", "${account.password}"]`."""
    bearer: _Credential | None = None
    """The token after `Bearer`; `"${jwt.NAME}"` is one that users sign themselves."""
    api_key: _Credential | None = None
    """The value of `header`."""
    header: HeaderName | None = None
    """With `api_key`: the name of its header; by default `X-API-Key`. The record of a run masks the value, whatever
    the name."""
    oauth2: Oauth2Table | None = None
    """A token that is fetched when the first request needs it, and again before it expires."""
    aws_sigv4: AwsTable | None = None
    """AWS Signature Version 4, of each request when it is sent."""
    digest: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """`[user, password]`: answers the challenges of the target (RFC 7616)."""

    @model_validator(mode="after")
    def _check(self) -> AuthTable:
        given = self.given(_AUTHS)
        if not given:
            raise BadValueError(f"needs one of {listed(_AUTHS, 'or')}")
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; there is one of {listed(_AUTHS, 'or')}", given[1])
        if self.header is not None and self.api_key is None:
            raise BadValueError("belongs with api_key", "header")
        return self

    @property
    def scheme(self) -> str | None:
        """The field of a way that is made anew for each request; None for a header."""
        return next(iter(self.given(_SCHEMES)), None)

    def line(self) -> tuple[str, str] | None:
        """Name and value of the header; None if it is made anew for each request."""
        if self.scheme is not None:
            return None
        if self.api_key is not None:
            return self.header or "X-API-Key", self.api_key
        if self.basic is None:
            return "Authorization", f"Bearer {self.bearer}"
        text = ":".join(self.basic)
        if has_variables(text):
            return "Authorization", f"Basic ${{base64:{text}}}"
        return "Authorization", f"Basic {base64.b64encode(fixed_text(text).encode()).decode('ascii')}"


def check_auth(auth: AuthTable | None, headers: HeadersTable) -> None:
    """Raises BadValueError if a header says it too."""
    if auth is None:
        return
    name, _ = auth.line() or ("Authorization", "")
    if (given := named(headers, name)) is not None:
        raise BadValueError(f"contradicts headers, which have {given}", "auth")


def named(headers: Iterable[str], name: str) -> str | None:
    """The name of a header as it is written; None if it is not there."""
    return next((other for other in headers if other.lower() == name.lower()), None)


def with_auth(headers: HeadersTable, auth: AuthTable | None) -> HeadersTable:
    """These headers and, last, that of `auth`."""
    line = None if auth is None else auth.line()
    if line is None:
        return headers
    name, value = line
    return {**headers, name: [value]}
