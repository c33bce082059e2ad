"""Fuzz the parts of the engine: `python -m fuzz.engine [TARGET …] [--seconds N]`

Builds the targets with libFuzzer's coverage counters, and runs one after the other. New inputs are stored in
fuzz/corpus/, where the next run starts. A finding is written to fuzz/artifacts/, and the exit status is 1.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
TARGETS = tuple(sorted(path.stem for path in (FOLDER / "fuzz_targets").glob("*.rs")))
MACHINE = f"{platform.machine()}-unknown-linux-gnu"
"""Named in the build, so that build scripts have no coverage counters."""
COVERAGE = (
    "-Cpasses=sancov-module", "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters", "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares", "--cfg=fuzzing", "-Cdebug-assertions", "-Ccodegen-units=1",
)  # fmt: skip
"""The flags of `cargo fuzz` without the address sanitizer, which needs a nightly toolchain."""
LONGEST_S = 10
"""Maximum seconds for one input."""
MOST_MIB = 1024


def build() -> bool:
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--target", MACHINE]
    command += ["--manifest-path", str(FOLDER / "Cargo.toml")]
    return subprocess.run(command, env=os.environ | {"RUSTFLAGS": " ".join(COVERAGE)}).returncode == 0


def run(target: str, seconds: int) -> bool:
    """Returns whether there was no finding."""
    corpus, artifacts = FOLDER / "corpus" / target, FOLDER / "artifacts" / target
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    command = [str(FOLDER / "target" / MACHINE / "release" / target), str(corpus), str(FOLDER / "seeds" / target)]
    command += [f"-artifact_prefix={artifacts}/", f"-max_total_time={seconds}", f"-timeout={LONGEST_S}"]
    command += [f"-rss_limit_mb={MOST_MIB}", "-print_final_stats=1"]
    dictionary = FOLDER / f"{target}.dict"
    command += [f"-dict={dictionary}"] if dictionary.exists() else []
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    lines = done.stderr.splitlines()
    if done.returncode:
        print(f"{target}: a finding", *lines[-40:], sep="\n")
        return False
    units = next((line.split()[-1] for line in lines if "number_of_executed_units" in line), "?")
    print(f"{target}: {units} inputs, nothing found", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.engine", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"no target is called {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if not build():
        return 2
    found = [target for target in arguments.targets or TARGETS if not run(target, arguments.seconds)]
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
