"""`plimsoll cluster`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plimsoll.cli.parts.common import say
from plimsoll.distribution import pip_install
from plimsoll.errors import PlimsollError, UsageError

if TYPE_CHECKING:
    from plimsoll.run.cluster.inspection import InspectedNode

PORT = 6379
WAIT_S = 600
"""Seconds for which the workers of a printed Job look for a master that a person is about to start."""
_COLUMNS = ("Host", "Address", "CPUs", "Plimsoll", "Python", "Ray")


@click.group(
    epilog="""\b
Examples:
  plimsoll cluster up hosts.txt
  plimsoll run -f locustfile.py -H http://shop.test -u 20000 --cluster=auto --nodes 8 --workers-per-node 4
  plimsoll cluster status
  plimsoll cluster down
  plimsoll cluster manifest k8s:image=registry.test/plimsoll,workers=20 --master-host 10.0.0.1 | kubectl apply -f -
  plimsoll cluster manifest --workers 20 --image registry.test/plimsoll | kubectl apply -f -"""
)
def cluster() -> None:
    """Make, show and end a Ray cluster for plimsoll run --cluster."""


@cluster.command()
@click.argument("hosts")
@click.option("--address", metavar="IP", help="Of this machine, as the hosts reach it (default: the one it has there).")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, help="Of the head, here.")
def up(hosts: str, address: str | None, port: int) -> None:
    """Start Ray on this machine, which gets no workers, and on those of a file, by SSH.

    HOSTS is a file with a host on each line: [USER@]HOST [cpus=N] [python=PATH] [address=IP]. SSH must reach them
    without asking, and they must have the same Plimsoll with Ray.
    """
    from plimsoll.run.cluster import machines
    from plimsoll.run.cluster.hosts import read_hosts

    listed = read_hosts(hosts)
    made = machines.up(listed, address, port)
    nodes = machines.await_nodes(made)
    _show(nodes)
    say(f"the cluster is up at {made.address}: plimsoll run … --cluster {made.address} --nodes {len(listed)}")


@cluster.command()
@click.argument("address", required=False)
def status(address: str | None) -> None:
    """Show the nodes of a cluster.

    ADDRESS is HOST:PORT of its head; by default that of plimsoll cluster up.
    """
    from plimsoll.run.cluster.inspection import inspect
    from plimsoll.run.cluster.machines import OwnCluster

    nodes = inspect(address or OwnCluster.read().address)
    _show(nodes)
    if silent := [each for each in nodes if each.error]:
        raise PlimsollError(f"{silent[0].address} does not answer: {silent[0].error}")


@cluster.command()
def down() -> None:
    """End what plimsoll cluster up has started."""
    from plimsoll.run.cluster.machines import OwnCluster
    from plimsoll.run.cluster.machines import down as end

    own = OwnCluster.read()
    end(own)
    say(f"the cluster at {own.address} has ended")


@cluster.command()
@click.argument("where", required=False)
@click.option("--master-host", metavar="ADDRESS", help="With WHERE: of the master, as Pods reach it.")
@click.option("--master-port", type=click.IntRange(1, 65535), default=5557, show_default=True, help="With WHERE.")
@click.option("--workers", type=click.IntRange(1, 10_000), help="RayCluster: Pods with workers.")
@click.option("--cpus", type=click.IntRange(1), default=4, show_default=True, help="RayCluster: cores of each Pod.")
@click.option("--memory", metavar="SIZE", default="8Gi", show_default=True, help="RayCluster: memory of each Pod.")
@click.option("--image", default="plimsoll", show_default=True, help="RayCluster: an image of Plimsoll with Ray.")
@click.option("--name", default="plimsoll", show_default=True, help="Of the Job, or of the RayCluster.")
def manifest(
    where: str | None, master_host: str | None, master_port: int, workers: int | None, cpus: int, memory: str,
    image: str, name: str,
) -> None:  # fmt: skip
    """Print what kubectl apply -f - takes: a Job of workers, or a RayCluster of KubeRay.

    WHERE is as in plimsoll run --on: k8s:image=IMAGE,workers=4. The Job's workers join a plimsoll run --master, with
    the token of the Secret: that of PLIMSOLL_JOIN_TOKEN, or a new one. Without WHERE it is a RayCluster.
    """
    if where is not None:
        if master_host is None:
            raise UsageError("say where the master is: --master-host ADDRESS, as Pods reach it")
        click.echo(_job_manifest(where, name, master_host, master_port), nl=False)
        return
    if workers is None:
        raise UsageError("say what is to be made: k8s:image=IMAGE,workers=4, or --workers N for a RayCluster")
    from plimsoll.run.cluster.kuberay import KubeRayCluster

    click.echo(KubeRayCluster(name, workers, cpus, memory, image, _ray_version()).to_yaml(), nl=False)


def _job_manifest(where: str, name: str, host: str, port: int) -> str:
    """The Secret and the Job. Raises UsageError."""
    import os
    import secrets

    from plimsoll.run.placers.kubernetes.manifests import job, secret, to_yaml
    from plimsoll.run.placers.kubernetes.options import JobOptions, checked_name
    from plimsoll.run.transport.join_token import VARIABLE, given_token

    options = JobOptions.of(where.removeprefix("k8s:"))
    token = given_token(os.environ.get(VARIABLE), insecure=False) or secrets.token_urlsafe()
    key = "-o jsonpath='{.data.token}' | base64 -d"
    return (
        f"# plimsoll run --master with the same token: export {VARIABLE}=$(kubectl get secret {name} {key})\n"
        + to_yaml([secret(checked_name(name), options.namespace, token), job(name, options, host, port, WAIT_S)])
    )


def _ray_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ray")
    except PackageNotFoundError:
        raise UsageError(f"the version of Ray is not known here: {pip_install('cluster')}") from None


def _show(nodes: list[InspectedNode]) -> None:
    rows: list[tuple[str, ...]] = [_COLUMNS]
    for each in nodes:
        versions = (each.versions.get(name, "?") for name in _COLUMNS[3:])
        rows.append((each.host or "?", each.address, str(each.cpus), *versions))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
