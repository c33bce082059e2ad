"""Starts workers as Pods of an indexed Job, and says how they are doing."""

from __future__ import annotations

import secrets
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.placers.kubernetes.cluster import GoneError, KubernetesCluster, UnreachableError, is_in_pod
from plimsoll.run.placers.kubernetes.manifests import job, secret
from plimsoll.run.placers.placer import MASTER_WAIT_S, REFUSED, Placement, Placer
from plimsoll.run.transport.join_token import ALL, reachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.run.placers.kubernetes.cluster import PodState
    from plimsoll.run.placers.kubernetes.options import JobOptions
    from plimsoll.run.placers.placer import MasterAddress

MOST_LOGS = 3
"""Logs of failed Pods that are shown: those of others say the same as a rule."""
MARGIN = 100
"""Pods that are read besides twice those of the Job, of which failed ones stay."""


class KubernetesPlacer(Placer):
    """One Job, and the Secret with the token of its Pods. The Job replaces Pods that are lost."""

    def __init__(self, options: JobOptions) -> None:
        self._options = options
        self.name = f"plimsoll-{secrets.token_hex(4)}"
        self._cluster: KubernetesCluster | None = None
        self._token = ""
        self._known: dict[str, PodState] = {}
        """By uid, as they were when they were looked at last."""
        self._begun: set[str] = set()
        """Indexes of the Job that had a Pod which ran."""
        self._logs = 0
        self._deletions: list[Callable[[str], None]] = []
        """What removes what was made, or may have been made by a request without a reply."""
        self._is_unreachable = False
        self._is_gone = False

    def start(self, master: MasterAddress) -> int:
        host = master.host or _own_address()
        self._token = master.token
        self._cluster = cluster = KubernetesCluster(self._options)
        with self._made_with(cluster.delete_job):
            uid = cluster.create_job(job(self.name, self._options, host, master.port))
        # After the Job, which owns it: who deletes the Job has deleted all. Pods wait for it.
        with self._made_with(cluster.delete_secret):
            cluster.create_secret(secret(self.name, self._options.namespace, master.token, uid))
        return self._options.workers

    def look(self) -> Placement:
        cluster, news = self._cluster, list[str]()
        if cluster is None or self._is_gone:
            return Placement()
        try:
            failure = cluster.job_failure(self.name)
            pods = cluster.pods(self.name, 2 * self._options.pods + MARGIN)
            waiting = self._waiting(cluster, pods)
        except GoneError:
            self._is_gone = True
            return Placement(
                failure=f"the Job {self.name} in namespace {cluster.namespace} was deleted; its Pods end with it"
            )
        except UnreachableError as error:
            was_unreachable, self._is_unreachable = self._is_unreachable, True
            return Placement(() if was_unreachable else (f"{error}; what happens to Pods is not known now",))
        except PlimsollError as error:
            return Placement(failure=str(error))
        if self._is_unreachable:
            self._is_unreachable = False
            news.append("the API server of Kubernetes answers again")
        refused = ""
        for pod in pods:
            line = self._changed(cluster, pod)
            if line:
                news.append(line)
            if line and pod.exit_code == REFUSED:
                refused = line
        news += [
            f"Pod {pod.name} on {pod.node or 'no node'} is gone{f': {pod.why}' if pod.why else ''}"
            for uid, pod in self._known.items()
            if uid not in {now.uid for now in pods} and pod.phase not in ("Succeeded", "Failed")
        ]
        self._known = {pod.uid: pod for pod in pods}
        if failure:
            failure = f"the Job {self.name} has failed: {failure}"
        if refused:
            news.remove(refused)
        return Placement(tuple(news), waiting, refused or failure)

    def close(self) -> None:
        if (cluster := self._cluster) is None:
            return
        self._cluster = None
        errors = []
        for delete in self._deletions:
            try:
                with suppress(GoneError):
                    delete(self.name)
            except PlimsollError as error:
                errors.append(str(error))
        cluster.close()
        if errors:
            raise PlimsollError(
                f"{'; '.join(errors)}. This may be left: kubectl -n {cluster.namespace} delete job,secret {self.name}. "
                f"Its workers end {MASTER_WAIT_S} s after their master, and the Job is removed five minutes later"
            )

    @contextmanager
    def _made_with(self, delete: Callable[[str], None]) -> Iterator[None]:
        """Something is made within the block. delete: removes it."""
        self._deletions.append(delete)
        try:
            yield
        except UsageError:  # it was refused, so there is nothing
            self._deletions.remove(delete)
            raise

    def _waiting(self, cluster: KubernetesCluster, pods: list[PodState]) -> str:
        """Why Pods do not run yet, in words."""
        wanted = self._options.pods
        pending = [pod for pod in pods if pod.phase == "Pending"]
        if len(pods) < wanted and (why := cluster.warning(self.name)):
            return f"{wanted - len(pods)} of {wanted} Pods are not there: {why}"
        reasons = Counter(pod.why for pod in pending if pod.why)
        if not reasons:
            return f"{len(pending)} of {wanted} Pods wait to be started" if pending else ""
        return "; ".join(f"{count} of {wanted} Pods wait: {why}" for why, count in reasons.most_common(3))

    def _changed(self, cluster: KubernetesCluster, pod: PodState) -> str:
        """What is to be said about a Pod since the last look; "" for nothing."""
        before = self._known.get(pod.uid)
        if before is not None and before.phase == pod.phase and before.is_leaving == pod.is_leaving:
            return ""
        where = f"Pod {pod.name} on {pod.node or 'no node'}"
        if pod.phase == "Failed":
            code = "" if pod.exit_code is None else f" with exit code {pod.exit_code}"
            log = ""
            if self._logs < MOST_LOGS and (text := cluster.log(pod.name, self._token)):
                self._logs += 1
                log = "; it printed:\n" + "\n".join(f"    {line}" for line in text.splitlines())
            return f"{where} has failed{code}{f' ({pod.why})' if pod.why else ''}{log}"
        if pod.is_leaving and pod.phase != "Succeeded":
            return f"{where} was deleted{f' ({pod.why})' if pod.why else ''}"
        if pod.phase == "Running":
            if pod.index in self._begun:
                return f"{where} runs, in the place of one that is lost"
            self._begun.add(pod.index)
        return ""


def _own_address() -> str:
    """Raises UsageError where only a person can know it."""
    if is_in_pod() and (host := reachable(ALL)) != "HOST":
        return host
    raise UsageError(
        "say by which address Pods reach this machine: --master-host ADDRESS, and --master-bind-port N if only some "
        "ports are open; where they reach none, run this command in a Pod, which finds its own address"
    )
