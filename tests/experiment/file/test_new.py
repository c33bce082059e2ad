from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.file.file import read_experiment
from plimsoll.experiment.file.new import write_new

if TYPE_CHECKING:
    from pathlib import Path

FASTAPI = "import fastapi\n\napi: FastAPI = fastapi.FastAPI(title='x')\n"


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def _commit(folder: Path, text: str) -> None:
    (folder / "VERSION").write_text(text)
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "-m", text)


@pytest.fixture
def service(tmp_path: Path) -> Path:
    """A repository with one commit on main."""
    folder = tmp_path / "my service"
    folder.mkdir()
    _git(folder, "init", "--quiet", "--initial-branch", "main")
    _commit(folder, "1")
    return folder


def test_a_branch_is_compared_with_main(service: Path) -> None:
    _git(service, "checkout", "--quiet", "-b", "faster")
    path, _ = write_new(str(service))
    spec = read_experiment(str(path))
    assert (spec.name, spec.question) == ("my-service", "Is faster faster than main?")
    assert [(variant.name, variant.target.git) for variant in spec.variants] == [("main", "main"), ("faster", "faster")]
    assert spec.scenarios[0].url == "/"


def test_on_main_the_last_commit_is_compared_with_the_one_before(service: Path) -> None:
    with pytest.raises(UsageError, match="its repository has only one"):
        write_new(str(service))
    _commit(service, "2")
    path, _ = write_new(str(service / "last.toml"))
    assert [variant.target.git for variant in read_experiment(str(path)).variants] == ["HEAD~1", "HEAD"]


@pytest.mark.parametrize(
    ("file", "text", "start"),
    [
        ("Procfile", "worker: x\nweb: serve --port $PORT\n", ("sh", "-c", "exec serve --port $PORT")),
        ("manage.py", "", ("python3", "manage.py", "runserver", "--noreload", "127.0.0.1:{port}")),
        ("main.py", FASTAPI, ("python3", "-m", "uvicorn", "main:api", "--port", "{port}")),
        (
            "app.py",
            "app = Flask(__name__)\n",
            ("python3", "-m", "flask", "--app", "app:app", "run", "--port", "{port}"),
        ),
        ("package.json", '{"scripts": {"start": "node ."}}', ("npm", "start")),
        ("package.json", '{"scripts": []}', ("./start-my-service", "{port}")),
        ("go.mod", "module x\n", ("go", "run", ".")),
        ("Cargo.toml", "[package]\n", ("cargo", "run", "--release")),
    ],
    ids=["procfile", "django", "fastapi", "flask", "node", "node-without-start", "go", "rust"],
)
def test_how_a_service_starts_is_taken_from_its_folder(
    service: Path, file: str, text: str, start: tuple[str, ...]
) -> None:
    (service / file).write_text(text)
    _commit(service, "2")
    path, remains = write_new(str(service))
    target = read_experiment(str(path)).variants[0].target
    assert target.start == start
    assert target.env == {"PORT": "{port}"}
    assert (file in remains) == (start[0] != "./start-my-service")


def test_the_environment_of_a_service_is_used_from_where_it_is(service: Path) -> None:
    (service / ".venv" / "bin").mkdir(parents=True)
    (service / ".venv" / "bin" / "python").write_text("")
    (service / "manage.py").write_text("")
    _commit(service, "2")
    path, _ = write_new(str(service))
    assert read_experiment(str(path)).variants[0].target.start[0] == "{folder}/.venv/bin/python"


@pytest.mark.parametrize(("file", "field"), [("locustfile.py", "locustfile"), ("plan.toml", "plan")])
def test_a_scenario_that_is_there_is_run(service: Path, file: str, field: str) -> None:
    (service / file).write_text("")
    _commit(service, "2")
    path, _ = write_new(str(service))
    assert f'{field} = "{file}"' in path.read_text()


def test_what_exists_is_kept(service: Path) -> None:
    _commit(service, "2")
    (service / "experiment.toml").write_text("mine")
    with pytest.raises(UsageError, match=r"experiment\.toml exists; give another name"):
        write_new(str(service))
    assert (service / "experiment.toml").read_text() == "mine"


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be in a repository of git"):
        write_new(str(tmp_path))
    with pytest.raises(UsageError, match="is not a folder"):
        write_new(str(tmp_path / "nowhere" / "x.toml"))
    assert not list(tmp_path.iterdir())
