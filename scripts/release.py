"""Checks a release and writes its files: versions, licences, advisories, a bill of materials, checksums.

    python -m scripts.release [--out dist] [--offline]

Writes sbom.cdx.json (CycloneDX 1.6), licences.txt and SHA256SUMS next to the wheels. Exits with 1 if a version differs
from the others, if a bundled part has no accepted licence, if a wheel is missing, if a workflow has a known weakness,
if an advisory is known, or if an advisory database does not answer; --offline allows the last.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
import uuid
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from scripts.audits import audit
from scripts.published import SUMS, version, write_checksums
from scripts.wheels import TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
FINE = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0",
    "Python-2.0", "Unicode-3.0", "Unlicense", "Zlib", "ZPL-2.1", "CDLA-Permissive-2.0", "LLVM-exception",
}  # fmt: skip
"""Licences that allow anybody to use a package."""
CLASSIFIERS = {
    "MIT License": "MIT", "BSD License": "BSD-3-Clause", "BSD": "BSD-3-Clause", "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0", "Apache License 2.0": "Apache-2.0", "Zope Public License": "ZPL-2.1",
    "Apache License, Version 2.0": "Apache-2.0", "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}  # fmt: skip
"""Their names in older packages."""


@dataclass(frozen=True, order=True, slots=True)
class Part:
    """A library that is part of a wheel, or a dependency of it."""

    kind: str
    """cargo, npm or pypi."""
    name: str
    version: str
    licence: str
    """An SPDX expression; "" if it is unknown."""

    @property
    def purl(self) -> str:
        return f"pkg:{self.kind}/{self.name.replace('@', '%40')}@{self.version}"

    @property
    def is_fine(self) -> bool:
        """Whether one of the alternative licences is accepted. Licences that apply together must all be."""
        options = re.split(r"\s+OR\s+|/", self.licence.replace("(", " ").replace(")", " "))
        return any(
            bool(words := re.split(r"\s+(?:AND|WITH)\s+", each.strip())) and set(words) <= FINE for each in options
        )


def crates() -> Iterator[Part]:
    """All libraries that are compiled into the module."""
    found = json.loads(_output("cargo", "metadata", "--format-version", "1", "--locked"))
    packages = {each["id"]: each for each in found["packages"]}
    nodes = {each["id"]: each for each in found["resolve"]["nodes"]}
    waiting = [key for key, each in packages.items() if each["name"] == "plimsoll-python"]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            if dependency["pkg"] not in seen and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    for key in seen:
        each = packages[key]
        if each["source"] is not None:
            yield Part("cargo", each["name"], each["version"], each["license"] or "")


def modules() -> Iterator[Part]:
    """npm packages with code in the page."""
    packages = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    for path, each in packages.items():
        if path and not each.get("dev") and not each.get("optional"):
            yield Part("npm", path.rpartition("node_modules/")[2], each["version"], each.get("license", ""))


def distributions() -> Iterator[Part]:
    """The dependencies of a wheel, and their dependencies."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    waiting, seen = [Requirement(each).name for each in wanted], set[str]()
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # for another system
        yield Part("pypi", name, found.version, _licence(found.metadata))
        for text in found.requires or ():
            each = Requirement(text)
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                waiting.append(each.name)


def _licence(metadata: Any) -> str:
    if expression := metadata.get("License-Expression"):
        return str(expression)
    named = [each.rpartition(" :: ")[2] for each in metadata.get_all("Classifier") or () if each.startswith("License")]
    named += [str(metadata.get("License") or "").strip().partition("\n")[0]]
    return next((CLASSIFIERS.get(each, each) for each in named if CLASSIFIERS.get(each, each) in FINE), "")


def bill(parts: list[Part], version: str) -> dict[str, Any]:
    """As CycloneDX 1.6."""
    seed = "\n".join(each.purl for each in parts)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'plimsoll {version} {seed}')}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "plimsoll", "version": version}},
        "components": [
            {
                "type": "library",
                "bom-ref": each.purl,
                "name": each.name,
                "version": each.version,
                "purl": each.purl,
                "scope": "required",
                **({"licenses": [{"expression": each.licence.replace("/", " OR ")}]} if each.licence else {}),
            }
            for each in parts
        ],
    }


def faults(parts: list[Part], version: str, out: Path) -> Iterator[str]:
    """The problems that block a release."""
    if f"## {version}" not in (ROOT / "CHANGELOG.md").read_text():
        yield f"CHANGELOG.md has no heading for {version}"
    for each in parts:
        if not each.is_fine:
            yield f"{each.purl}: licence {each.licence or 'unknown'!r}"
    for target, system in TARGETS.items():
        machine = target.partition("-")[0]
        if not list(out.glob(f"plimsoll_lab-{version}-*{system}_{machine}.whl")):
            yield f"{out} has no wheel for {system} on {machine}: make wheels"
    if not (out / f"plimsoll_lab-{version}.tar.gz").exists():
        yield f"{out} has no source distribution: make wheels"


def workflow_faults() -> Iterator[str]:
    """What zizmor finds in the workflows and the action: unpinned actions, injected text, too many permissions."""
    zizmor = str(Path(sys.executable).with_name("zizmor"))
    command = [zizmor, "--offline", "--no-progress", "--format=json", ".github", "action.yml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    for finding in json.loads(done.stdout or "[]"):
        # Where it is written, not where it matters.
        where = finding["locations"][0]["symbolic"]["key"]["Local"]["given_path"]
        yield f"{where}: {finding['ident']}: {finding['desc']}"
    if done.returncode and not done.stdout:
        yield f"zizmor: {done.stderr.strip()[-300:]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.release")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--offline", action="store_true", help="advisory databases need not be reached")
    arguments = parser.parse_args()
    out: Path = arguments.out
    out.mkdir(exist_ok=True)
    parts = sorted({*crates(), *modules(), *distributions()})
    (out / "sbom.cdx.json").write_text(json.dumps(bill(parts, version()), indent=1) + "\n")
    (out / "licences.txt").write_text("".join(f"{each.purl}  {each.licence}\n" for each in parts))
    # Last, with the bill and the licences in it.
    write_checksums(out)
    advisories, unknown = audit(ROOT)
    found = [*faults(parts, version(), out), *workflow_faults(), *advisories, *(() if arguments.offline else unknown)]
    print(f"{len(parts)} libraries: {out / 'sbom.cdx.json'}, {out / 'licences.txt'}; checksums: {out / SUMS}")
    for each in unknown if arguments.offline else ():
        print(f"offline: {each}")
    for each in found:
        print(f"release: {each}", file=sys.stderr)
    return 1 if found else 0


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
