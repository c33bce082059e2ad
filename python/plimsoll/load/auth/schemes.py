"""Ways to say who sends a request that are made anew for each: native users do it in Rust.

A definition has a list `auths` of them, and steps have their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from plimsoll.load.bodies import header_value
from plimsoll.load.table import TomlTable
from plimsoll.redact import MASK

if TYPE_CHECKING:
    from collections.abc import Iterable

Text = Annotated[str, Field(min_length=1), AfterValidator(header_value)]
Value = str | float | list[list[str]] | None
AuthFields = dict[str, dict[str, Value]]
"""The kind of a scheme, and its fields."""
_PLAIN = ("name", "target", "path", "issuer", "timeout", "refresh_before", "region", "service")
"""Fields of a definition that say nothing secret."""


class AwsTable(TomlTable):
    """auth = { aws_sigv4 = { access_key = "…", secret_key = "…", region = "eu-central-1", service = "sqs" } }"""

    access_key: Text
    secret_key: Text
    session_token: Text | None = None
    """Of temporary credentials."""
    region: Text
    """As `"eu-central-1"`."""
    service: Text
    """As `"execute-api"` (API Gateway), `"s3"` or `"sqs"`."""

    def definition(self) -> dict[str, Value]:
        """In the format for native users."""
        return {name: getattr(self, name) for name in self.field_names()}


def plain_auths(auths: Iterable[AuthFields]) -> list[AuthFields]:
    """The list `auths` of a definition as it may be shown and kept."""
    return [
        {
            kind: {name: value if name in _PLAIN or value is None else MASK for name, value in fields.items()}
            for kind, fields in auth.items()
        }
        for auth in auths
    ]
