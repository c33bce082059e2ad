"""Authorizations of Postman, Insomnia and Bruno that plans do themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.sources.exchange import DeclaredAuth

if TYPE_CHECKING:
    from collections.abc import Mapping

_GRANTS = {
    "": "client_credentials", "client_credentials": "client_credentials", "password_credentials": "password",
    "password": "password",
}  # fmt: skip
"""Those without a person in front of a browser."""


def declared_auth(kind: str, given: Mapping[str, str]) -> DeclaredAuth | None:
    """The `auth` of a plan for an authorization; None if plans do not do it. kind, given: as the program has them."""
    match kind:
        case "oauth2":
            return _oauth2(given)
        case "awsv4" | "iam":
            names = {
                "access_key": ("accessKey", "accessKeyId"), "secret_key": ("secretKey", "secretAccessKey"),
                "session_token": ("sessionToken",), "region": ("region",), "service": ("service", "serviceName"),
            }  # fmt: skip
            # What these programs take for a field that is empty.
            usual = {"region": "us-east-1", "service": "execute-api"}
            return DeclaredAuth("aws_sigv4", _fields(given, names, usual))
        case "digest":
            return digest_auth(given.get("username", ""), given.get("password", ""))
    return None


def digest_auth(user: str, password: str) -> DeclaredAuth:
    return DeclaredAuth("digest", (("username", user), ("password", password)))


def _oauth2(given: Mapping[str, str]) -> DeclaredAuth | None:
    grant = _GRANTS.get(_first(given, ("grant_type", "grantType")))
    names = {
        "token_url": ("accessTokenUrl", "access_token_url"), "issuer": ("issuer",),
        "client_id": ("clientId", "client_id"),
        "client_secret": ("clientSecret", "client_secret"), "scope": ("scope",), "audience": ("audience",),
    }  # fmt: skip
    if grant is None or not (_first(given, names["token_url"]) or _first(given, names["issuer"])):
        return None
    if grant == "password":
        names |= {"username": ("username",), "password": ("password",)}
    placement = _first(given, ("client_authentication", "credentials_placement", "credentialsInBody"))
    fields = _fields(given, names, {})
    fields += (("grant", grant),) if grant != "client_credentials" else ()
    fields += (("client_authentication", "body"),) if placement in ("body", "True", "true") else ()
    return DeclaredAuth("oauth2", fields)


def _fields(
    given: Mapping[str, str], names: Mapping[str, tuple[str, ...]], usual: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    said = ((name, _first(given, keys) or usual.get(name, "")) for name, keys in names.items())
    return tuple((name, value) for name, value in said if value)


def _first(given: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((given[key] for key in keys if given.get(key)), "")
