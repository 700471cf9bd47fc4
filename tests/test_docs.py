"""The documentation is true: everything is named, every link leads somewhere, every example gives what it shows.

A fenced block may be introduced by HTML comments on the lines before it:

- `<!-- not run -->`: the block is for reading only (installation, other programs, large data)
- `<!-- needs pycocoevalcap -->`: run where these packages are installed
- `<!-- exit 2 -->`: the block's last command ends with this code instead of 0

In an output a line of three dots stands for any number of lines.
"""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import typer
import yaml

import glge
import glge.comparison
import glge.scoring
from glge.cli import app
from glge.metrics import METRICS
from glge.rules import RULES
from glge.tasks import Benchmark, Grouping, Level, MetricEntry, Side, Task, load_tasks
from tests.test_architecture import FLOORS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("submissions/*.md"), *ROOT.glob("baselines/*.md")]
    if page.is_file()
)
LANGUAGES = {"python", "console", "text", "yaml", "json", "csv", "latex", "markdown"}


def text_of(page: Path) -> str:
    """A page as text."""
    return page.read_bytes().decode("utf-8")


def name_of(page: Path) -> str:
    """A page's path inside the project."""
    return page.relative_to(ROOT).as_posix()


# --- fenced blocks --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, the line it starts at, and what its comments say."""

    page: str
    line: int
    language: str
    text: str
    comments: tuple[str, ...]

    @property
    def name(self) -> str:
        """For example docs/cli.md:12."""
        return f"{self.page}:{self.line}"

    @property
    def run(self) -> bool:
        """Whether the block is an example that must work."""
        return "not run" not in self.comments

    @property
    def exit_code(self) -> int:
        """The exit code its last command must end with."""
        return next((int(comment[5:]) for comment in self.comments if comment.startswith("exit ")), 0)

    def missing(self) -> list[str]:
        """The packages it needs that are not installed."""
        needed = [name for comment in self.comments if comment.startswith("needs ") for name in comment.split()[1:]]
        return [name for name in needed if importlib.util.find_spec(name) is None]


def blocks_of(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page."""
    lines = text_of(page).split("\n")
    number = 0
    while number < len(lines):
        opening = re.fullmatch(r"```(\w*)\s*", lines[number])
        if opening is None:
            number += 1
            continue
        end = next(place for place in range(number + 1, len(lines)) if lines[place].rstrip() == "```")
        comments = []
        before = number - 1
        while before >= 0 and (comment := re.fullmatch(r"<!-- (.+) -->", lines[before])):
            comments.append(comment[1])
            before -= 1
        body = "".join(f"{line}\n" for line in lines[number + 1 : end])
        yield Block(name_of(page), number + 1, opening[1], body, tuple(comments))
        number = end + 1


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
PYTHON = [block for block in BLOCKS if block.language == "python" and block.run]
CONSOLE = [block for block in BLOCKS if block.language == "console" and block.run]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_run_or_marked(page: Path) -> None:
    """No example escapes: a block is of a known language, and Python and commands are run or marked `not run`."""
    for block in blocks_of(page):
        assert block.language in LANGUAGES, f"{block.name}: no known language ({block.language!r})"
        known = all(re.fullmatch(r"not run|exit \d+|needs [\w ]+", comment) for comment in block.comments)
        assert known, f"{block.name}: unknown comment in {block.comments}"
        if not block.run:
            continue
        if block.language == "python":
            assert ">>> " in block.text, f"{block.name}: Python without >>> is not run"
        if block.language == "console" and block.page != "README.md":
            for line in block.text.split("\n"):
                assert not re.match(r"\$ (?!glge )", line), f"{block.name}: not run: {line}"


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.name)
def test_python_examples_give_what_they_show(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block runs as a doctest in the project's folder, by itself."""
    if block.missing():
        pytest.skip("not installed: " + ", ".join(block.missing()))
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("GLGE_DATA", raising=False)
    example = doctest.DocTestParser().get_doctest(block.text, {"__name__": "__main__"}, block.name, block.page, 0)
    told = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1)
    runner.run(example, out=told.write)
    assert not runner.failures, told.getvalue()


