from __future__ import annotations

import re

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.placers.kubernetes.options import JobOptions


def test_what_is_not_said_is_one_worker_with_a_core() -> None:
    options = JobOptions.of("image=registry.test/plimsoll:1.0")
    assert (options.workers, options.pods, options.cores, options.memory) == (1, 1, "1", "1Gi")
    assert (options.namespace, options.context, options.spread) == ("", "", "prefer")


def test_pods_with_several_workers_have_a_core_for_each_of_them() -> None:
    options = JobOptions.of("namespace=load,image=p,workers=12,per_pod=4,memory=8Gi,spread=require")
    assert (options.pods, options.cores, options.memory) == (3, "4", "8Gi")
    assert JobOptions.of("image=p,workers=2,per_pod=2,cpu=1500m").cores == "1500m"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "name the image of the workers: k8s:image=REGISTRY/plimsoll:VERSION,workers=4"),
        ("image=-x", "image=-x is not the name of an image; .*"),
        ("image=p,workers=0", "workers=0: from 1 to 10000"),
        ("image=p,workers=many", "workers=many: from 1 to 10000"),
        ("image=p,workers=99999999999", "workers=99999999999: from 1 to 10000"),
        ("image=p,workers=5,per_pod=2", "workers=5 is no multiple of per_pod=2: all Pods are the same"),
        ("image=p,cpu=two", "cpu=two: cores as Kubernetes writes them, as 2 or 500m"),
        ("image=p,memory=lots", "memory=lots: a size of Kubernetes, as 4Gi or 500Mi"),
        ("image=p,spread=even", "spread=even: one of prefer, require, none"),
        ("image=p,namespace=Load", "namespace=Load: small letters, digits and dashes"),
        ("image=p,worker=2", r"worker=2 is not understood; did you mean workers=\?; there are account, .*"),
        ("image=p,workers", "workers is not understood; there are .*"),
    ],
)
def test_a_value_that_kubernetes_would_refuse_is_named(text: str, why: str) -> None:
    with pytest.raises(UsageError) as error:
        JobOptions.of(text)
    assert re.fullmatch(why, str(error.value))
