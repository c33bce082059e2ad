"""`plimsoll cluster`."""

from __future__ import annotations

import os
import secrets

import click

from plimsoll.run.placers.kubernetes.manifests import job, secret, to_yaml
from plimsoll.run.placers.kubernetes.options import JobOptions, checked_name
from plimsoll.run.transport.join_token import VARIABLE, given_token

WAIT_S = 600
"""Seconds for which the workers of a printed Job look for a master that a person is about to start."""


@click.group(
    epilog="""\b
Examples:
  plimsoll cluster manifest k8s:image=registry.test/plimsoll,workers=20 --master-host 10.0.0.1 | kubectl apply -f -"""
)
def cluster() -> None:
    """Print what starts workers on Kubernetes without a client of it here."""


@cluster.command()
@click.argument("where")
@click.option("--master-host", metavar="ADDRESS", required=True, help="Of the master, as Pods reach it.")
@click.option("--master-port", type=click.IntRange(1, 65535), default=5557, show_default=True, help="Of the master.")
@click.option("--name", default="plimsoll", show_default=True, help="Of the Job.")
def manifest(where: str, master_host: str, master_port: int, name: str) -> None:
    """Print a Job of workers, which kubectl apply -f - takes.

    WHERE is as in plimsoll run --on: k8s:image=IMAGE,workers=4. The workers join a plimsoll run --master, with the
    token of the Secret: that of PLIMSOLL_JOIN_TOKEN, or a new one.
    """
    options = JobOptions.of(where.removeprefix("k8s:"))
    token = given_token(os.environ.get(VARIABLE), insecure=False) or secrets.token_urlsafe()
    key = "-o jsonpath='{.data.token}' | base64 -d"
    manifests = [
        secret(checked_name(name), options.namespace, token), job(name, options, master_host, master_port, WAIT_S)
    ]  # fmt: skip
    click.echo(f"# plimsoll run --master with the same token: export {VARIABLE}=$(kubectl get secret {name} {key})")
    click.echo(to_yaml(manifests), nl=False)