@dataclass(frozen=True)
class Command:
    """A command of a console block and the output shown below it; None where none is shown."""

    words: list[str]
    shown: str | None


def commands_of(block: Block) -> list[Command]:
    """The `$ glge …` commands of a console block; a backslash at the end of a line continues it."""
    found: list[Command] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", " ").partition("\n")
        if command.startswith("glge "):
            found.append(Command(shlex.split(command, comments=True)[1:], output if output.strip() else None))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the project's and may be written to."""
    place = tmp_path_factory.mktemp("project")
    for name in ("submissions", "tasks"):
        (place / name).symlink_to(ROOT / name, target_is_directory=True)
    return place


@pytest.mark.parametrize("block", CONSOLE, ids=lambda block: block.name)
def test_commands_give_what_they_show(block: Block, folder: Path) -> None:
    """Every `$ glge …` line ends with exit code 0 (or the one its comment names) and prints what follows it."""
    if block.missing():
        pytest.skip("not installed: " + ", ".join(block.missing()))
    unset = {"GLGE_DATA", "GLGE_TASKS", "GLGE_ROUGE_EXCEPTIONS", "GLGE_DEBUG", "COLUMNS", "FORCE_COLOR"}
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    commands = commands_of(block)
    for number, command in enumerate(commands):
        done = subprocess.run(
            [sys.executable, "-m", "glge", *command.words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=300,
        )
        output = done.stdout.decode("utf-8")
        expected = block.exit_code if number == len(commands) - 1 else 0
        shown = f"{block.name}: glge {shlex.join(command.words)}"
        assert done.returncode == expected, f"{shown} ended with {done.returncode}\n{output}"
        if command.shown is not None:
            want = command.shown.rstrip("\n") + "\n"
            same = re.fullmatch(
                "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in want.split("\n")[:-1]),
                output.rstrip("\n") + "\n",
            )
            assert same, f"{shown} gives\n{output}\nand the page shows\n{want}"


# --- links ----------------------------------------------------------------------------------------


def prose_of(page: Path) -> str:
    """A page without its code."""
    without_blocks = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "``", without_blocks)


def anchors_of(page: Path) -> set[str]:
    """The anchors that the headings of a page make."""
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+?)\s*$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_of(page: Path) -> Iterator[tuple[Path, str]]:
    """Every relative link: the file it leads to and the anchor in it."""
    for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            yield ((page.parent / path).resolve() if path else page), anchor


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_lead_somewhere(page: Path) -> None:
    """The file of every relative link exists, and so does the heading it names."""
    for target, anchor in links_of(page):
        assert target.exists(), f"{name_of(page)} links to {target}, which does not exist"
        if anchor:
            assert anchor in anchors_of(target), f"{name_of(page)} links to #{anchor} of {target.name}"


def test_every_page_is_in_the_index() -> None:
    """docs/index.md links to every page of docs/."""
    linked = {target for target, _ in links_of(DOCS / "index.md")}
    for page in DOCS.rglob("*.md"):
        assert page.name == "index.md" or page in linked, f"docs/index.md does not link to {name_of(page)}"


# --- nothing is left out --------------------------------------------------------------------------


def all_commands(command: Any = None, name: str = "glge") -> Iterator[tuple[str, Any]]:
    """Every command of the command line with its full name."""
    command = command or typer.main.get_command(app)
    yield name, command
    for inner, found in getattr(command, "commands", {}).items():
        yield from all_commands(found, f"{name} {inner}")


def section(page: str, heading: str) -> str:
    """The part of a page under a heading, up to the next heading of the same or a higher rank."""
    match = re.search(rf"^(#+) {re.escape(heading)}\s*$", page, flags=re.MULTILINE)
    assert match is not None, f"no heading {heading!r}"
    rest = page[match.end() :]
    end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, flags=re.MULTILINE)
    return rest[: end.start()] if end else rest


