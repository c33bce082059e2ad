"""Every keyword with every verb of a client, for the cases `matrix` of both: imported as `matrix`."""

from io import BytesIO
from pathlib import Path

from parity import note

KEYWORDS = {
    "none": dict,
    "data-text": lambda: {"data": "text"},
    "data-bytes": lambda: {"data": b"\x00bytes"},
    "data-form": lambda: {"data": {"a": 1, "b": "ü &"}},
    "data-list": lambda: {"data": {"a": [1, 2]}},
    "data-empty": lambda: {"data": ""},
    "data-file": lambda: {"data": BytesIO(b"a file")},
    "data-iterator": lambda: {"data": iter([b"one", b"two"])},
    "data-open-file": lambda: {"data": Path(__file__).open("rb")},  # noqa: SIM115 - the client reads it
    "json": lambda: {"json": {"a": 1, "ü": None}},
    "json-empty": lambda: {"json": {}},
    "json-null": lambda: {"json": None},
    "json-data": lambda: {"json": {"a": 1}, "data": "text"},
    "params": lambda: {"params": {"a": 1, "b": "ü &"}},
    "params-list": lambda: {"params": {"a": [1, 2]}},
    "params-pairs": lambda: {"params": [("a", 1), ("a", 2)]},
    "params-none": lambda: {"params": {"a": None}},
    "headers": lambda: {"headers": {"X-Own": "1"}},
    "headers-empty": lambda: {"headers": {}},
    "headers-text": lambda: {"headers": ""},
    "headers-list": lambda: {"headers": []},
    "headers-type": lambda: {"headers": {"content-type": "text/own"}, "json": {"a": 1}},
    "headers-length": lambda: {"headers": {"Content-Length": "2"}, "data": "ab"},
    "headers-upper": lambda: {
        "headers": {"CONTENT-TYPE": "text/own", "ACCEPT": "a/b", "ACCEPT-ENCODING": "identity", "AUTHORIZATION": "x"},
        "json": {"a": 1},
    },
    "headers-values": lambda: {"headers": {"X-None": None, "X-Bytes": b"b"}},
    "headers-number": lambda: {"headers": {"X-Number": 5}},
    "json-false": lambda: {"json": False},
    "json-text": lambda: {"json": ""},
    "params-text": lambda: {"params": "a=1"},
    "auth-list": lambda: {"auth": ["u", "p"]},
    "auth-bytes": lambda: {"auth": (b"u", b"p")},
    "auth-header": lambda: {"auth": ("u", "p"), "headers": {"authorization": "own"}},
    "auth": lambda: {"auth": ("u", "p")},
    "files": lambda: {"files": {"f": ("a.txt", b"hello", "text/plain")}},
    "files-data": lambda: {"files": {"f": b"hello"}, "data": {"a": 1}},
    "timeout": lambda: {"timeout": 5},
    "timeout-json": lambda: {"timeout": 5, "json": {"a": 1}},
    "timeout-data": lambda: {"timeout": 5, "data": "text"},
    "timeout-form": lambda: {"timeout": 5, "data": {"a": 1}},
    "timeout-empty": lambda: {"timeout": 5, "data": {}},
    "timeout-text-empty": lambda: {"timeout": 5, "data": ""},
    "timeout-params": lambda: {"timeout": 5, "params": {"a": 1}},
    "timeout-pairs": lambda: {"timeout": 5, "params": [("a", 1)]},
    "timeout-none": lambda: {"timeout": None},
    "timeout-pair": lambda: {"timeout": (1, 5)},
    "timeout-files": lambda: {"timeout": 5, "files": {"f": b"hello"}},
    "verify-json": lambda: {"verify": False, "json": {"a": 1}},
    "proxies-json": lambda: {"proxies": {"http": "http://127.0.0.1:9"}, "json": {"a": 1}},
    "cookies": lambda: {"cookies": {"c": "1"}},
    "cert": lambda: {"cert": None},
    "hooks": lambda: {"hooks": None},
    "several": lambda: {"verify": False, "timeout": 5, "json": [1], "params": {"p": 1}, "headers": {"X-Own": "1"}},
    "redirects": lambda: {"allow_redirects": False},
    "stream": lambda: {"stream": True},
}
VERBS = ("get", "head", "options", "delete", "post", "put", "patch")


class Calls:
    """For a User class with a client; what goes over the wire is compared, and what the response says of it."""

    def call_all(self, keywords):
        for kind, make in keywords.items():
            for verb in VERBS:
                self.call(f"{verb} {kind}", getattr(self.client, verb), f"/{verb}/{kind}", **make())
            for method in ("GET", "POST", "post", "PUT"):
                self.call(f"{method} {kind}", self.client.request, method, f"/request/{method}/{kind}", **make())
            for method in ("GET", "POST", "DELETE"):
                self.call_rest(f"rest {method} {kind}", method, f"/json/{kind}", **make())

    def call(self, what, function, *arguments, **keywords):
        try:
            response = function(*arguments, **keywords)
            body = response.request.body
            note(what, [response.status_code, type(body).__name__, body])
        except Exception as error:
            note(what, type(error).__name__)

    def call_rest(self, what, method, url, **keywords):
        try:
            with self.rest(method, url, **keywords) as response:
                note(what, [response.status_code, response.js])
        except Exception as error:
            note(what, type(error).__name__)
