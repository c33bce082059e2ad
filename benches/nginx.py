"""The server: nginx on one core, with responses that cost it little."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import psutil

from . import grpc
from .errors import BenchError
from .files import SPARE, processes_for
from .machine import first_line
from .process import SERVER_CPU

SMALL_BYTES = 100
LARGE_BYTES = 27_601
"""A list of 200 todos, as the todos lab serves it."""
ORDER = b'{"status":"accepted","order":{"id":1042,"total":"129.90","currency":"EUR","items":3}}'
START_SECONDS = 10.0
STATUS_SECONDS = 30.0
OWN_ADDRESS = "127.1.0.1"
"""The benches read the status from this address: generators may use up all ports of other addresses."""
CONNECTIONS = 16_384
ROOM = 1.25
"""Connections configured per worker, as a multiple of the expected ones. Several workers share connections unevenly,
and each closes idle ones when only a sixteenth is free."""

CONFIGURATION = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log warn;
worker_processes {workers};
worker_cpu_affinity {cpu_mask};
worker_rlimit_nofile {files};
{user}
events {{ worker_connections {connections}; multi_accept on; }}
http {{
  access_log off;
  default_type text/plain;
  keepalive_requests 1000000000;
  keepalive_timeout 3600s;
  # Generators are stopped between their turns.
  client_header_timeout 3600s;
  send_timeout 3600s;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=16 inactive=1h;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=16384{reuseport};
    listen 127.0.0.1:{http2_port} http2 backlog=16384{reuseport};
    root {folder}/files;
    location / {{ }}
    location /orders/ {{
      default_type application/json;
      return 200 '{order}';
    }}
    location = /timed {{
      add_header Server-Timing 'db;dur=1.5, app;dur=2';
      return 200 '{order}';
    }}
    location = /renamed {{
      add_header Server-Timing 'p$request_id;dur=2';
      return 200 '{order}';
    }}
    # A call of gRPC is a POST, which files are not sent for. Its trailers have the status.
    location = {call} {{
      error_page 405 =200 /message;
      return 405;
    }}
    location = /message {{
      default_type application/grpc;
      add_trailer grpc-status 0;
    }}
    location = /_status {{ stub_status; }}
  }}
}}
"""


def program() -> str | None:
    """The path of nginx. Debian installs it where only root's PATH leads."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@dataclass
class Status:
    """nginx's own counts, without the requests for the status."""

    connections: int
    requests: int


class Nginx:
    """The running server."""

    def __init__(self, port: int, http2_port: int, pid: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.http2_url = f"http://127.0.0.1:{http2_port}"
        """Here it speaks HTTP/2 from the first byte."""
        self._connection = HTTPConnection("127.0.0.1", port, timeout=STATUS_SECONDS, source_address=(OWN_ADDRESS, 0))
        self._asked = 0
        self._master = psutil.Process(pid)

    def url_of(self, path: str, http2: bool) -> str:
        """The URL to which the path is added."""
        return self.http2_url if http2 else self.url

    def version(self) -> str:
        """For example "nginx/1.22.1"."""
        return first_line([program() or "nginx", "-v"]).rpartition(" ")[2]

    def cpu_seconds(self) -> float:
        """User and system time of master and workers so far."""
        times = [process.cpu_times() for process in [self._master, *self._master.children()]]
        return float(sum(t.user + t.system for t in times))

    def status(self) -> Status:
        """Its open connections and received requests. Raises BenchError if it does not respond."""
        try:
            self._connection.request("GET", "/_status")
            words = self._connection.getresponse().read().split()
        except (OSError, HTTPException) as error:
            self.close()
            raise BenchError(f"nginx does not give its status: {error}") from error
        # Active connections: 1 server accepts handled requests ACCEPTS HANDLED REQUESTS Reading: …
        self._asked += 1
        return Status(connections=int(words[2]) - 1, requests=int(words[9]) - self._asked)

    def close(self) -> None:
        """Close our own connection to it."""
        self._connection.close()


@contextmanager
def running_nginx(connections: int = CONNECTIONS) -> Iterator[Nginx]:
    """Start it in a private folder on a free port, for this many connections.

    Raises BenchError when it is not installed or does not start."""
    found = program()
    if found is None:
        raise BenchError("nginx is not installed (apt-get install nginx)")
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as name:
        folder = Path(name)
        ports = configure(folder, round(ROOM * connections))
        command = [found, "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf"), "-p", name]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        server = Nginx(*ports, process.pid)
        try:
            wait_until_up(server, process, folder)
            yield server
        finally:
            server.close()
            process.terminate()
            process.wait()


def configure(folder: Path, connections: int) -> tuple[int, int]:
    """Write configuration and files. Returns its ports, for HTTP/1.1 and for HTTP/2.

    One worker, or on the same CPU as many as the limit of open files requires."""
    folder.chmod(0o755)  # its workers run as another user if this process is root
    files = folder / "files"
    files.mkdir()
    (files / "small").write_bytes(b"x" * SMALL_BYTES)
    (files / "large").write_bytes(b"x" * LARGE_BYTES)
    (files / "message").write_bytes(grpc.reply())
    with socket.create_server(("127.0.0.1", 0)) as free, socket.create_server(("127.0.0.1", 0)) as other:
        port, http2_port = int(free.getsockname()[1]), int(other.getsockname()[1])
    workers = processes_for(connections)
    each = -(-connections // workers)
    configuration = CONFIGURATION.format(
        folder=folder,
        port=port,
        http2_port=http2_port,
        order=ORDER.decode(),
        call=grpc.PATH,
        cpu_mask=f"{1 << SERVER_CPU:b}",
        workers=workers,
        reuseport=" reuseport" if workers > 1 else "",
        connections=each,
        files=each + SPARE,
        user="user nobody nogroup;" if os.geteuid() == 0 else "",
    )
    (folder / "nginx.conf").write_text(configuration)
    return port, http2_port


def wait_until_up(server: Nginx, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            server.status()
            return
        except BenchError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise BenchError(f"nginx did not start:\n{(folder / 'error.log').read_text()}") from None
            time.sleep(0.02)
