from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from plimsoll.run.placers.kubernetes.manifests import job, secret, to_yaml
from plimsoll.run.placers.kubernetes.options import JobOptions

if TYPE_CHECKING:
    from tests.command import Command

OPTIONS = JobOptions.of("image=p:1,workers=4,per_pod=2,namespace=load,account=runs")


def test_what_is_printed_is_what_the_client_sends() -> None:
    manifests = [secret("shop", "load", "a token: with # signs, 'quotes' and \n", "u-1"), job("shop", OPTIONS, "h", 1)]
    assert list(yaml.safe_load_all(to_yaml(manifests))) == manifests


def test_the_token_is_in_the_secret_alone() -> None:
    text = to_yaml([job("shop", OPTIONS, "10.0.0.1", 5557)])
    assert "secretKeyRef" in text and "token" in text
    made = secret("shop", "load", "s3cret")
    assert made["stringData"] == {"token": "s3cret"}
    assert "ownerReferences" not in str(made)


def test_pods_are_spread_as_the_options_say() -> None:
    def spread(how: str) -> object:
        made = job("shop", JobOptions.of(f"image=p,spread={how}"), "h", 1)
        (_, document) = yaml.safe_load_all(f"---\n{{}}\n{to_yaml([made])}")
        constraints = document["spec"]["template"]["spec"].get("topologySpreadConstraints", [])
        return [constraint["whenUnsatisfiable"] for constraint in constraints]

    assert [spread(how) for how in ("prefer", "require", "none")] == [["ScheduleAnyway"], ["DoNotSchedule"], []]


def test_the_command_prints_a_secret_and_a_job_and_says_what_is_missing(plimsoll: Command) -> None:
    where = "k8s:image=p,workers=2"
    done = plimsoll("cluster", "manifest", where, "--master-host", "10.0.0.1")
    assert [document["kind"] for document in yaml.safe_load_all(done.out)] == ["Secret", "Job"]
    refused = plimsoll("cluster", "manifest", where)
    assert refused.code == 2 and refused.err.startswith("plimsoll: missing option '--master-host'. (")
    refused = plimsoll("cluster", "manifest")
    assert refused.code == 2 and refused.err.startswith("plimsoll: missing argument 'WHERE'. (")
    refused = plimsoll("cluster", "manifest", where, "--master-host", "h", "--name", "Big")
    assert (refused.code, refused.err) == (2, "plimsoll: --name Big: small letters, digits and dashes, 50 at most\n")