@pytest.mark.parametrize(("name", "command"), list(all_commands()), ids=[name for name, _ in all_commands()])
def test_every_command_and_flag_is_documented(name: str, command: Any) -> None:
    """docs/cli.md has a section for each command, and in it every argument and flag."""
    part = section(text_of(DOCS / "cli.md"), f"`{name}`")
    for parameter in command.params:
        for flag in [*parameter.opts, *parameter.secondary_opts]:
            if parameter.param_type_name == "option":
                assert re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", part), f"{name}: {flag} is not documented"
            else:
                assert flag.upper() in part, f"{name}: the argument {flag.upper()} is not documented"


def test_no_flag_is_invented() -> None:
    """docs/cli.md names no flag that no command has."""
    every = [parameter for _, command in all_commands() for parameter in command.params]
    known = {flag for parameter in every for flag in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help", "-h"}
    for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text_of(DOCS / "cli.md")):
        assert flag in known, f"docs/cli.md: there is no flag {flag}"


def environment_variables() -> set[str]:
    """Every environment variable that glge/ reads, and every name that begins as ours do."""
    found: set[str] = set()
    for file in (ROOT / "glge").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if re.fullmatch(r"GLGE_[A-Z_]+", node.value) else set()
            is_call = isinstance(node, ast.Call) and ast.unparse(node.func) in {"os.environ.get", "os.getenv"}
            name = node.args[0] if is_call else None
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
                name = node.slice
            if isinstance(name, ast.Constant):
                found.add(str(name.value))
    return found


def test_every_environment_variable_is_documented() -> None:
    """docs/cli.md says what each environment variable does."""
    part = section(text_of(DOCS / "cli.md"), "Environment variables")
    variables = environment_variables()
    assert {"GLGE_DATA", "GLGE_TASKS", "NO_COLOR"} <= variables
    for name in sorted(variables):
        assert f"`{name}`" in part, f"docs/cli.md does not document {name}"


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_documented(rule: str) -> None:
    """docs/tasks.md lists the rule with the tasks that use it, and runs an example of it."""
    rows = re.findall(rf"^\| `{rule}` \|.*$", text_of(DOCS / "tasks.md"), flags=re.MULTILINE)
    assert len(rows) == 1, f"docs/tasks.md has {len(rows)} rows for {rule}"
    users = [
        task.name
        for task in load_tasks().tasks.values()
        if rule in [*task.prediction.rules, *task.reference.rules, *(task.grouping.rules if task.grouping else [])]
    ]
    assert rows[0].split(" | ")[-1].removesuffix(" |") == (", ".join(users) or "none")
    examples = "".join(block.text for block in PYTHON if block.page == "docs/tasks.md")
    assert f'RULES["{rule}"](' in examples, f"docs/tasks.md has no example of {rule}"


@pytest.mark.parametrize("task", load_tasks().tasks)
def test_every_task_is_documented(task: str) -> None:
    """Each task is in the table of docs/tasks.md and in the table of what equals what."""
    for page in ("tasks.md", "quirks.md"):
        assert re.search(rf"^\| `{task}` \|", text_of(DOCS / page), flags=re.MULTILINE), f"{page}: no row for {task}"


@pytest.mark.parametrize(
    "model", [Task, Side, Grouping, MetricEntry, Benchmark, Level], ids=lambda model: model.__name__
)
def test_every_key_of_the_registry_is_documented(model: Any) -> None:
    """docs/tasks.md explains each key of task files and of benchmark.yaml."""
    page = text_of(DOCS / "tasks.md")
    for key in model.model_fields:
        assert re.search(rf"`(?:\w+\.)?{key}`", page), f"docs/tasks.md does not explain {key}"


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_and_variant_is_documented(metric: str) -> None:
    """A page of docs/metrics/ names the metric, and each of its variants' keys and values."""
    pages = [text_of(page) for page in (DOCS / "metrics").glob("*.md")]
    found = [page for page in pages if f"`{metric}`" in page]
    assert found, f"no page of docs/metrics/ names {metric}"
    make = METRICS[metric]
    kind: Any = type(make())
    types = get_type_hints(kind)
    for field in dataclasses.fields(kind)[len(getattr(make, "args", ())) :]:
        rows = [row for page in found for row in re.findall(rf"^\| `{field.name}` \|.*$", page, flags=re.MULTILINE)]
        assert len(rows) == 1, f"{metric}: the variant {field.name} has {len(rows)} rows"
        values = ("true", "false") if types[field.name] is bool else get_args(types[field.name])
        for value in values:
            assert f"`{value}`" in rows[0], f"{metric}: {field.name}: {value} is not documented"


