"""OpenID Connect Discovery: the URLs of token services, asked of the issuers of a plan.

Each issuer is asked once, before a run begins, by the process that starts the workers, and its answer is part of the
plan from then on. Allowed hosts, certificates, proxies and source addresses hold for the question as for the load.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Engine, Headers, Origin, Timeouts
from plimsoll.errors import UsageError
from plimsoll.load import origins
from plimsoll.load.auth.definition import TokenRequest
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.protocols.tls import tls_settings
from plimsoll.plain_text import one_line
from plimsoll.report.text import cut

if TYPE_CHECKING:
    from plimsoll.run.plan import RunPlan

TIMEOUT_S = 10.0
MOST_BYTES = 1 << 20
"""Bytes of the metadata of an issuer."""
LONGEST = 300
"""Characters of an issuer's words in an error."""
LOOK_S = 0.1
"""Seconds between looks for the answer."""


def with_token_urls(plan: RunPlan) -> RunPlan:
    """The plan with the URLs of its token services. Issuers are asked, so it must have passed its guard rails. Raises
    UsageError."""
    scenario = plan.scenario or {}
    auths = list(scenario.get("auths", ()))
    targets = list(scenario.get("targets", ()))
    for number, auth in enumerate(auths):
        if auth.get("oauth2", {}).get("issuer") is None:
            continue
        request = TokenRequest(**auth["oauth2"])
        url = _asked(plan, request)
        address = origins.split_url(url)
        known = next((index for index, target in enumerate(targets) if target["url"] == address.origin), len(targets))
        if known == len(targets):
            targets.append(origins.target(address.origin))
        name = url.partition("?")[0]
        auths[number] = {"oauth2": asdict(replace(request, name=name, target=known, path=address.path, issuer=None))}
    if auths == scenario.get("auths", []):
        return plan
    return replace(plan, scenario={**scenario, "targets": targets, "auths": auths})


def _asked(plan: RunPlan, request: TokenRequest) -> str:
    """The URL of the token service of an issuer. Raises UsageError."""
    try:
        url = _token_url(_document(plan, request), request.issuer or "")
        origins.split_url(url)
    except (DiscoveryError, BadValueError) as error:
        why = cut(one_line(str(error)), LONGEST)
        raise UsageError(f"cannot ask {request.name} for the token service: {why}; or write token_url") from error
    return url


class DiscoveryError(Exception):
    """Why an issuer does not say where its token service is."""


def _document(plan: RunPlan, request: TokenRequest) -> Any:
    """The metadata of an issuer. Raises DiscoveryError, and UsageError for a target that cannot be."""
    target = (plan.scenario or {})["targets"][request.target]
    source = next(iter(plan.source_addresses), None)
    try:
        origin = Origin(
            target["url"],
            **tls_settings(target),
            proxy=target.get("proxy"),
            source=source,
            http2=bool(target.get("http2")),
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    engine = Engine(max_body=MOST_BYTES, max_decoded=MOST_BYTES)
    if (allowed := plan.rails.allowed_hosts()) is not None:
        engine.allow(allowed)
    # Its requests end with the client, so it is kept until the answer has come.
    client = engine.client()
    lines = Headers([("User-Agent", "plimsoll"), ("Accept", "application/json")])
    client.send(None, origin, "GET", request.path, lines, timeouts=Timeouts(TIMEOUT_S, TIMEOUT_S, TIMEOUT_S))
    while True:
        # Not for the whole time: a signal is handled between two looks.
        engine.poll(LOOK_S)
        for _, reply in engine:
            if reply is None:
                continue
            if reply.error is not None:
                raise DiscoveryError(reply.error)
            if reply.status != 200:
                raise DiscoveryError(f"status {reply.status}")
            try:
                return json.loads(reply.decoded())
            except ValueError as error:
                raise DiscoveryError("the reply is not JSON") from error


def _token_url(document: Any, issuer: str) -> str:
    """What the metadata say. Raises DiscoveryError."""
    known = document if isinstance(document, dict) else {}
    if (named := str(known.get("issuer", issuer))).rstrip("/") != issuer.rstrip("/"):
        raise DiscoveryError(f"it is the issuer {shown(named)}")
    url = known.get("token_endpoint")
    if not isinstance(url, str):
        raise DiscoveryError("the reply has no token_endpoint")
    return url
