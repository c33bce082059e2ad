"""`serve` starts a server of another protocol for a case. It ends with the run, as all of the run's processes do."""

import socket
import subprocess
import time

PATIENCE = 10.0


def serve(*command):
    """Start the command, in which {port} stands for a free port of 127.0.0.1; returns the port once it is open."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    process = subprocess.Popen([word.replace("{port}", str(port)) for word in command], stdout=subprocess.DEVNULL)
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return port
    raise RuntimeError(f"{command[0]} does not listen on port {port}")
