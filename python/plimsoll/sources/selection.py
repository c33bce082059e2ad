"""Which requests of a browser's recording are steps: those of the service, without files that caches and CDNs serve."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plimsoll.errors import UsageError
from plimsoll.sources.exchange import url_parts

if TYPE_CHECKING:
    from plimsoll.sources.exchange import RecordedExchange, Recording

_ASSET_KINDS = frozenset(
    ("image", "font", "stylesheet", "script", "media", "manifest", "texttrack", "ping", "imageset")
)
_DESTINATIONS = frozenset(("image", "font", "style", "script", "audio", "video", "track", "manifest"))
"""Values of Sec-Fetch-Dest."""
_ASSET_TYPES = re.compile(
    r"image/.*|font/.*|video/.*|audio/.*|text/css|(?:text|application)/(?:x-)?javascript|.*font.*"
)
ASSET_PATHS = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|svg|ico|css|m?js|map|woff2?|ttf|otf|eot|mp4|webm|mp3|ogg|webmanifest)$",
    re.IGNORECASE,
)
ALL = "all"


@dataclass(frozen=True, slots=True)
class SelectionRules:
    """Which requests of a recording are kept."""

    hosts: str = ""
    """Patterns of hosts, separated by commas, as in "shop.test,*.shop.test"; "all" keeps every host; "" keeps the host
    of the first request, hosts of the same site, and those to which they redirect."""
    assets: bool = False
    """Keep images, stylesheets, scripts, fonts and media."""


DEFAULT_RULES = SelectionRules()


def select(recording: Recording, rules: SelectionRules) -> Recording:
    """The recording without requests that are not steps. Raises UsageError if nothing is left."""
    if not recording.of_browser:
        return recording
    left_out: Counter[str] = Counter(recording.left_out)
    hosts = _kept_hosts(recording, rules.hosts)
    others: set[str] = set()
    kept: list[RecordedExchange] = []
    for exchange in recording.exchanges:
        host = _host(exchange)
        if host not in hosts:
            others.add(host)
        elif not rules.assets and is_asset(exchange):
            left_out["assets"] += 1
        else:
            kept.append(exchange)
    if others:
        named = sorted(others)
        shown = ", ".join(named[:3]) + (", …" if len(named) > 3 else "")
        left_out[f"of other hosts ({shown})"] += sum(_host(exchange) in others for exchange in recording.exchanges)
    if not kept:
        known = ", ".join(sorted({_host(exchange) for exchange in recording.exchanges})) or "none"
        raise UsageError(
            f"{recording.name}: no request is left; its hosts are {known}: choose with --hosts or --assets"
        )
    return replace(recording, exchanges=tuple(kept), left_out=dict(left_out))


def is_asset(exchange: RecordedExchange) -> bool:
    """Whether it is a file that a page shows or runs, not a page or its data."""
    if exchange.method not in ("GET", "HEAD"):
        return exchange.kind == "ping"
    if exchange.kind:
        kind = exchange.kind.lower()
        return kind in _ASSET_KINDS or (kind == "other" and bool(ASSET_PATHS.search(urlsplit(exchange.url).path)))
    if destination := exchange.header("sec-fetch-dest"):
        return destination in _DESTINATIONS
    if exchange.reply is not None and (content_type := exchange.reply.content_type):
        return bool(_ASSET_TYPES.fullmatch(content_type))
    return bool(ASSET_PATHS.search(urlsplit(exchange.url).path))


def _kept_hosts(recording: Recording, patterns: str) -> set[str]:
    hosts = {_host(exchange) for exchange in recording.exchanges}
    if patterns == ALL:
        return hosts
    if patterns:
        wanted = [pattern.strip().lower() for pattern in patterns.split(",") if pattern.strip()]
        return {
            host for host in hosts for pattern in wanted
            if fnmatchcase(host, pattern) or fnmatchcase(host.partition(":")[0], pattern)
        }  # fmt: skip
    kept: set[str] = set()
    site = _site(_host(recording.exchanges[0]))
    for exchange in recording.exchanges:
        host = _host(exchange)
        if _site(host) == site or host in kept:
            kept.add(host)
            # A login at another host is a part of the flow.
            if exchange.reply is not None and 300 <= exchange.reply.status < 400 and not is_asset(exchange):
                kept.add(url_parts(exchange.reply.header("location"), exchange.url).netloc.lower())
    return kept


def _host(exchange: RecordedExchange) -> str:
    """With its port if that is not the usual one."""
    return urlsplit(exchange.url).netloc.lower()


def _site(host: str) -> str:
    """The last two labels of a name, or the address: a.shop.test and b.shop.test are one site."""
    name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
    try:
        return str(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        labels = name.split(".")
        # shop.co.uk and bank.co.uk are two sites.
        is_long = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
        return ".".join(labels[-3 if is_long else -2 :])
