from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path

from plimsoll.load.plan_file import read_plan
from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.load.url import url_scenario
from plimsoll.record.manifest import GitState
from plimsoll.run.manifest import git_state, manifest, plain_words, without_secrets
from plimsoll.run.plan import RunPlan


def _git(directory: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


def test_it_has_what_repeats_and_what_judges_a_run(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text("x = 1\n")
    command = ("plimsoll", "run", "-f", "my shop.py")
    plan = RunPlan(locustfiles=(str(path),), command=command, host="http://h", users=3, seed=7, run_time=90.0)
    facts = json.loads(json.dumps(manifest(plan, None).to_json()))
    assert facts["command"] == "plimsoll run -f 'my shop.py'"
    assert (facts["host"], facts["users"], facts["seed"], facts["run_time"]) == ("http://h", 3, 7, 90.0)
    assert (facts["scenario"]["name"], facts["scenario"]["run_time"]) == ("shop.py", "1m30s")
    assert len(facts["scenario"]["files"][0]["sha256"]) == 64
    assert facts["versions"]["plimsoll"] == facts["version"]
    assert facts["git"] is None
    assert facts["cpu"]["count"] >= facts["machine"]["cpus"] >= 1
    assert facts["limits"]["open_files"] == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert RunPlan.from_dict(facts["plan"]) == plan


def test_a_file_that_changes_changes_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    plan = RunPlan(locustfiles=(str(path),))
    digests = set()
    for text in ("a", "b", "a"):
        path.write_text(text)
        digests.add(manifest(plan, None).scenario.files[0].sha256)
    assert len(digests) == 2


def test_native_users_are_named_by_their_url() -> None:
    plan = RunPlan(scenario=url_scenario("http://h/a"), source="http://h/a")
    found = manifest(plan, None)
    assert (found.name, found.scenario.users, found.host) == ("http://h/a", "native", "http://h")
    assert manifest(plan, "warm").name == "warm"


def test_the_commit_is_known_and_whether_something_differs_from_it(tmp_path: Path) -> None:
    assert git_state(tmp_path) is None
    _git(tmp_path, "init")
    (tmp_path / "a.py").write_text("1")
    _git(tmp_path, "add", "a.py")
    _git(tmp_path, "commit", "-m", "one")
    state = git_state(tmp_path)
    assert state is not None
    assert state.commit is not None
    assert len(state.commit) == 40
    assert not state.dirty
    (tmp_path / "a.py").write_text("2")
    assert git_state(tmp_path) == GitState(commit=state.commit, dirty=True)


def test_credentials_are_not_kept() -> None:
    scenario = url_scenario("http://h/a", headers=["Authorization: Bearer s3cret", "Accept: */*"], body="s3cret")
    scenario["feeders"] = [{"name": "f", "columns": ["password"], "rows": [["s3cret"], ["s3cret too"]]}]
    scenario["targets"][0]["headers"] = [["X-Api-Key", "s3cret"]]
    kept = without_secrets(scenario)
    assert kept is not None
    assert "s3cret" not in json.dumps(kept)
    assert kept["feeders"][0]["rows"]["count"] == 2
    assert ["Accept", "*/*"] in kept["flows"][0]["steps"][0]["headers"]
    assert "s3cret" in json.dumps(scenario), "what is run is left as it was"
    command = ["plimsoll", "run", "--header", "Cookie: a=s3cret", "--header=X-Token: s3cret", "--header", "Accept: b"]
    words = plain_words(command)
    assert "s3cret" not in "".join(words)
    assert "Accept: b" in words


def test_the_header_of_a_credential_is_masked_whatever_its_name(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("""
target = "http://h"
auth = { api_key = "s3cret", header = "X-Tenant" }
[[flow]]
[[flow.step]]
get = "/"
[[flow.step]]
get = "/"
headers = { X-Plain = "shown" }
auth = { api_key = "s3cret too", header = "x-caller" }
""")
    kept = without_secrets(read_plan(str(plan)).scenario)
    assert kept is not None
    assert kept["credentials"] == ["x-caller", "x-tenant"]
    assert "s3cret" not in json.dumps(kept)
    assert ["X-Plain", "shown"] in kept["flows"][0]["steps"][1]["headers"]


def test_values_of_secret_options_are_not_kept() -> None:
    words = ("--pin", "s3cret", "--api-key=s3cret", "--size", "large")
    plan = RunPlan(arguments=words, command=("plimsoll", "run", *words))
    facts = manifest(plan, None, secret={"--pin"}).to_json()
    assert "s3cret" not in json.dumps(facts)
    assert facts["plan"]["arguments"][-2:] == ["--size", "large"]


def test_a_load_is_kept_but_not_each_of_a_million_times() -> None:
    phase = Phase("replay", ShapeSpec.of("replay", times=tuple(each / 1000 for each in range(5000))), seconds=5.0)
    plan = RunPlan(scenario=url_scenario("http://h/a"), source="http://h/a", load=Load("open", (phase,)))
    facts = manifest(plan, None).to_json()
    assert (facts["model"], facts["users_kind"], facts["users"]) == ("open", "native", None)
    assert facts["load"]["phases"][0]["shape"]["values"]["times"]["count"] == 5000
    assert len(json.dumps(facts)) < 10_000
