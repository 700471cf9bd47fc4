"""The package as it is installed: wheel, source archive and editable, each used from an empty folder.

Nothing here needs the network: what the package depends on is linked from this environment, which holds no glge then.
"""

from __future__ import annotations

import configparser
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import glge

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("glge", "tasks", "baselines", "submissions", "tests", "docs", "scripts")
FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE")
EXAMPLE = ROOT / "submissions" / "example"
SETUPTOOLS = 77  # what pyproject.toml asks for


def setuptools_here(folder: Path) -> Path | None:
    """Where a setuptools that is new enough lies; None when this environment has none, not even for virtualenv."""
    with suppress(metadata.PackageNotFoundError):
        if int(metadata.version("setuptools").split(".")[0]) >= SETUPTOOLS:
            return Path()
    spec = find_spec("virtualenv")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for wheel in sorted(Path(place).glob("seed/wheels/embed/setuptools-*.whl"), reverse=True):
            if int(wheel.name.split("-")[1].split(".")[0]) >= SETUPTOOLS:
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(folder)  # noqa: S202 - a wheel of virtualenv
                return folder
    return None


def contents(folder: Path) -> dict[str, str]:
    """Every file of a checkout and its checksum, but what building leaves where it may."""
    found = {}
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        built = inside.parts[0] in ("build", "dist") or any(part.endswith(".egg-info") for part in inside.parts)
        if path.is_file() and not built and "__pycache__" not in inside.parts:
            found[str(inside)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


class Workshop:
    """A copy of the checkout, a folder of the dependencies, and environments to install into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
        for name in PARTS:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.checkout / name, ignore=ignored)
        for name in FILES:
            shutil.copy(ROOT / name, self.checkout)
        self.before = contents(self.checkout)
        self.dependencies = folder / "dependencies"
        self.dependencies.mkdir()
        for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
            for child in Path(place).iterdir():
                if "glge" not in child.name and child.suffix != ".pth" and child.name != "__pycache__":
                    (self.dependencies / child.name).symlink_to(child)
        (folder / "empty").mkdir()

    def run(self, *command: object, paths: tuple[Path, ...] = (), cwd: Path | None = None) -> str:
        """Standard output of a command that succeeds, in the empty folder unless told otherwise."""
        known = {name: value for name, value in os.environ.items() if not name.startswith(("GLGE_D", "GLGE_T", "PIP_"))}
        known |= {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PIP_NO_INDEX": "1", "PIP_NO_INPUT": "1"}
        done = subprocess.run(
            list(map(str, command)), cwd=cwd or self.folder / "empty", env=known, capture_output=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout.decode(), done.stderr.decode())
        return done.stdout.decode()

    def environment(self, name: str) -> Path:
        """The folder of programs of a new environment that sees the dependencies and no glge."""
        place = self.folder / name
        venv.create(place, with_pip=True, symlinks=os.name == "posix")
        bin = place / ("Scripts" if os.name == "nt" else "bin")
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        packages = Path(self.run(bin / "python", "-c", code).strip())
        (packages / "dependencies.pth").write_text(f"{self.dependencies}\n")
        code = "import importlib.util as u; print([n for n in ('glge', 'glge_tasks', 'numpy') if u.find_spec(n)])"
        assert self.run(bin / "python", "-c", code) == "['numpy']\n"
        return bin


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """One for all tests here."""
    return Workshop(tmp_path_factory.mktemp("install"))


@pytest.fixture(scope="module")
def tools(workshop: Workshop) -> tuple[Path, ...]:
    """What must be on the path to build."""
    found = setuptools_here(workshop.folder / "setuptools")
    if found is None:
        pytest.skip(f"no setuptools of version {SETUPTOOLS} or later")
    return () if found == Path() else (found,)


@pytest.fixture(scope="module")
def built(workshop: Workshop, tools: tuple[Path, ...]) -> tuple[Path, Path]:
    """The source archive, and the wheel made from it, not from the checkout."""
    out = workshop.folder / "dist"
    pytest.importorskip("build")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, workshop.checkout]
    workshop.run(*command, paths=tools)
    (source,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    assert contents(workshop.checkout) == workshop.before
    return source, wheel


def test_what_the_wheel_holds(built: tuple[Path, Path]) -> None:
    """Library, types marker, schema, tasks, example, licence; no tests and no bytecode, at the top only packages."""
    with zipfile.ZipFile(built[1]) as archive:
        names = set(archive.namelist())
        text = {name: archive.read(name) for name in names}
    tops = {name.split("/")[0] for name in names}
    info = f"glge-{glge.__version__}.dist-info"
    assert tops == {"glge", "glge_tasks", "glge_baselines", "glge_submissions", info}
    for name in names:
        assert not {"tests", "__pycache__"} & set(name.split("/")), name
        assert not Path(name).name.startswith(("test_", "conftest")), name
    for path in (ROOT / "glge").rglob("*"):
        if path.is_file() and path.suffix in (".py", ".typed", ".json", ".css", ".js"):
            inside = f"glge/{path.relative_to(ROOT / 'glge').as_posix()}"
            assert text.get(inside) == path.read_bytes(), inside
    for path in (ROOT / "tasks").iterdir():
        if path.suffix in (".py", ".yaml", ".json"):
            assert text.get(f"glge_tasks/{path.name}") == path.read_bytes(), path.name
    for path in EXAMPLE.rglob("*"):
        if path.is_file():
            inside = f"glge_submissions/example/{path.relative_to(EXAMPLE).as_posix()}"
            assert text.get(inside) == path.read_bytes(), inside
    points = configparser.ConfigParser()
    points.read_string(text[f"{info}/entry_points.txt"].decode())
    assert {group: dict(points[group]) for group in points.sections()} == {
        "console_scripts": {"glge": "glge.cli:main"},
        "glge.metrics": {"bertscore": "glge.metrics.bertscore:BertScore"},
    }
    assert any(name.startswith(f"{info}/") and name.endswith("LICENSE") for name in names)
    head = text[f"{info}/METADATA"].decode()
    assert f"\nVersion: {glge.__version__}\n" in head
    for needed in ("numpy>=2.0", "pyyaml>=6", "pydantic>=2.5", "typer>=0.12", "rich>=13"):
        assert f"\nRequires-Dist: {needed}\n" in head


def test_what_the_source_archive_holds(built: tuple[Path, Path]) -> None:
    """Everything the wheel is made of, below one folder."""
    with tarfile.open(built[0]) as archive:
        names = {member.name for member in archive.getmembers() if member.isfile()}
    top = f"glge-{glge.__version__}"
    assert {name.split("/")[0] for name in names} == {top}
    for name in (*FILES, "glge/py.typed", "glge/report.schema.json", "tasks/benchmark.yaml", "tasks/published.json"):
        assert f"{top}/{name}" in names
    assert f"{top}/submissions/example/expected.json" in names
    assert not [name for name in names if name.endswith(".pyc")]


def check_use(workshop: Workshop, bin: Path, inside: Path) -> None:
    """From an empty folder: the version, the tasks, the doctor, and the figures of the installed example."""
    program = bin / "glge"
    code = "import glge, glge_tasks, glge_submissions as s; print(glge.__file__); print(list(s.__path__)[0])"
    module, submissions = map(Path, workshop.run(bin / "python", "-c", code).split("\n")[:2])
    assert module.resolve().is_relative_to(inside.resolve())
    assert submissions.resolve().is_relative_to(inside.resolve())
    assert workshop.run(program, "--version") == f"glge {glge.__version__}\n"
    assert workshop.run(bin / "python", "-m", "glge", "--version") == f"glge {glge.__version__}\n"
    listed = workshop.run(program, "tasks")
    assert "xsum" in listed
    example = submissions / "example"
    expected = json.loads((example / "expected.json").read_bytes())["tasks"]
    arguments = [program, "score", "-l", "hard", example / "predictions", "-d", example / "data", "-f", "json"]
    for task in json.loads(workshop.run(*arguments, "-t", "coqa", "-t", "cnndm", "-t", "personachat"))["tasks"]:
        assert task["value"] == pytest.approx(expected[task["task"]]["mean"], abs=1e-9)
    assert "figures of the example equal those of the original programs" in workshop.run(program, "doctor")
    table = workshop.run(program, "score", "--from-table", "published", "-l", "hard")
    assert "ProphetNet-large" in table
    assert list((workshop.folder / "empty").iterdir()) == []


def test_a_wheel_is_installed_and_used(workshop: Workshop, built: tuple[Path, Path]) -> None:
    """Installed from the wheel; afterwards everything goes again."""
    bin = workshop.environment("from-wheel")
    workshop.run(bin / "python", "-m", "pip", "install", "--quiet", "--no-deps", built[1])
    check_use(workshop, bin, bin.parent)
    workshop.run(bin / "python", "-m", "pip", "uninstall", "--quiet", "--yes", "glge")
    code = (
        "import importlib.util as u; print([n for n in ('glge', 'glge_tasks', 'glge_submissions') if u.find_spec(n)])"
    )
    assert workshop.run(bin / "python", "-c", code) == "[]\n"
    assert not (bin / "glge").exists()
    assert contents(workshop.checkout) == workshop.before


def test_an_editable_install_is_used(workshop: Workshop, tools: tuple[Path, ...]) -> None:
    """The checkout itself is used, and neither installing nor scoring writes into it."""
    bin = workshop.environment("editable")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--editable", workshop.checkout]
    workshop.run(bin / "python", "-m", "pip", "install", *options, paths=tools)
    check_use(workshop, bin, workshop.checkout)
    assert contents(workshop.checkout) == workshop.before
