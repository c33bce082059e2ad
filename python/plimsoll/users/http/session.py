"""HttpSession: a requests.Session whose requests the engine sends, times and counts."""

from __future__ import annotations

import logging
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import requests
from requests import PreparedRequest, Request
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth, HTTPDigestAuth
from requests.exceptions import InvalidHeader, InvalidSchema, InvalidURL, MissingSchema, RequestException
from requests.hooks import dispatch_hook
from requests.models import REDIRECT_STATI
from requests.utils import prepend_scheme_if_needed, select_proxy

from plimsoll.users.failure import aborted, error_of, undecodable
from plimsoll.users.http.adapters import ask, takes_part
from plimsoll.users.http.cookies import store_cookies
from plimsoll.users.http.headers import encode
from plimsoll.users.http.multipart import large_form
from plimsoll.users.http.plain import compose, limits
from plimsoll.users.http.prepared import Chain, lines_and_body
from plimsoll.users.http.quick import HttpCalls
from plimsoll.users.http.replaced import EngineSession, any_replaced, request_is_replaced, send_is_replaced
from plimsoll.users.http.response import ResponseContextManager, elapsed
from plimsoll.users.http.sending import NO_CONTEXT, RefusedError
from plimsoll.users.http.settings import SessionSettings
from plimsoll.users.http.stream import StreamedResponse
from plimsoll.users.http.upload import Upload
from plimsoll.users.http.url import (
    ABSOLUTE,
    BaseUrlAuth,
    as_ascii,
    by_way_of,
    origin_of,
    redirect_target,
    routes_of,
    split,
    without_credentials,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll._engine import Reply
    from plimsoll.users.events import EventHook
    from plimsoll.users.http.url import Route
    from plimsoll.users.http.websocket import Refusals, WebSocket

logger = logging.getLogger(__name__)


class HttpSession(SessionSettings, HttpCalls, EngineSession, requests.Session):  # type: ignore[misc]
    """`self.client` of an HttpUser: sends like a requests.Session, and times and counts every request.

    A URL without http:// is appended to base_url unchanged. Common requests are composed here; for the rest (files,
    cookies=, hooks, authentication objects, proxies, …) requests prepares the request and the engine sends it. Mounted
    adapters are called if they change requests or responses; see `plimsoll.users.http.adapters`.
    """

    _steps = frozenset(
        {
            "_build_url", "_send_request_safe_mode", "get_adapter", "get_redirect_target", "merge_environment_settings",
            "prepare_request", "rebuild_auth", "rebuild_method", "rebuild_proxies", "resolve_redirects", "send",
            "should_strip_auth",
        }
    )  # fmt: skip

    _refused_websockets: Refusals | None = None

    def __init__(self, base_url: str | None, request_event: EventHook, user: Any, *, pool_manager: Any = None) -> None:
        # Not that of requests.Session, which creates 20 kB of objects that most users never need. pool_manager is
        # accepted and ignored: each user has its own connections.
        self._attach(request_event, user)
        if any_replaced():
            self._is_special = self._has_own_steps = True
        self.base_url, credentials = without_credentials(base_url)
        if getattr(user, "http2", False):
            self.http2 = True
        if credentials is not None:
            self.auth = BaseUrlAuth(str(self.base_url), *credentials)

    def request(  # type: ignore[override] # Locust's arguments stand in front of those of requests
        self,
        method: str,
        url: str,
        name: str | None = None,
        catch_response: bool = False,
        context: Mapping[str, Any] = NO_CONTEXT,
        *,
        data: Any = None,
        json: Any = None,
        params: Any = None,
        headers: Any = None,
        cookies: Any = None,
        files: Any = None,
        auth: Any = None,
        timeout: Any = None,
        allow_redirects: bool = True,
        proxies: Any = None,
        hooks: Any = None,
        stream: bool | None = None,
        verify: Any = None,
        cert: Any = None,
    ) -> ResponseContextManager:
        """Send a request; arguments that exist in requests have the same meaning here.

        name: counted under this instead of path and query. catch_response: use the response in a with-block, which
        decides whether it counts as a success. context: passed to the listeners of the request event. stream: return
        when the head of the response has arrived; user code reads the body as it arrives.

        timeout: a number limits the whole request in seconds, including redirects; a pair limits connecting and each
        wait for bytes, as in requests, and so does a urllib3.Timeout, which may also have a total. With `stream`, a
        limit of the whole request ends with the head, and then limits each wait for more of the body.

        A failed connection or an invalid redirect raises nothing: the response then has status_code 0 and an `error`.
        Raises MissingSchema, InvalidSchema and InvalidURL for an invalid url, and requests' exceptions for arguments of
        the wrong type.
        """
        chain = Chain((method, name or self.request_name or ""))
        stream = bool(self.stream if stream is None else stream)
        if self._has_own_steps:
            given = {
                "params": params, "headers": headers, "cookies": cookies, "files": files, "auth": auth,
                "timeout": timeout, "proxies": proxies, "hooks": hooks, "verify": verify, "cert": cert,
                "stream": stream or None, "allow_redirects": None if allow_redirects else False,
            }  # fmt: skip
            sent = self._by_own_steps(chain, url, data=data, json=json, **given)
            return self._hand_over(sent, catch_response, context, stream)
        options = {"timeout": timeout, "verify": verify, "cert": cert, "stream": stream}
        try:
            response = None
            if not (cookies or files or hooks or proxies):
                response = self._send_plain(chain, url, (params, headers, data, json, auth), options, allow_redirects)
            if response is None:
                request = Request(
                    method.upper(), self._build_url(url), headers, files, data, params, auth, cookies, hooks, json
                )
                options |= {"proxies": proxies}
                response = self._send_prepared(chain, request, options, allow_redirects)
        except RequestException as error:
            response = self._failed(chain, url, error)
        return self._hand_over(response, catch_response, context, stream)

    def _by_own_steps(self, chain: Chain, url: str, data: Any, json: Any, **others: Any) -> ResponseContextManager:
        """Send a request of a session whose script replaces some of the methods that requests and Locust have. These
        get the arguments that user code has given."""
        given = {name: value for name, value in others.items() if value is not None}
        if chain.endpoint[0] in ("GET", "OPTIONS"):
            # requests' get and options give it.
            given.setdefault("allow_redirects", True)
        with chain.of_this_call():
            url = self._build_url(url)
            response = self._send_request_safe_mode(chain.endpoint[0], url, data=data, json=json, **given)
        return response if isinstance(response, ResponseContextManager) else self._adopt(chain, response)

    def _send_request_safe_mode(self, method: str, url: str, **arguments: Any) -> Any:
        """Send a request to a whole URL, and report nothing. Locust's session has this method, and scripts replace it.

        A failed connection raises nothing. Raises MissingSchema, InvalidSchema and InvalidURL for an invalid url.
        """
        send = partial(requests.Session.request, self) if request_is_replaced() else None
        try:
            return (send or self.request_itself)(method, url, **arguments)
        except RequestException as error:
            return self._failed(Chain.of_call() or Chain((method, "")), url, error)

    def request_itself(self, method: str, url: str, **arguments: Any) -> ResponseContextManager:
        """What `requests.Session.request` does. Raises RequestException."""
        chain = Chain.of_call() or Chain((method, ""))
        options = {name: arguments.pop(name, None) for name in ("timeout", "verify", "cert", "proxies", "stream")}
        options["stream"] = bool(self.stream if options["stream"] is None else options["stream"])
        allow_redirects = arguments.pop("allow_redirects", True)
        return self._send_prepared(chain, Request(method.upper(), url, **arguments), options, allow_redirects)

    def websocket(
        self,
        url: str,
        name: str | None = None,
        context: Mapping[str, Any] = NO_CONTEXT,
        *,
        subprotocols: Sequence[str] = (),
        compression: bool = False,
        **options: Any,
    ) -> WebSocket:
        """Open a WebSocket. url: a path, or a whole URL of any of ws, wss, http and https. subprotocols: to offer, the
        preferred one first. compression: offer permessage-deflate. options: headers, params, cookies, auth, timeout,
        verify and cert, as of a request.

        Never fails: the WebSocket is False if it is not open, and its `error` says why.
        """
        from plimsoll.users.http.websocket import open_websocket

        return open_websocket(self, url, name, subprotocols, compression, context, {"headers": None, **options})

    def _build_url(self, url: str) -> str:
        """The whole URL; Locust's session has this method."""
        return url if ABSOLUTE.match(url) else f"{self.base_url}{url}"

    def _send_plain(
        self, chain: Chain, url: str, content: tuple[Any, ...], options: dict[str, Any], allow_redirects: bool
    ) -> ResponseContextManager | None:
        """Compose a request and send it without requests; None, with nothing sent, if it needs requests."""
        route = routes_of(self.base_url or "")[url]
        setup = None if route.has_credentials else self.setup_for(route.root)
        if setup is None:
            return None
        method, name = chain.endpoint
        message = compose(setup, route, method.upper(), *content)
        if message is None:
            return None
        if not name:
            chain.endpoint = method, message.route.name
        origin = setup.origin
        if options["verify"] is not None or options["cert"] is not None:
            origin = origin_of(route.root, *self._tls(options["verify"], options["cert"]), http2=self.http2)
        try:
            reply = self._transmit(
                chain.endpoint,
                origin,
                method.upper(),
                message.route.target,
                setup.headers,
                message.extra,
                message.body,
                message.content_type,
                limits(options["timeout"]),
                options["stream"],
            )
        except RefusedError:
            return None
        response = self._response(reply, message.route, message.payload, chain, options["stream"])
        chain.add(reply)
        return self._conclude(chain, reply, response, options, allow_redirects)

    def _response(self, reply: Reply, route: Route, body: Any, chain: Chain, stream: bool) -> ResponseContextManager:
        kind = StreamedResponse if stream and reply.error is None else ResponseContextManager
        return kind(reply, route, body, self, chain.endpoint)

    def _tls(self, verify: Any, cert: Any) -> tuple[Any, Any]:
        return self.verify if verify is None else verify, self.cert if cert is None else cert

    def _conclude(
        self,
        chain: Chain,
        reply: Reply,
        response: ResponseContextManager,
        options: dict[str, Any],
        allow_redirects: bool,
    ) -> ResponseContextManager:
        """Process the reply to a composed request: store its cookies, follow redirects."""
        if reply.error is not None:
            response.error = error_of(reply, response.first_url())
            return response
        if reply.damaged:
            return self._failed(chain, str(response.url), undecodable(reply))
        self._keep_cookies(response)
        if allow_redirects and response.status_code in REDIRECT_STATI and response.is_redirect:
            request = response.request
            request._cookies = self.cookies.copy()
            settings = {"timeout": options["timeout"], "stream": options["stream"]}
            settings["verify"], settings["cert"] = self._tls(options["verify"], options["cert"])
            try:
                return self._follow(chain, response, request, **settings)
            except RequestException as error:
                return self._failed(chain, str(response.url), error)
        return response

    def _keep_cookies(self, response: ResponseContextManager) -> None:
        if values := response.set_cookies:
            store_cookies(self.cookies, response.request, values)

    def _follow(
        self, chain: Chain, response: ResponseContextManager, request: PreparedRequest, **settings: Any
    ) -> ResponseContextManager:
        """The response after all redirects, with those before it in its history."""
        settings |= chain.as_argument()
        hops: list[Any] = [response, *self.resolve_redirects(response, request, **settings)]
        last: ResponseContextManager = hops.pop()
        if hops:
            last.history = hops
        return last

    def prepare_request(self, request: Request) -> PreparedRequest:
        """As requests does, but large files of a form are read while it is sent."""
        auth = request.auth or self.auth
        # Other authentication may need the body.
        is_plain = auth is None or isinstance(auth, (tuple, HTTPBasicAuth, HTTPDigestAuth))
        form = large_form(request.files) if request.files and is_plain else None
        if form is None:
            return super().prepare_request(request)
        marked = copy(request)
        marked.files = form.files
        prepared = super().prepare_request(marked)
        body: Any = form.filled(cast("bytes", prepared.body))
        prepared.body, prepared.headers["Content-Length"] = body, str(len(body))
        return prepared

    def _send_prepared(
        self, chain: Chain, request: Request, options: dict[str, Any], allow_redirects: bool
    ) -> ResponseContextManager:
        """Prepare a request with requests, and send it."""
        prepared = self.prepare_request(request)
        method, name = chain.endpoint
        chain.endpoint = method, name or prepared.path_url
        settings = self.merge_environment_settings(
            str(prepared.url), options["proxies"] or {}, options["stream"], options["verify"], options["cert"]
        )
        settings |= chain.as_argument()
        return self.send(prepared, timeout=options["timeout"], allow_redirects=allow_redirects, **settings)

    def send(
        self, request: PreparedRequest, *, chain: Chain | None = None, allow_redirects: bool = True, **settings: Any
    ) -> ResponseContextManager:
        """Send a prepared request, like requests.Session.send. It is counted only if `request` calls this.

        Raises RequestException.
        """
        if send_is_replaced():
            given = {**settings, "allow_redirects": allow_redirects}
            with (chain or Chain.of_call() or Chain((str(request.method), request.path_url))).of_this_call():
                response = requests.Session.send(self, request, **given)
            return cast("ResponseContextManager", response)
        return self.send_itself(request, chain=chain, allow_redirects=allow_redirects, **settings)

    def send_itself(
        self, request: PreparedRequest, *, chain: Chain | None = None, allow_redirects: bool = True, **settings: Any
    ) -> ResponseContextManager:
        """What `requests.Session.send` does. Raises RequestException."""
        if isinstance(request, Request):
            raise ValueError("You can only send PreparedRequests.")
        chain = chain or Chain.of_call() or Chain((str(request.method), request.path_url))
        for name in ("stream", "verify", "cert", "proxies"):
            settings.setdefault(name, getattr(self, name))
        response = self.hop(request, chain=chain, **settings)
        # A hook may replace the response; the new one is also from this session.
        response = cast("ResponseContextManager", dispatch_hook("response", request.hooks, response, **settings))
        for each in (*response.history, response):
            self._keep_cookies(cast("ResponseContextManager", each))
        return self._follow(chain, response, request, **settings) if allow_redirects else response

    def hop(self, request: PreparedRequest, *, chain: Chain | None = None, **settings: Any) -> ResponseContextManager:
        """Send one prepared request, through the mounted adapter if it takes part."""
        chain = chain or Chain((str(request.method), request.path_url))
        if self._has_own_steps and takes_part(adapter := self.get_adapter(str(request.url))):
            response = ask(adapter, partial(self._by_engine, chain), request, **settings)
            return response if isinstance(response, ResponseContextManager) else self._adopt(chain, response)
        return self._by_engine(chain, request, **settings)

    def _adopt(self, chain: Chain, made: requests.Response) -> ResponseContextManager:
        """Convert a response that an adapter or the script made itself. Without sending there are no times."""
        if not chain.endpoint[1]:
            chain.endpoint = chain.endpoint[0], str(made.request.path_url if made.request else made.url)
        response = ResponseContextManager(chain.reply, None, None, self, chain.endpoint)
        for name in ("status_code", "headers", "content", "encoding", "url", "reason", "elapsed", "cookies", "request"):
            setattr(response, name, getattr(made, name))
        return response

    def _by_engine(
        self,
        chain: Chain,
        request: PreparedRequest,
        *,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
        stream: Any = False,
    ) -> ResponseContextManager:
        """Send one prepared request."""
        route = split(str(request.url))
        proxy = select_proxy(str(request.url), proxies)
        lines, body = lines_and_body(request)
        target = route.target
        if proxy:
            proxy = prepend_scheme_if_needed(proxy, "http")
        if proxy and route.root.startswith("http:") and not proxy.lower().startswith("socks"):
            origin, target, host, authorization = by_way_of(proxy, route)
            if "Host" not in request.headers:
                lines.insert(0, ("Host", host))
            if authorization is not None:
                lines.append(("Proxy-Authorization", authorization))
        else:
            origin = origin_of(route.root, verify, cert, proxy or None, http2=self.http2)
        try:
            reply = self._transmit(
                chain.endpoint,
                origin,
                str(request.method),
                target,
                encode(lines),
                None,
                body,
                None,
                limits(timeout),
                bool(stream),
                chain.since,
            )
        except RefusedError as error:
            raise InvalidHeader(str(error), request=request) from error
        response = self._response(reply, route, None, chain, bool(stream))
        response.request = request
        response.chain = chain
        if chain.reply is not None:
            # Before the reply represents the whole chain.
            response.elapsed = elapsed(reply)
        chain.add(reply)
        if isinstance(body, Upload) and body.error is not None:
            raise aborted(body.error, request)
        if reply.error is not None:
            raise error_of(reply, str(request.url), request)
        if reply.damaged:
            raise undecodable(reply)
        return response

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Raises InvalidSchema and InvalidURL for an invalid redirect."""
        if not resp.is_redirect:
            return None
        # requests would read it as UTF-8, and raise for other bytes.
        location = as_ascii(resp.headers["location"])
        if location:
            redirect_target(str(resp.url), location)
        return location

    def _failed(self, chain: Chain, url: str, error: RequestException) -> ResponseContextManager:
        """The response object for an exchange without a response. Raises for an invalid URL of user code."""
        if chain.reply is None and isinstance(error, (MissingSchema, InvalidSchema, InvalidURL)):
            raise error
        method, name = chain.endpoint
        if not chain.named:
            # The name of the invalid redirect, as in Locust: it has no response that refers to the first request.
            name = getattr(error.request, "path_url", None) or name or str(url)
        response = ResponseContextManager(chain.reply, None, None, self, (method, name))
        response.status_code = 0
        response.error = error
        response.request = cast("PreparedRequest", error.request)
        response.asked_for = self._build_url(url)
        return response

    def head(self, url: str, **kwargs: Any) -> ResponseContextManager:  # type: ignore[override]
        """Send a HEAD request. Redirects are followed only on request."""
        return super().head(url, **{"allow_redirects": False, **kwargs})

    def mount(self, prefix: str, adapter: Any) -> None:
        """Mount an adapter. Only its changes to requests and responses have an effect; the engine connects."""
        if takes_part(adapter):
            self._is_special = self._has_own_steps = True
        elif type(adapter) is not HTTPAdapter:
            logger.warning("%s mounted on %s has no effect: Plimsoll's engine makes the connections",
                           type(adapter).__name__, prefix)  # fmt: skip
        super().mount(prefix, adapter)
