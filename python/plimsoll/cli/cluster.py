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
_COLUMNS = ("Host", "Address", "CPUs", "Plimsoll", "Python", "Ray")


@click.group(
    epilog="""\b
Examples:
  plimsoll cluster up hosts.txt
  plimsoll run -f locustfile.py -H http://shop.test -u 20000 --cluster=auto --nodes 8 --workers-per-node 4
  plimsoll cluster status
  plimsoll cluster down
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
@click.option("--workers", type=click.IntRange(1, 10_000), required=True, help="Pods with workers.")
@click.option("--cpus", type=click.IntRange(1), default=4, show_default=True, help="Cores of each of them.")
@click.option("--memory", metavar="SIZE", default="8Gi", show_default=True, help="Memory of each of them.")
@click.option("--image", default="plimsoll", show_default=True, help="An image of Plimsoll with Ray.")
@click.option("--name", default="plimsoll", show_default=True, help="Of the RayCluster.")
def manifest(workers: int, cpus: int, memory: str, image: str, name: str) -> None:
    """Print a RayCluster of KubeRay, for kubectl apply -f -."""
    from plimsoll.run.cluster.kuberay import KubeRayCluster

    click.echo(KubeRayCluster(name, workers, cpus, memory, image, _ray_version()).to_yaml(), nl=False)


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
