"""What is needed to repeat a run, and to judge it: plan, versions, machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll import __version__
from plimsoll.load.auth.definition import plain_auths
from plimsoll.record.manifest import (
    GitState,
    Manifest,
    Processor,
    ScenarioFile,
    StoredLoad,
    StoredPlan,
    StoredScenario,
)
from plimsoll.redact import MASK, is_secret_header, masked_headers, redact_options, redact_values
from plimsoll.run.machine import limits, machine
from plimsoll.run.network_link import link_to
from plimsoll.run.transport.bundle import Bundle
from plimsoll.say.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from plimsoll.run.plan import RunPlan

PACKAGES = ("gevent", "greenlet", "requests", "msgpack", "pydantic", "sqlalchemy")
"""Those whose version may move a number, besides Plimsoll."""
BRANCH_VARIABLES = (
    "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILD_SOURCEBRANCHNAME", "BITBUCKET_BRANCH",
    "CIRCLE_BRANCH", "BRANCH_NAME",
)  # fmt: skip
"""In which GitHub, GitLab, Azure, Bitbucket, CircleCI and Jenkins name the branch, the one of a pull request first."""
LONG = 1000
"""Entries of a list that is kept as it is."""
_GIT_TIMEOUT_S = 5.0


def manifest(
    plan: RunPlan,
    name: str | None,
    secret: Container[str] = (),
    *,
    shaped: bool = False,
    only_commit: bool = False,
    thresholds: Sequence[str] = (),
) -> Manifest:
    """All but `started` and `stamp`, which are known when the run begins. name: of the scenario, else the file's.
    secret: options of the locustfile whose values are not kept. shaped: a LoadTestShape says how many users there are.
    only_commit: as for `git_state`. thresholds: of the plan's file and of the command.
    """
    fields = plan_fields(plan, secret)
    files = plan_files(plan)
    folder = Path(files[0]).parent if files else Path()
    # Workers on other machines have interfaces of their own.
    urls = () if plan.joined else tuple(plan.host_text.split(", "))
    return replace(
        plan.described(users=None if plan.is_open or shaped else plan.most_users, shaped=shaped),
        tool="plimsoll",
        version=__version__,
        command=shlex.join(fields["command"]),
        scenario=_scenario(plan, name),
        plan=StoredPlan.from_json(fields),
        load=StoredLoad.from_json(fields["load"]) if plan.load else None,
        thresholds=tuple(thresholds),
        versions={"plimsoll": __version__}
        | {package: installed for package in PACKAGES if (installed := _version(package))},
        python=f"{platform.python_implementation()} {platform.python_version()}",
        git=git_state(folder, only_commit=only_commit) if files else None,
        branch=branch(folder),
        kernel=f"{platform.system()} {platform.release()}",
        cpu=Processor(model=_cpu_model(), count=os.cpu_count()),
        machine=replace(machine(), link=link_to(urls)),
        limits=limits(),
    )


def plan_fields(plan: RunPlan, secret: Container[str] = ()) -> dict[str, Any]:
    """The plan as it is kept. secret: options of the locustfile whose values are not."""
    return {
        **plan.to_dict(),
        "command": plain_words(redact_options(plan.command, secret)),
        "scenario": without_secrets(plan.scenario),
        "load": _short(plan.load.to_dict()) if plan.load else None,
        "arguments": redact_options(plan.arguments, secret),
        "options": [[name, redact_values(value)] for name, value in plan.options],
    }


def plan_files(plan: RunPlan) -> tuple[str, ...]:
    """The locustfiles, or the file of the plan."""
    if plan.locustfiles:
        return plan.locustfiles
    return (plan.source,) if plan.source and "://" not in plan.source else ()


def without_secrets(scenario: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A scenario as it may be kept: bodies, the rows of feeders, and values of headers that carry credentials left out.

    A digest stands for bodies and rows: the plan's file has them.
    """
    if scenario is None:
        return None
    flows, known = scenario.get("flows", ()), scenario.get("credentials", ())
    tokens = [{**token, "key": MASK} for token in scenario.get("tokens", ())]
    return {
        **scenario,
        **({"tokens": tokens} if tokens else {}),
        "targets": [_plain(target, known) for target in scenario.get("targets", ())],
        "feeders": [{**each, "rows": _digest(each["rows"])} for each in scenario.get("feeders", ())],
        "flows": [{**flow, "steps": [_plain(step, known) for step in flow.get("steps", ())]} for flow in flows],
        **({"auths": plain_auths(scenario["auths"])} if scenario.get("auths") else {}),
    }


def plain_words(command: Sequence[str]) -> list[str]:
    """A command line with the values of headers that carry credentials masked."""
    words = list(command)
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option == "--header" and equals:
            words[place] = f"--header={_plain_line(value)}"
        elif place and words[place - 1] == "--header":
            words[place] = _plain_line(word)
    return words


def _plain_line(header: str) -> str:
    name, colon, _ = header.partition(":")
    return f"{name}{colon} {MASK}" if is_secret_header(name) else header


def _plain(holder: Mapping[str, Any], credentials: Container[str]) -> dict[str, Any]:
    """A target or a step. credentials: names of headers that carry one."""
    plain = dict(holder)
    if plain.get("headers"):
        plain["headers"] = masked_headers(plain["headers"], credentials)
    if plain.get("body") is not None:
        plain["body"] = _digest(plain["body"])
    return plain


def _short(value: Any) -> Any:
    """A value without the lists in it that are too long to be read, as those of replayed times are."""
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return _digest(value) if len(value) > LONG else [_short(each) for each in value]
    return value


def _digest(value: Any) -> dict[str, Any]:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    count = {"count": len(value)} if isinstance(value, list | tuple) else {}
    return {**count, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}


def git_state(directory: Path, *, only_commit: bool = False) -> GitState | None:
    """The commit that the directory is at, and whether anything differs from it; None outside of a repository.

    only_commit: nothing is said of differences. To look for them, git runs programs that the repository's own settings
    name, which a repository of somebody else must not decide.
    """
    commit = _git(directory, "rev-parse", "HEAD")
    if not commit:
        return None
    if only_commit:
        return GitState(commit=commit)
    is_dirty = bool(_git(directory, "status", "--porcelain", "--untracked-files=no"))
    return GitState(commit=commit, dirty=is_dirty)


def branch(directory: Path) -> str | None:
    """The branch that is built or checked out; None outside of a repository, and for a commit without one."""
    # What CI builds is a commit without a branch.
    named = next((name for variable in BRANCH_VARIABLES if (name := os.environ.get(variable))), None)
    checked_out = named or _git(directory, "rev-parse", "--abbrev-ref", "HEAD")
    return None if checked_out in (None, "", "HEAD") else checked_out


def _git(directory: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _scenario(plan: RunPlan, name: str | None) -> StoredScenario:
    paths = plan_files(plan)
    own_name = ", ".join(Path(path).name for path in paths) or plan.source
    return StoredScenario(
        name=name or own_name,
        model="open" if plan.is_open else "closed",
        users="python" if plan.locustfiles else "native",
        files=tuple(
            ScenarioFile(path=path, sha256=content)
            for path, (_, content) in zip(paths, Bundle.of(paths).files, strict=True)
        ),
        run_time=format_duration(plan.run_time) if plan.run_time is not None else None,
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or sys.platform
