"""The action for GitHub: its steps, run as a runner runs them, with a `gh` that only takes notes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
LOCUSTFILE = """\
from locust import HttpUser, constant, task

class Reader(HttpUser):
    wait_time = constant(0.05)

    @task
    def read(self):
        self.client.get("/")
"""


class Runner:
    """Runs the steps of the action that are commands, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "locustfile.py").write_text(LOCUSTFILE)
        (folder / "bin").mkdir()
        gh = folder / "bin" / "gh"
        gh.write_text(f'#!/bin/sh\necho "$@" > {folder}/gh.txt\n')
        gh.chmod(0o755)
        self.inputs = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
        self.outputs: dict[str, dict[str, str]] = {}
        """By the id of the step."""

    def step(self, name: str, **contexts: str) -> subprocess.CompletedProcess[str]:
        """contexts: values of `github.…`."""
        (step,) = [each for each in ACTION["runs"]["steps"] if each.get("name") == name]
        values = {f"inputs.{key}": value for key, value in self.inputs.items()}
        values |= {"steps.report.outputs.exit-code": "", "steps.artifact.outputs.artifact-url": "https://a.test/1"}
        outputs = self.outputs.items()
        values |= {f"steps.{step}.outputs.{key}": value for step, made in outputs for key, value in made.items()}
        values |= {"github.token": "t", "github.event.pull_request.number": "7"}
        values |= {f"github.{key}": value for key, value in contexts.items()}
        given = {key: values[value.strip("${ }")] for key, value in step.get("env", {}).items()}
        places = {
            key: str(self.folder / key.lower()) for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")
        }
        path = os.pathsep.join((str(self.folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
        environment = {**os.environ, **given, **places, "PATH": path, "GITHUB_REPOSITORY": "a/b"}
        environment |= {"RUNNER_TEMP": str(self.folder)}
        environment |= {"GITHUB_REF_NAME": "main", "PLIMSOLL_EXIT_CODE_ON_INVALID": "0"}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        output = self.folder / "github_output"
        lines = output.read_text().splitlines() if output.exists() else []
        output.unlink(missing_ok=True)
        self.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in lines)
        return done


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format, *args):
        pass


@pytest.fixture
def http_server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


def command(server, *more):
    return f"run -f locustfile.py --headless -H {server} -u 2 -r 2 -t 1s {' '.join(more)}"


def test_every_input_that_a_step_reads_is_declared():
    text = (ROOT / "action.yml").read_text()
    used = {part.split("}")[0].strip() for part in text.split("${{ inputs.")[1:]}
    assert used <= set(ACTION["inputs"])
    assert set(ACTION["inputs"]) - used == {"comment"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("tag", "package", "installed"),
    [
        ("v0.1.0", "", "plimsoll-lab==0.1.0"),
        ("v1", "", "plimsoll-lab==1.*"),
        ("main", "", "plimsoll-lab"),
        ("3d3c42e5aac5ba805825da76410c181273ba90b1", "", "plimsoll-lab"),
        ("v1", "./plimsoll_lab-0.2.0.whl", "./plimsoll_lab-0.2.0.whl"),
    ],
)
def test_the_release_that_is_installed_is_that_of_the_tag_of_the_action(runner, tag, package, installed):
    pip = '#!/bin/sh\nmkdir -p "$3/bin"\nprintf \'#!/bin/sh\\necho "$@"\\n\' > "$3/bin/pip"\nchmod +x "$3/bin/pip"\n'
    (runner.folder / "bin" / "python").write_text(pip)
    (runner.folder / "bin" / "python").chmod(0o755)
    runner.inputs["package"] = package
    done = runner.step("Install Plimsoll", action_ref=tag)
    assert (done.returncode, done.stdout) == (0, f"install --quiet {installed}\n")
    assert (runner.folder / "github_path").read_text() == f"{runner.folder}/plimsoll/bin\n"


def test_a_run_is_reported_and_commented(runner, http_server):
    runner.inputs["command"] = command(http_server, "--threshold 'p50 < 10s'")
    assert runner.step("Load").returncode == 0
    assert runner.outputs["load"] == {"exit-code": "0"}
    done = runner.step("Report")
    assert done.returncode == 0, done.stderr
    folder = runner.folder / "plimsoll-report"
    assert {each.name for each in folder.iterdir()} == {"report.html", "junit.xml", "metrics.json", "report.md"}
    ET.parse(folder / "junit.xml")
    assert (runner.folder / "github_step_summary").read_text() == (folder / "report.md").read_text()
    assert "plimsoll.threshold" in (folder / "junit.xml").read_text()
    assert runner.step("Comment").returncode == 0
    assert "](https://a.test/1)" in (folder / "report.md").read_text().splitlines()[-1]
    assert "pr comment 7 --repo a/b" in (runner.folder / "gh.txt").read_text()
    assert runner.step("Verdict").returncode == 0


@pytest.mark.long
def test_the_next_run_is_compared_and_a_broken_threshold_fails_the_job(runner, http_server):
    runner.inputs["command"] = command(http_server)
    runner.step("Load")
    runner.inputs |= {"command": command(http_server, "--threshold 'p50 < 1us'", "--threshold='p99 < 0.001ms'")}
    runner.inputs |= {"compare": "main@{last}", "fail-on": "regression"}
    assert runner.step("Load").returncode == 0
    reported = runner.step("Report")
    assert reported.returncode == 0
    assert "::error title=p50 < 1us%3A broken::" in reported.stdout
    assert "::notice title=Noise of this runner::" in reported.stdout
    folder = runner.folder / "plimsoll-report"
    report = (folder / "report.md").read_text()
    assert report.startswith("# this run against main\n\n**Failed: 0 of 2 thresholds hold")
    assert "branch main" in report and report.index("✗ p50 &lt; 1us") < report.index("**Answer.**")
    tests = {each.get("name") for each in ET.parse(folder / "junit.xml").iter("testcase")}
    assert {"p50 < 1us", "p99 < 0.001ms"} <= tests
    assert list(json.loads((folder / "metrics.json").read_text())) == ["GET /", "Aggregated"]
    assert runner.outputs["report"] == {"exit-code": "0"}, "one run each fails nothing"
    assert runner.step("Verdict").returncode == int(runner.outputs["load"]["exit-code"]) != 0


@pytest.mark.long
def test_without_an_earlier_run_the_first_one_is_reported_alone(runner, http_server):
    runner.inputs |= {"command": command(http_server), "compare": "main@{last}"}
    assert runner.step("Load").returncode == 0
    done = runner.step("Report")
    assert done.returncode == 0, done.stderr
    assert "::notice title=Nothing to compare::no earlier run of main in " in done.stdout
    report = (runner.folder / "plimsoll-report" / "report.md").read_text()
    assert report.startswith("# locustfile.py · 2 users") and "no earlier run of main in " in report
    assert (runner.folder / "github_step_summary").read_text() == report
    assert runner.step("Verdict").returncode == 0


@pytest.mark.long
def test_a_load_that_could_not_begin_fails_with_its_own_code(runner):
    runner.inputs |= {"command": "run -f nothing.py --headless", "compare": "main@{last}"}
    assert runner.step("Load").returncode == 0
    done = runner.step("Report")
    assert done.returncode == 0 and "::error title=Plimsoll::" in done.stdout
    assert runner.step("Comment").returncode == 0
    assert runner.step("Verdict").returncode == 2


@pytest.mark.parametrize(("load", "compared", "code"), [("0", "", 0), ("0", "1", 1), ("3", "1", 3), ("1", "0", 1)])
def test_the_load_decides_before_the_comparison(runner, load, compared, code):
    runner.outputs = {"load": {"exit-code": load}, "report": {"exit-code": compared}}
    assert runner.step("Verdict").returncode == code
