"""The schemes of a plan in its scenario: a list, and its numbers in the steps."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from plimsoll.load.auth.table import named
from plimsoll.load.origins import is_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.load.auth.definition import AuthFields, TokenRequest
    from plimsoll.load.auth.oauth2 import Oauth2Table
    from plimsoll.load.auth.table import AuthTable
    from plimsoll.load.protocols.draft import Draft

_OF_REQUESTS = {"aws_sigv4": "signs requests over HTTP", "digest": "answers challenges to requests over HTTP"}


def auth_number(
    draft: Draft,
    of_plan: AuthTable | None,
    own: AuthTable | None,
    path: str,
    lines: Sequence[Sequence[str]],
    *,
    is_plain: bool,
) -> int | None:
    """The number of a step's scheme; None if it has none. own, path: of the step. lines: of its headers, also of those
    of its target. is_plain: it is a request over HTTP, neither a WebSocket nor a call of gRPC."""
    if own is not None:
        auth, where = own, f"{path}.auth"
    elif of_plan is not None and named((name for name, _ in lines), "Authorization") is None:
        auth, where = of_plan, "auth"
    else:
        return None
    kind = auth.scheme
    if kind is None:
        return None
    if kind in _OF_REQUESTS and not is_plain:
        why = f"{kind} {_OF_REQUESTS[kind]}, and this step is none; give it a header of its own"
        draft.complain(path if own is None else where, why)
    return draft.auth(auth, where)


def auths_of(draft: Draft) -> list[AuthFields]:
    """The list, when all steps have been read: targets of token services come after theirs."""
    return [_fields(draft, number) for number in range(len(draft.auths))]


def _fields(draft: Draft, number: int) -> AuthFields:
    auth, path = draft.auths[number]
    field = f"auths[{number}]"
    draft.sources |= {field: path, f"{field}.{auth.scheme}": f"{path}.{auth.scheme}"}
    if auth.oauth2 is not None:
        return {"oauth2": asdict(_token_request(draft, auth.oauth2, path, field))}
    if auth.aws_sigv4 is not None:
        names = auth.aws_sigv4.field_names()
        draft.sources |= {f"{field}.aws_sigv4.{name}": f"{path}.aws_sigv4.{name}" for name in names}
        return {"aws_sigv4": auth.aws_sigv4.definition()}
    user, password = auth.digest or ("", "")
    return {"digest": {"user": user, "password": password}}


def _token_request(draft: Draft, table: Oauth2Table, path: str, field: str) -> TokenRequest:
    written = f"{path}.oauth2.{'issuer' if table.issuer else 'token_url'}"
    target, where = draft.token_target(table.url)
    if draft.targets and draft.targets[target].get("certs"):
        why = "users share tokens, but each has its own certificate for this target; request the token in a step"
        draft.complain(written, why)
    url = table.url if is_url(table.url) or not draft.targets else f"{draft.targets[target]['url']}{where}"
    draft.sources[f"{field}.oauth2.path"] = written
    return table.request(url.partition("?")[0], target, where, draft.timeout)
