"""The proxies lab, started: nginx as a file server, and in front of it nginx as the proxy of one variant.

`python -m labs.proxies.lab --variant NAME --port N` runs until it is asked to end (SIGTERM, Ctrl-C).
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from labs.todos.lab import end_on_sigterm

from plimsoll.experiment.ports import free_port

FILES = 184
MEAN_BYTES = 20_000
"""Of a file, as in the published report: a saved web page with its pictures and scripts."""
CONNECTIONS = 4096
VARIANTS = {
    "direct": "no proxy: the file server itself",
    "reconnect": "a connection to the file server for each request: what `proxy_pass` does by default",
    "keepalive": "connections to the file server are kept",
    "starved": "as reconnect, with room for 16 connections, those of the clients included",
}

MAIN = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log error;
worker_rlimit_nofile 10000;
events {{ worker_connections {connections}; }}
http {{
  access_log off;
  default_type application/octet-stream;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  {server}
}}
"""
ORIGIN = "server {{ listen 127.0.0.1:{port} backlog=4096; root {files}; sendfile on; tcp_nopush on; }}"
PROXY = """
upstream origin {{ server 127.0.0.1:{origin}; {keep} }}
server {{
  listen 127.0.0.1:{port} backlog=4096;
  proxy_buffering on;
  {headers}
  location / {{ proxy_pass http://origin; }}
}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.proxies.lab", description=__doc__)
    parser.add_argument("--variant", choices=VARIANTS, default="direct")
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if nginx is None:
        print("proxies lab: there is no nginx; `apt install nginx-light`, or `make setup`", file=sys.stderr)
        return 1
    end_on_sigterm()
    with tempfile.TemporaryDirectory(prefix="plimsoll-proxies-") as folder:
        return serve(Path(nginx), Path(folder), arguments.variant, arguments.port)


def serve(nginx: Path, folder: Path, variant: str, port: int) -> int:
    """Until one of the servers ends, or a signal comes."""
    origin = port if variant == "direct" else free_port()
    files = folder / "files"
    make_files(files)
    running = [start(nginx, folder / "origin", ORIGIN.format(port=origin, files=files))]
    try:
        if variant != "direct":
            keep = variant == "keepalive"
            proxy = PROXY.format(
                origin=origin, port=port, keep="keepalive 64;" if keep else "",
                headers='proxy_http_version 1.1; proxy_set_header Connection "";' if keep else "",
            )  # fmt: skip
            running.append(start(nginx, folder / "proxy", proxy, 16 if variant == "starved" else CONNECTIONS))
        print(f"{variant} at http://127.0.0.1:{port}/ (Ctrl-C stops it)", flush=True)
        os.wait()
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for each in running:
            each.terminate()
        for each in running:
            each.wait()


def start(nginx: Path, folder: Path, server: str, connections: int = CONNECTIONS) -> subprocess.Popen[bytes]:
    folder.mkdir()
    configuration = folder / "nginx.conf"
    configuration.write_text(MAIN.format(folder=folder, connections=connections, server=server))
    return subprocess.Popen([nginx, "-p", folder, "-c", configuration, "-e", folder / "error.log"])


def make_files(folder: Path) -> None:
    """The same ones each time: sizes are lognormal, as those of web pages are."""
    chance = random.Random(184)
    sizes = [chance.lognormvariate(0, 1) for _ in range(FILES)]
    scale = MEAN_BYTES * FILES / sum(sizes)
    folder.mkdir()
    for number, size in enumerate(sizes):
        (folder / f"{number}.bin").write_bytes(chance.randbytes(round(size * scale)))
    folder.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())
