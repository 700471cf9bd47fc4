"""The floors of the house: who may import whom, checked on the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "glge"

# Floor of each room, lowest first; the longest matching name counts.
FLOORS = {
    "glge": 0,  # the door: resolves names lazily
    "glge.errors": 0,
    "glge.lines": 0,
    "glge.results": 0,
    "glge.metrics": 1,
    "glge.rules": 1,
    "glge.significance": 1,
    "glge.reports": 1,
    "glge.service": 1,
    "glge.scarecrow.schema": 1,
    "glge.scarecrow.agreement": 1,
    "glge.tasks": 2,
    "glge.submission": 2,
    "glge.references": 2,
    "glge.diversity": 2,
    "glge.scarecrow.store": 2,
    "glge.leaderboard.store": 2,
    "glge.scoring": 3,
    "glge.diversity_analysis": 3,
    "glge.board": 3,
    "glge.preparation": 3,
    "glge.scarecrow.analysis": 3,
    "glge.scarecrow.prediction": 3,
    "glge.scarecrow.qualification": 3,
    "glge.comparison": 4,
    "glge.task_files": 4,
    "glge.leaderboard.site": 5,
    "glge.leaderboard.worker": 5,
    "glge.scarecrow.site": 5,
    "glge.checkup": 5,
    "glge.console": 5,
    "glge.data_commands": 6,
    "glge.cli": 7,
    "glge.__main__": 8,
}
HEAVY = {
    "torch",
    "transformers",
    "fairseq",
    "matplotlib",
    "fastapi",
    "starlette",
    "flask",
    "django",
    "sqlalchemy",
    "psycopg",
    "pandas",
    "pyarrow",
    "nltk",
    "sacrebleu",
    "rouge_score",
    "pycocoevalcap",
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def module_name(file: Path) -> str:
    """The dotted name of a file of the package."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor(name: str) -> int | None:
    """The floor of the room a module is in; None for a module the plan does not know."""
    parts = name.split(".")
    while parts:
        found = FLOORS.get(".".join(parts))
        if found is not None and (len(parts) > 1 or name == "glge"):
            return found
        parts.pop()
    return None


def room(name: str) -> str:
    """The room a module is in: the longest name of the plan it starts with."""
    return max((known for known in FLOORS if name == known or name.startswith(known + ".")), key=len)


