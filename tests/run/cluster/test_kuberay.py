"""The manifest against what the custom resource definition of KubeRay (ray.io/v1) says of the fields that it has."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from plimsoll.errors import UsageError
from plimsoll.run.cluster.kuberay import KubeRayCluster

QUANTITY = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?([KMGT]i?|m)?$"}]}
SIZES = {"type": "object", "additionalProperties": QUANTITY}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}


def _only(required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


PROBE = _only(
    tcpSocket=_only(("port",), port={"type": "integer", "minimum": 1, "maximum": 65535}),
    periodSeconds={"type": "integer"},
    failureThreshold={"type": "integer"},
)
CONTAINER = _only(
    ("name",),
    name={"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
    image={"type": "string"},
    env={"type": "array", "items": _only(("name",), name={"type": "string"}, value={"type": "string"})},
    livenessProbe=PROBE,
    readinessProbe=PROBE,
    resources=_only(requests=SIZES, limits=SIZES),
)
SPREAD = _only(
    ("maxSkew", "topologyKey", "whenUnsatisfiable"),
    maxSkew={"type": "integer", "minimum": 1},
    topologyKey={"type": "string"},
    whenUnsatisfiable={"enum": ["DoNotSchedule", "ScheduleAnyway"]},
    labelSelector=_only(matchLabels=TEXTS),
)
TEMPLATE = _only(
    spec=_only(
        ("containers",),
        containers={"type": "array", "items": CONTAINER, "minItems": 1},
        topologySpreadConstraints={"type": "array", "items": SPREAD},
    )
)
CRD = _only(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayCluster"},
    metadata=_only(("name",), name={"type": "string"}),
    spec=_only(
        ("headGroupSpec",),
        rayVersion={"type": "string"},
        authOptions=_only(mode={"enum": ["disabled", "token"]}),
        headGroupSpec=_only(("template",), rayStartParams=TEXTS, template=TEMPLATE),
        workerGroupSpecs={
            "type": "array",
            "items": _only(
                ("groupName", "maxReplicas", "minReplicas", "template"),
                groupName={"type": "string"}, replicas=COUNT, minReplicas=COUNT, maxReplicas=COUNT,
                rayStartParams=TEXTS, template=TEMPLATE,
            ),
        },
    ),
)  # fmt: skip


def _cluster(**fields: Any) -> KubeRayCluster:
    given = {"name": "load", "workers": 20, "cpus": 4, "memory": "8Gi", "image": "reg.io/plimsoll:1", **fields}
    return KubeRayCluster(**given, ray_version="2.60.0")


def test_the_manifest_is_a_ray_cluster_as_kuberay_defines_it() -> None:
    document = yaml.safe_load(_cluster().to_yaml())
    jsonschema.Draft202012Validator(CRD).validate(document)
    spec = document["spec"]
    (group,) = spec["workerGroupSpecs"]
    (container,) = group["template"]["spec"]["containers"]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (20, 20, 20)
    assert container["image"] == "reg.io/plimsoll:1"
    assert container["resources"]["requests"] == container["resources"]["limits"] == {"cpu": "4", "memory": "8Gi"}
    assert spec["authOptions"] == {"mode": "token"}
    assert spec["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}, "no load beside the coordinator"


def test_probes_need_no_dashboard_and_ask_a_port_that_ray_is_told_to_open() -> None:
    spec = yaml.safe_load(_cluster().to_yaml())["spec"]
    (group,) = spec["workerGroupSpecs"]
    ports = {"head": 6379, "worker": int(group["rayStartParams"]["node-manager-port"])}
    templates = {"head": spec["headGroupSpec"]["template"], "worker": group["template"]}
    for kind, template in templates.items():
        (container,) = template["spec"]["containers"]
        for name in ("readinessProbe", "livenessProbe"):
            assert container[name]["tcpSocket"] == {"port": ports[kind]}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": "Load"}, "--name Load: small letters"),
        ({"name": "a" * 51}, "50 at most"),
        ({"memory": "8 GB"}, "--memory 8 GB: a size of Kubernetes"),
        ({"image": "a\nb: c"}, "not the name of an image"),
    ],
)
def test_what_kubernetes_would_refuse_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        _cluster(**fields)
