from __future__ import annotations

import subprocess
import sys
from argparse import Namespace

from plimsoll.locust.program import create_environment
from plimsoll.users.user import User

MAIN = "from plimsoll.locust import install; install()\nimport locust.main\nlocust.main.main()"


def test_the_command_with_this_programs_arguments() -> None:
    done = subprocess.run([sys.executable, "-c", MAIN, "-f", "nowhere.py"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, "locustfile not found" in done.stderr) == (1, True)


def test_an_environment_goes_by_its_options() -> None:
    class Visitor(User):
        pass

    options = Namespace(host="http://h", reset_stats=True, profile="p", stop_timeout=3)
    environment = create_environment([Visitor], options, locustfile="x.py")
    assert (environment.host, environment.reset_stats, environment.profile) == ("http://h", True, "p")
    assert (environment.stop_timeout, environment.parsed_options, environment.user_classes) == (3, options, [Visitor])