def imports(file: Path, *, top_only: bool = False) -> Iterator[tuple[str, int]]:
    """Every absolute module a file imports, with its line; type-checking blocks are left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            skipped |= set(ast.walk(node))
    nodes: Iterator[ast.AST] = iter(tree.body) if top_only else ast.walk(tree)
    for node in nodes:
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = (ROOT / Path(*inner.split("."))).with_suffix(".py").is_file() or (
                    ROOT / Path(*inner.split("."))
                ).is_dir()
                yield inner if is_module else str(node.module), node.lineno


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_every_module_has_a_floor(file: Path) -> None:
    """A new room needs a place in the plan."""
    assert floor(module_name(file)) is not None, f"{module_name(file)} is not in the plan (docs/architecture.md)"


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_imports_go_downwards(file: Path) -> None:
    """A room imports lower floors only; on its own floor only the ground rooms may, and itself."""
    here = module_name(file)
    if here == "glge":
        return
    for name, line in imports(file):
        if not name.startswith("glge") or name.startswith("glge_"):
            continue
        if name == "glge" or room(name) == room(here):
            continue
        target, own = floor(name), floor(here)
        assert target is not None
        assert own is not None
        ground = target == own == 0
        # Reading predictions and references for a task is one floor: both may know what a task is.
        meaning = name == "glge.tasks" and own == 2
        assert target < own or ground or meaning, f"{here}:{line} (floor {own}) imports {name} (floor {target})"


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_forbidden_neighbours(file: Path) -> None:
    """The web process cannot hold a reference; the two apps do not know each other; nothing looks outside."""
    here = module_name(file)
    for name, line in imports(file):
        where = f"{here}:{line} imports {name}"
        top = name.split(".")[0]
        assert top not in {"tests", "scripts", "glge_baselines", "baselines"}, where
        if here.startswith("glge.metrics"):
            assert not name.startswith(("glge.tasks", "glge.submission", "glge.references")), where
        if here.startswith("glge.significance"):
            assert not name.startswith("glge.metrics"), where
        if here.startswith("glge.reports"):
            assert not name.startswith("glge.") or name.startswith(("glge.results", "glge.errors", "glge.reports")), (
                where
            )
        if here.startswith("glge.scoring"):
            assert not name.startswith(("glge.service", "glge.leaderboard", "glge.reports")), where
        if here.startswith("glge.leaderboard.site"):
            assert not name.startswith(("glge.references", "glge.scoring", "glge.leaderboard.worker")), where
        if here.startswith("glge.leaderboard"):
            assert not name.startswith("glge.scarecrow"), where
        if here.startswith("glge.scarecrow"):
            assert not name.startswith("glge.leaderboard"), where


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_heavy_packages_load_only_when_used(file: Path) -> None:
    """No heavy package at the top of a module."""
    for name, line in imports(file, top_only=True):
        assert name.split(".")[0] not in HEAVY, f"{module_name(file)}:{line} imports {name} at the top"


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_only_the_command_line_prints_or_exits(file: Path) -> None:
    """The library raises; the commands print and exit."""
    if module_name(file) in {"glge.cli", "glge.console", "glge.data_commands", "glge.__main__", "glge.reports.schema"}:
        return
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"print", "exit", "quit", "sys.exit", "os._exit"}, (
                f"{module_name(file)}:{node.lineno} calls {called}"
            )


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_lines_are_never_split_by_the_locale_or_by_unicode(file: Path) -> None:
    """No splitlines(), no open() without an encoding in the library."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            where = f"{module_name(file)}:{node.lineno}"
            assert node.func.attr != "splitlines", f"{where}: lines end at \\n only"
            if node.func.attr in {"read_text", "write_text"}:
                told = node.args[:1] if node.func.attr == "read_text" else node.args[1:2]
                told += [keyword.value for keyword in node.keywords if keyword.arg == "encoding"]
                assert told, f"{where}: give the encoding"


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_names_say_something(file: Path) -> None:
    """No utils, helpers, common, misc or core, and no name of the standard library."""
    stem = file.stem
    assert stem not in {"utils", "util", "helpers", "helper", "common", "misc", "core"}
    # statistics is METEOR's own term for its 23 figures; inside a package it shadows nothing.
    assert stem not in (sys.stdlib_module_names - {"__main__", "statistics", "distutils"}) or stem.startswith("__")


def test_no_two_rooms_import_each_other() -> None:
    """The graph of modules has no cycle."""
    graph = {
        module_name(file): {
            name for name, _ in imports(file, top_only=True) if name.startswith("glge.") and name != module_name(file)
        }
        for file in MODULES
        if module_name(file) != "glge"
    }

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name in done:
            return
        for target in graph.get(name, ()):
            visit(target, (*trail, name))
        done.add(name)

    done: set[str] = set()
    for start in graph:
        visit(start, ())


def test_importing_glge_loads_nothing_heavy() -> None:
    """`import glge` leaves numpy, pydantic and the rest alone; `glge --help` needs none of them."""
    code = (
        "import sys, glge\n"
        "early = set(sys.modules)\n"
        "import glge.cli\n"
        "late = set(sys.modules)\n"
        "heavy = {'numpy', 'pydantic', 'yaml', 'rich.console', 'torch', 'pycocoevalcap', 'nltk'}\n"
        "assert not heavy & early, heavy & early\n"
        "assert not {'numpy', 'pydantic', 'yaml'} & late, heavy & late\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_plan_is_written_down() -> None:
    """docs/architecture.md names every room that stands."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for file in MODULES:
        name = room(module_name(file))
        if name not in {"glge", "glge.__main__"}:
            assert name.removeprefix("glge.") in text, f"docs/architecture.md does not name {name}"
