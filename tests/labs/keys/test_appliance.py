"""The appliance as its users meet it, and the experiments that ask about it."""

import base64
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from labs.environment import PYTHON

from plimsoll.experiment.file.file import read_experiment
from plimsoll.store import Store

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "labs" / "keys"
KEYS = "/cckm/google/keys"


@pytest.fixture
def url() -> Iterator[str]:
    """An appliance in front of a cloud service with three keys, which takes no time."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "labs.keys.lab", "--port", str(port), "--keys", "3", "--scale", "0"]
    with subprocess.Popen(command, cwd=ROOT) as appliance:
        url = f"http://127.0.0.1:{port}"
        while not answers(url):
            assert appliance.poll() is None, "it did not start; its own words are above"
            time.sleep(0.02)
        yield url
        appliance.terminate()


def answers(url: str) -> bool:
    try:
        return call(url, "GET", "/_keys") == (200, 3)
    except urllib.error.URLError:
        return False


def call(url: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_every_operation_does_what_its_name_says(url: str) -> None:
    status, key = call(url, "POST", "/cckm/google/upload-key", {"material": base64.b64encode(bytes(32)).decode()})
    assert (status, key["id"], key["primary"]["state"]) == (201, 4, "ENABLED")
    assert call(url, "GET", f"{KEYS}/4") == (200, key)
    assert call(url, "PATCH", f"{KEYS}/4", {"labels": {"a": "b"}})[1]["labels"] == {"a": "b"}
    assert call(url, "GET", f"{KEYS}/4")[1]["labels"] == {"a": "b"}
    (version,) = call(url, "GET", f"{KEYS}/4/versions")[1]["resources"]
    assert version == key["primary"]
    destroy = f"{KEYS}/4/versions/1/schedule-destroy"
    assert call(url, "POST", destroy) == (200, version | {"state": "DESTROY_SCHEDULED"})
    status, reply = call(url, "POST", destroy)
    assert (status, reply["detail"]["status"]) == (400, "FAILED_PRECONDITION")


def test_what_is_not_there_is_not_found(url: str) -> None:
    for method, path in (("GET", "/9"), ("GET", "/9/versions"), ("POST", "/1/versions/2/schedule-destroy")):
        assert call(url, method, KEYS + path)[0] == 404
    assert call(url, "PATCH", f"{KEYS}/9", {"labels": {}})[0] == 404


def test_material_of_another_length_is_not_imported(url: str) -> None:
    status, key = call(url, "POST", "/cckm/google/upload-key", {"material": base64.b64encode(bytes(5)).decode()})
    assert (status, key["primary"]["state"]) == (201, "IMPORT_FAILED")
    assert call(url, "POST", f"{KEYS}/4/versions/1/schedule-destroy")[0] == 400


def outcomes(url: str, users: str, store: Path) -> dict[tuple[str, str], Counter[str]]:
    """Exchanges by endpoint and outcome of 40 tasks of users of that class."""
    command = [sys.executable, "-P", "-m", "plimsoll", "run", "-f", str(FOLDER / "locustfile.py"), users, "--headless"]
    command += ["--only-summary", "-H", url, "-u", "2", "-r", "2", "--iterations", "40", "--store", str(store)]
    subprocess.run(command, capture_output=True, check=False, timeout=60)
    found: dict[tuple[str, str], Counter[str]] = {}
    for each in Store.open(str(store)).run("last").intervals():
        found.setdefault((each.method, each.name), Counter())[each.outcome] += each.count
    return found


@pytest.mark.parametrize(
    ("users", "endpoint"),
    [
        ("UploadKey", ("POST", "/cckm/google/upload-key")),
        ("GetKey", ("GET", f"{KEYS}/[id]")),
        ("PatchKey", ("PATCH", f"{KEYS}/[id]")),
    ],
)
def test_each_kind_of_user_does_one_operation(url: str, users: str, endpoint: tuple[str, str], tmp_path: Path) -> None:
    assert outcomes(url, users, tmp_path / "store.db") == {endpoint: {"success": 40}}


def test_keys_that_users_share_are_destroyed_once_and_all_later_attempts_fail(url: str, tmp_path: Path) -> None:
    assert outcomes(url, "DeleteKey", tmp_path / "store.db") == {
        ("GET", f"{KEYS}/[id]/versions"): {"success": 40},
        ("POST", f"{KEYS}/[id]/versions/[versionID]/schedule-destroy"): {"success": 3, "http": 37},
    }


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", ["experiment.toml", "test_data.toml"])
def test_the_experiments_start_the_lab(name: str, full: bool) -> None:
    experiment = read_experiment(str(FOLDER / name), full=full)
    for variant in experiment.variants:
        assert variant.target.start[3:9] == ("{python}", "-m", "labs.keys.lab", "--port", "{port}", "--keys")
    classes = [name for scenario in experiment.scenarios for name in scenario.classes]
    source = (FOLDER / "locustfile.py").read_text()
    assert all(f"class {name}(HttpUser)" in source for name in classes)


def test_what_was_wrapped_for_another_job_is_refused() -> None:
    code = (
        "from cloud.import_job import ImportJob, wrap; "
        "one, other = ImportJob('a'), ImportJob('b'); "
        "assert one.unwrap(wrap(b'secret', one.public_pem)) == b'secret'; "
        "other.unwrap(wrap(b'secret', one.public_pem))"
    )
    done = subprocess.run([PYTHON, "-c", code], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith("ValueError")
