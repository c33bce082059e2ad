"""Servers of others that speak HTTP/2, from the first byte and by TLS. `/` is answered with `hello`, `/echo` with the
request's body, as far as a server can."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benches.nginx import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

START_S = 60.0

NGINX = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 7;
  ssl_certificate {certificate};
  ssl_certificate_key {key};
  server {{
    listen 127.0.0.1:{plain} http2;
    listen 127.0.0.1:{secure} ssl http2;
    location / {{ return 200 "hello"; }}
  }}
}}
"""

NODE = """
const http2 = require('node:http2'), fs = require('node:fs');
const [, , plain, secure, certificate, key] = process.argv;
const answer = (stream, headers) => {
  stream.respond({ ':status': 200 });
  if (headers[':path'] === '/echo') stream.pipe(stream);
  else stream.end('hello');
};
http2.createServer().on('stream', answer).listen(+plain, '127.0.0.1');
http2.createSecureServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) })
  .on('stream', answer).listen(+secure, '127.0.0.1');
"""

GO = """
package main

import ("io"; "net/http"; "os")

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	http.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	plain := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Protocols: protocols}
	go plain.ListenAndServe()
	http.ListenAndServeTLS("127.0.0.1:" + os.Args[2], os.Args[3], os.Args[4], nil)
}
"""


def _nginx(folder: Path, values: Sequence[str]) -> list[str]:
    folder.chmod(0o755)  # its workers run as another user if this process is root
    plain, secure, certificate, key = values
    file = folder / "nginx.conf"
    file.write_text(NGINX.format(folder=folder, plain=plain, secure=secure, certificate=certificate, key=key))
    return [program() or "nginx", "-e", str(folder / "error.log"), "-c", str(file), "-p", str(folder)]


def _node(folder: Path, values: Sequence[str]) -> list[str]:
    file = folder / "server.js"
    file.write_text(NODE)
    return ["node", str(file), *values]


def _go(folder: Path, values: Sequence[str]) -> list[str]:
    (folder / "go.mod").write_text("module server\n\ngo 1.24\n")
    (folder / "main.go").write_text(GO)
    subprocess.run(["go", "build", "-o", "server", "."], cwd=folder, check=True)
    return [str(folder / "server"), *values]


SERVERS: dict[str, tuple[Callable[[Path, Sequence[str]], list[str]], str | None]] = {
    "nginx": (_nginx, program()),
    "node": (_node, shutil.which("node")),
    "go": (_go, shutil.which("go")),
}
"""How to start each, and its program; None: it is not installed."""


@contextmanager
def running(name: str, folder: Path, certificate: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The URLs of a server, without and with TLS."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        ports = [str(each.getsockname()[1]) for each in (first, second)]
    command = SERVERS[name][0](folder, [*ports, *certificate])
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        for port in ports:
            _wait_for(int(port), process)
        yield f"http://127.0.0.1:{ports[0]}", f"https://127.0.0.1:{ports[1]}"
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        assert process.poll() is None and time.monotonic() < deadline, "it does not start"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
