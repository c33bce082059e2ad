"""A real sshd on 127.0.0.1 for one test, and the system's `ssh` with a configuration of its own.

`ssh` finds its configuration by the user's entry in the password database, not by HOME, so the program `ssh` of a test
is a line that names another one.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.command import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence

SSHD = "/usr/sbin/sshd"
SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
SetEnv HOME={home}
"""
CLIENT = """\
Host {names}
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
"""


class SshServer:
    """folder: for its files. names: hosts by which it is reached."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "home").mkdir()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port: int = taken.getsockname()[1]
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        user = pwd.getpwuid(os.getuid()).pw_name
        settings = {"folder": folder, "port": self.port, "user": user, "home": folder / "home"}
        (folder / "sshd_config").write_text(SERVER.format(**settings))
        (folder / "ssh_config").write_text(CLIENT.format(names=" ".join(names), **settings))
        self.trust()
        program = folder / "bin" / "ssh"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
        program.chmod(0o755)
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=log)
        wait_until(self._listens)

    @property
    def path(self) -> str:
        """The PATH with its `ssh`."""
        return f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def trust(self) -> None:
        """Make its key known to `ssh`."""
        key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {key}\n")

    def distrust(self) -> None:
        (self.folder / "known_hosts").write_text("")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _listens(self) -> bool:
        assert self._process.poll() is None, (self.folder / "log").read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
