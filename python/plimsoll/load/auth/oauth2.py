"""Tokens of OAuth 2.0 and OpenID Connect: `auth = { oauth2 = … }`."""

from __future__ import annotations

import base64
from typing import Annotated, Literal
from urllib.parse import quote_plus

from pydantic import AfterValidator, Field, model_validator

from plimsoll.load.auth.definition import TokenRequest
from plimsoll.load.bodies import fixed_text, form_template, has_variables, header_value
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.origins import is_url, split_url
from plimsoll.load.table import Duration, TomlTable

METADATA = "/.well-known/openid-configuration"
"""What follows an issuer in the URL of its metadata (OpenID Connect Discovery 1.0, section 4)."""
TIMEOUT_S = 30.0
"""Of a request for a token, if the plan has no timeout."""
_LOGIN = ("username", "password")
Grant = Literal["client_credentials", "password", "refresh_token"]
Text = Annotated[str, Field(min_length=1)]


def _fixed_url(url: str) -> str:
    if has_variables(url):
        raise BadValueError(f"{shown(url)} has a variable; a token service has one URL for all users")
    if not url.startswith("/") or url.startswith("//"):
        split_url(url)
    return fixed_text(url)


def _issuer(url: str) -> str:
    if not is_url(url):
        raise BadValueError(f'{shown(url)} is not the URL of an issuer; valid is "https://login.example.org/realm"')
    return _fixed_url(url)


class Oauth2Table(TomlTable):
    """auth.oauth2 = { token_url = "https://login.example.org/token", client_id = "shop", client_secret = "…" }"""

    token_url: Annotated[Text, AfterValidator(_fixed_url)] | None = None
    """Where tokens are asked for: a URL, or a path of the first target."""
    issuer: Annotated[Text, AfterValidator(_issuer)] | None = None
    """In place of `token_url`: an OpenID Connect issuer, whose metadata are read when the run begins."""
    grant: Grant = "client_credentials"
    """`"client_credentials"`, `"password"` or `"refresh_token"`."""
    client_id: Text | None = None
    """The name of the client at the service."""
    client_secret: Text | None = None
    """Its secret; a public client has none."""
    client_authentication: Literal["header", "body"] = "header"
    """How the client says who it is, if it has a secret: in a `Basic` header, or in the form."""
    scope: Text | None = None
    """One or more, with blanks between them."""
    audience: Text | None = None
    """Whom the token is for, where the service asks for it."""
    username: Text | None = None
    """With `grant = "password"`: the user, as `"${account.name}"`. Users with other credentials have other tokens."""
    password: Text | None = None
    """With `grant = "password"`."""
    refresh_token: Text | None = None
    """With `grant = "refresh_token"`."""
    parameters: dict[Text, str] = Field(default_factory=dict)
    """Further fields of the form, as `{ resource = "urn:shop" }`."""
    refresh_before: Duration = 30.0
    """How long before it expires a token is replaced, at most half of its life."""

    @model_validator(mode="after")
    def _check(self) -> Oauth2Table:
        given = self.given(("token_url", "issuer"))
        if not given:
            raise BadValueError("needs token_url or issuer")
        if len(given) > 1:
            raise BadValueError("contradicts token_url; there is one of them", "issuer")
        if self.grant == "client_credentials" and self.client_id is None:
            raise BadValueError('needs client_id, for the grant "client_credentials"')
        if self.client_secret is not None and self.client_id is None:
            raise BadValueError("belongs with client_id", "client_secret")
        for name in (*_LOGIN, "refresh_token"):
            of_grant = "password" if name in _LOGIN else name
            is_given = getattr(self, name) is not None
            if is_given and self.grant != of_grant:
                raise BadValueError(f'belongs with grant = "{of_grant}"', name)
            if not is_given and self.grant == of_grant:
                raise BadValueError(f'needs {name}, for the grant "{of_grant}"')
        return self

    @property
    def url(self) -> str:
        """What is asked first: for a token, or for the metadata of the issuer."""
        return self.token_url or f"{(self.issuer or '').rstrip('/')}{METADATA}"

    def request(self, name: str, target: int, path: str, timeout: float | None) -> TokenRequest:
        """name, target, path: of the URL. timeout: of the plan, in seconds."""
        own = {name: [value] for name in ("scope", "audience") if (value := getattr(self, name)) is not None}
        login = {name: [value] for name in (*_LOGIN, "refresh_token") if (value := getattr(self, name)) is not None}
        more = {name: [value] for name, value in self.parameters.items()}
        return TokenRequest(
            name=name,
            target=target,
            path=path,
            headers=[["Accept", "application/json"], ["User-Agent", "plimsoll"]],
            authorization=self._authorization,
            body=form_template({"grant_type": [self.grant], **self._client, **login, **own, **more}),
            refresh=form_template({"grant_type": ["refresh_token"], **self._client, **more}),
            refresh_before=self.refresh_before,
            timeout=timeout or TIMEOUT_S,
            issuer=self.issuer,
        )

    @property
    def _has_header(self) -> bool:
        return self.client_secret is not None and self.client_authentication == "header"

    @property
    def _client(self) -> dict[str, list[str]]:
        """What the form says of the client."""
        if self.client_id is None or self._has_header:
            return {}
        secret = {} if self.client_secret is None else {"client_secret": [self.client_secret]}
        return {"client_id": [self.client_id], **secret}

    @property
    def _authorization(self) -> str | None:
        """The value of the header. Both parts are encoded as in a form (RFC 6749, section 2.3.1), but for variables."""
        if not self._has_header:
            return None
        user = f"{self.client_id}:{self.client_secret}"
        if has_variables(user):
            return f"Basic ${{base64:{header_value(user)}}}"
        parts = (quote_plus(fixed_text(part)) for part in (self.client_id or "", self.client_secret or ""))
        return f"Basic {base64.b64encode(':'.join(parts).encode()).decode('ascii')}"
