"""Tables of a plan for JSON Web Tokens that users sign themselves."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from plimsoll.load.bodies import without_variables
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.table import ExistingFile, FixedText, JsonBody, Length, TomlTable

if TYPE_CHECKING:
    from pathlib import Path

MOST_KEY = 1 << 20
"""Maximum bytes of a key file."""


class JwtTable(TomlTable):
    """[jwt.NAME]"""

    algorithm: Literal["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "EdDSA"] = "HS256"
    """`"HS…"`: a secret that both sides know; `"RS…"`, `"ES…"`, `"EdDSA"`: a private key in PEM."""
    key: Annotated[str, Field(min_length=1)] | None = None
    """The secret, which may have variables (`"${account.secret}"`), or the text of a private key. Records never have
    it."""
    key_file: ExistingFile | None = None
    """In place of `key`: a file with it. A line end at the end of a secret is left out."""
    key_id: FixedText | None = None
    """The field `kid` of the header."""
    claims: JsonBody = "{}"
    """A table, or JSON in a string, with variables."""
    expires: Length | None = None
    """Adds `exp`, the time of signing and this time. `iat`, the time of signing, is there unless `claims` have it."""

    @model_validator(mode="after")
    def _check(self) -> JwtTable:
        given = self.given(("key", "key_file"))
        if not given:
            raise BadValueError("needs one of key or key_file")
        if len(given) > 1:
            raise BadValueError("contradicts key; there is one of both", "key_file")
        claims = self._claims()
        if not isinstance(claims, dict):
            raise BadValueError("must be a table", "claims")
        if "exp" in claims and self.expires is not None:
            raise BadValueError("contradicts claims, which have exp", "expires")
        return self

    def _claims(self) -> Any:
        return json.loads(without_variables(self.claims))

    def definition(self, name: str) -> dict[str, str | bool | float | dict[str, str] | None]:
        """In the format for native users."""
        key = {"text": self.key or ""}
        if self.key_file is not None:
            key = {"base64": _encoded(self.key_file, self.algorithm)}
        return {
            "name": name, "algorithm": self.algorithm, "key": key, "key_id": self.key_id, "claims": self.claims,
            "issued": "iat" not in self._claims(), "expires": self.expires,
        }  # fmt: skip

    def sources(self, path: str, field: str) -> dict[str, str]:
        """The plan's field for each field of the definition. path, field: those of the token in plan and scenario."""
        key = "key" if self.key_file is None else "key_file"
        return {field: path, f"{field}.key": f"{path}.{key}", f"{field}.expires": f"{path}.expires"}


def _encoded(file: Path, algorithm: str) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_KEY + 1)
    except OSError as error:
        raise BadValueError(f"cannot read {file}: {error.strerror}", "key_file") from error
    if len(content) > MOST_KEY:
        raise BadValueError(f"{file} has more than 1 MiB, so it is no key", "key_file")
    if algorithm.startswith("HS"):
        content = content.removesuffix(b"\n").removesuffix(b"\r")
    return base64.b64encode(content).decode("ascii")
