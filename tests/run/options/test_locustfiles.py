from __future__ import annotations

import http.server
import threading
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.run.options import locustfiles as files
from plimsoll.run.options.locustfiles import download

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = {"/a/shop.py": b"x = 1\n", "/raw": b"y = 2\n", "/large.py": b"#" * 2000, "/..%2Fevil.py": b"z = 3\n"}


class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = FILES.get(self.path.partition("?")[0])
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(found or b"")))
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_locustfile_may_be_named_by_its_url(url: str) -> None:
    (path,) = files.find(f"{url}/a/shop.py?token=1")
    assert (path.name, path.read_bytes()) == ("shop.py", b"x = 1\n")
    assert download(f"{url}/raw").name == "raw.py"


def test_its_name_is_a_name_and_no_path(url: str) -> None:
    path = download(f"{url}/..%2Fevil.py")
    assert (path.name, path.read_bytes()) == ("evil.py", b"z = 3\n")
    assert path.parent.name.startswith("plimsoll-locustfile-")


@pytest.mark.parametrize(("path", "reason"), [("/none.py", "404"), ("/large.py", "more than 1000 bytes")])
def test_what_cannot_be_had_is_told(url: str, path: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 1000)
    with pytest.raises(LocustfileError, match=reason):
        download(url + path)


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(LocustfileError, match=r"-f http://127\.0\.0\.1:1/x\.py"):
        download("http://127.0.0.1:1/x.py")
