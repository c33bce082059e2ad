"""The table `auth` of a plan or of a step."""

from __future__ import annotations

import base64
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from plimsoll.load.bodies import fixed_text, has_variables, header_value
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.table import HeaderName, HeadersTable, TomlTable
from plimsoll.say.names import listed

_AUTHS = ("basic", "bearer", "api_key")
_Credential = Annotated[str, Field(min_length=1), AfterValidator(header_value)]


class AuthTable(TomlTable):
    """auth = { bearer = "${token}" }"""

    basic: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """`[user, password]`, as in `["${account.name}", "${account.password}"]`."""
    bearer: _Credential | None = None
    """The token after `Bearer`."""
    api_key: _Credential | None = None
    """The value of `header`."""
    header: HeaderName | None = None
    """With `api_key`: the name of its header; by default `X-API-Key`. The record of a run masks the value, whatever
    the name."""

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

    def line(self) -> tuple[str, str]:
        """Name and value of the header."""
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
    name = "" if auth is None else auth.line()[0].lower()
    if (given := next((other for other in headers if other.lower() == name), None)) is not None:
        raise BadValueError(f"contradicts headers, which have {given}", "auth")


def with_auth(headers: HeadersTable, auth: AuthTable | None) -> HeadersTable:
    """These headers and, last, that of `auth`."""
    if auth is None:
        return headers
    name, value = auth.line()
    return {**headers, name: [value]}