@pytest.mark.parametrize("name", glge.__all__)
def test_every_name_of_the_door_is_documented(name: str) -> None:
    """docs/python.md names everything that `glge` offers."""
    assert re.search(rf"\b{name}\b", text_of(DOCS / "python.md")), f"docs/python.md does not name glge.{name}"


def problem_codes() -> set[str]:
    """Every code that something in glge/ gives to a problem."""
    codes: set[str] = set()
    for file in (ROOT / "glge").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Problem" and node.args:
                first = node.args[0]
                codes |= {first.value} if isinstance(first, ast.Constant) and isinstance(first.value, str) else set()
    return codes


def test_every_code_of_a_problem_is_documented() -> None:
    """docs/files.md explains every code, those that scoring gives too."""
    codes = problem_codes()
    assert {"line-count", "zip-damaged"} <= codes
    for code in sorted(codes | set(glge.scoring.CODES) | set(glge.comparison.CODES)):
        assert f"`{code}`" in text_of(DOCS / "files.md"), f"docs/files.md does not explain {code}"


@pytest.mark.parametrize("code", [0, 1, 2, 130])
def test_every_exit_code_is_documented(code: int) -> None:
    """docs/cli.md says what each exit code means."""
    assert re.search(rf"^\| {code} \|", section(text_of(DOCS / "cli.md"), "Exit codes"), flags=re.MULTILINE)


def test_the_architecture_names_every_module_and_floor() -> None:
    """docs/architecture.md has a row for each file of glge/, names no other, and has the floors of the test."""
    page = text_of(DOCS / "architecture.md")
    standing = {name_of(file) for file in (ROOT / "glge").rglob("*.py")}
    named = set(re.findall(r"`(glge/[\w/]+\.py)`", page))
    assert named == standing
    rows = re.findall(r"^\| (\d) \| (.+) \|$", section(page, "Floors"), flags=re.MULTILINE)
    told = {room: int(floor) for floor, rooms in rows for room in re.findall(r"`(\w+)`", rooms)}
    plan = {room.removeprefix("glge."): floor for room, floor in FLOORS.items()}
    assert told == {room: plan[room] for room in told}
    there = {name for name in plan if (ROOT / "glge" / name).is_dir() or (ROOT / "glge" / f"{name}.py").is_file()}
    assert set(told) == there | {"glge"}


def test_the_changelog_has_this_version_and_its_scores() -> None:
    """CHANGELOG.md has a part for this version with a heading for figures that moved."""
    part = re.search(
        rf"^## {re.escape(glge.__version__)}\b.*?(?=^## |\Z)", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE | re.DOTALL
    )
    assert part is not None
    assert "### Scores" in part[0]


def test_the_hooks_call_installed_tools() -> None:
    """.pre-commit-config.yaml needs no network: each hook is local and runs a tool of the dev extra."""
    content = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook for repo in content["repos"] for hook in repo["hooks"]]
    assert {repo["repo"] for repo in content["repos"]} == {"local"}
    assert [hook["id"] for hook in hooks] == ["ruff-check", "ruff-format", "mypy"]
    for hook in hooks:
        assert hook["language"] == "system"
        assert hook["entry"].split()[0] in {"ruff", "mypy"}


def test_the_readme_says_something() -> None:
    """README.md is there."""
    assert len(text_of(ROOT / "README.md")) > 1000
