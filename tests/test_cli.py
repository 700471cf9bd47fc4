"""The command line as a user meets it: commands and flags, exit codes, streams, signals, locales, hostile files.

Every run, whatever it does, is also searched for a traceback and for a word that stands in references only.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

import glge
from glge.cli import app, main
from glge.errors import GlgeError
from glge.metrics import METRICS, meteor
from glge.reports.schema import PATH as SCHEMA
from glge.results import Report
from glge.scoring import score_submission
from glge.tasks import load_tasks, tasks_folder

EXAMPLE = Path(__file__).resolve().parents[1] / "submissions" / "example"
TASKS = list(load_tasks().tasks)
SECRET = "zanzibarian"  # in every reference of the small data, in no prediction

METEOR_HERE = meteor.state().problem is None
needs_meteor = pytest.mark.skipif(not METEOR_HERE, reason="METEOR's tables are not installed")
posix_only = pytest.mark.skipif(os.name != "posix", reason="a POSIX system")


# --- how the command is run -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """How a run of the command ended."""

    code: int | None
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The last line of standard error, without the program's name; it must be the only one that has it."""
        lines = self.err.split("\n")
        assert lines[-1] == ""
        assert [number for number, line in enumerate(lines) if line.startswith("glge: ")] == [len(lines) - 2], self.err
        return lines[-2].removeprefix("glge: ")


def checked(run: Run) -> Run:
    """The same run: no traceback and no reference text in it."""
    for text in (run.out, run.err):
        assert SECRET not in text.casefold()
        assert "Traceback" not in text
    assert "internal error" not in run.err
    return run


def call(*arguments: object, check: bool = True) -> Run:
    """Run the command in this process."""
    before = sys.stdout, sys.stderr
    out, err = sys.stdout, sys.stderr = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    try:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
    finally:
        sys.stdout, sys.stderr = before
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    found = Run(end.value.code, *texts)  # type: ignore[arg-type]
    return checked(found) if check else found


def command(*arguments: object) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "glge", *map(str, arguments)]


def environment(**variables: str) -> dict[str, str]:
    """This process's environment with some variables; GLGE_DATA and GLGE_TASKS are not among them."""
    kept = {name: value for name, value in os.environ.items() if name not in ("GLGE_DATA", "GLGE_TASKS", "COLUMNS")}
    return {**kept, "PYTHONPATH": str(Path(glge.__file__).parents[1]), **variables}


def run(*arguments: object, **variables: str) -> Run:
    """Run the command in a process of its own."""
    done = subprocess.run(command(*arguments), capture_output=True, env=environment(**variables), check=False)
    return checked(Run(done.returncode, done.stdout.decode(), done.stderr.decode()))


def run_shell(line: str, *arguments: object, **variables: str) -> Run:
    """Run the command inside a line of bash, where it is called GLGE."""
    script = 'GLGE() { "$PY" -m glge "$@"; }; ' + line
    known = environment(PY=sys.executable, **variables)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script, "bash", *map(str, arguments)],
        capture_output=True,
        env=known,
        check=False,
    )
    return checked(Run(done.returncode, done.stdout.decode(), done.stderr.decode()))


# --- what is scored ---------------------------------------------------------------------------------------


def put(folder: Path, texts: dict[str, str | bytes]) -> Path:
    """Write files below a folder; gives the folder."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def put_data(
    folder: Path, task: str, targets: str, sources: str = "", split: str = "test", level: str = "easy"
) -> Path:
    """Write references of a task in the official layout; gives the data root."""
    count = targets.count("\n") + (not targets.endswith("\n"))
    sources = sources or "".join(f"source {number}\n" for number in range(count))
    place = f"{level}/{task}_data/org_data/{split}"
    return put(folder, {f"{place}.tgt": targets, f"{place}.src": sources})


PREDICTIONS = "the cat sat on the mat .\na red door\nwhere did he go to ?\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """References of all tasks, three lines each, test and dev, every line with the secret word."""
    targets = f"the cat sat {SECRET} on a mat .\na {SECRET} door\nwhere is {SECRET} he ?\n"
    for task in TASKS:
        for split in ("test", "dev"):
            put_data(tmp_path / "data", task, targets, split=split)
    return tmp_path / "data"


@pytest.fixture
def preds(tmp_path: Path) -> Path:
    """Predictions of all tasks at level hard."""
    joined = PREDICTIONS.replace(" .", " . [X_SEP] and there it stayed .")
    texts = {task: joined if task == "cnndm" else PREDICTIONS for task in TASKS}
    return put(tmp_path / "preds", {f"{task}.hard.test": text for task, text in texts.items()})


def score_example(*more: object) -> list[object]:
    """Arguments that score two light tasks of the example."""
    example = ["score", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data"]
    return [*example, "-t", "coqa", "-t", "personachat", *more]


FIGURES = r"F1 +66\.55"


def leaves(root: Path) -> set[str]:
    """Every file below a folder."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


# --- help and usage ---------------------------------------------------------------------------------------


def every_command() -> Iterator[tuple[list[str], Any]]:
    """The words that call each command, and the command."""
    waiting: list[tuple[list[str], Any]] = [([], typer.main.get_command(app))]
    while waiting:
        words, found = waiting.pop()
        yield words, found
        waiting += [([*words, name], inner) for name, inner in getattr(found, "commands", {}).items()]


COMMANDS = sorted(every_command(), key=lambda pair: pair[0])


def test_the_commands() -> None:
    """These and no others: a new command needs tests here."""
    assert [" ".join(words) for words, _ in COMMANDS] == [
        "",
        "compare",
        "data",
        "data build",
        "data check",
        "data decode",
        "data encode",
        "data levels",
        "data stats",
        "diversity",
        "doctor",
        "meteor",
        "meteor build",
        "metrics",
        "pack",
        "score",
        "tasks",
        "validate",
    ]


@pytest.mark.parametrize(
    ("words", "found"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_help(words: list[str], found: Any) -> None:
    """Both spellings of help show every flag with a text, in at most 80 columns, on standard output."""
    for flag in ("-h", "--help"):
        shown = call(*words, flag)
        assert (shown.code, shown.err) == (0, "")
        assert shown.out.startswith(f"Usage: {' '.join(['glge', *words])} ")
        assert max(map(len, shown.out.split("\n"))) <= 80
    for parameter in found.params:
        assert parameter.help, parameter.name
        if parameter.param_type_name == "option":
            assert all(spelling in shown.out for spelling in parameter.opts)


def test_every_flag_is_tried_here() -> None:
    """Each flag of each command stands somewhere in this file, in that of the analyses, or in the doctor's."""
    names = ("test_cli.py", "test_cli_analyses.py", "test_cli_data.py", "test_checkup.py")
    text = "".join(Path(__file__).with_name(name).read_text("utf-8") for name in names)
    for _, found in COMMANDS:
        for parameter in found.params:
            for spelling in parameter.opts if parameter.param_type_name == "option" else ():
                assert f'"{spelling}"' in text, spelling


@pytest.mark.parametrize("words", [[], ["meteor"], ["data"]], ids=["glge", "meteor", "data"])
def test_a_group_alone_shows_its_help(words: list[str]) -> None:
    """Help on standard error, as it stands, and the code of wrong usage."""
    shown = call(*words)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith(f"Usage: {' '.join(['glge', *words])} [OPTIONS] COMMAND")
    assert shown.err.endswith("\n")
    assert "; see" not in shown.err


def test_version() -> None:
    """The version, alone."""
    assert run("--version") == Run(0, f"glge {glge.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scor"], r"No such command 'scor'\. Did you mean 'score'.*; see `glge --help`"),
        (["score", "--dta", "x"], r"No such option: --dta .*--data.*; see `glge score --help`"),
        (["score", "-l", "hard"], r"nothing to score was given; glge score --level hard FOLDER --data DATA"),
        (["score", "x"], r"the level is missing; add --level easy, medium, medium\+ or hard"),
        (["validate", "x"], r"Missing option '--level' / '-l'; see `glge validate --help`"),
        (["validate", "-l", "hard"], r"Missing argument 'predictions(\.\.\.)?'; see `glge validate --help`"),
        (
            ["score", "-f", "jsn"],
            r".*'jsn' is not one of 'terminal', .*; did you mean 'json'\?; see `glge score --help`",
        ),
        (["validate", "x", "-l", "hard", "-f", "csv"], r".*'csv' is not one of 'terminal', 'json'; see `.*"),
        (["tasks", "--format", "JSONs"], r".*; did you mean 'json'\?; see `glge tasks --help`"),
        (["score", "--split", "tset"], r".*'--split'.*; did you mean 'test'\?; see `glge score --help`"),
        (["score", "--jobs", "-1"], r"Invalid value for '--jobs' / '-j': .*0.*"),
        (["score", "--jobs", "two"], r"Invalid value for '--jobs' / '-j': .*"),
        (["score", "--digits", "11"], r"Invalid value for '--digits': .*10.*"),
        (["tasks", "xsmu"], r"there is no task 'xsmu'; did you mean 'xsum'\?"),
        (["tasks", "nothing-like-it"], r"there is no task 'nothing-like-it'; known: cnndm, .*"),
        (["doctor", "more"], r"Got unexpected extra argument.*; see `glge doctor --help`"),
        (["meteor", "buidl"], r"No such command 'buidl'\. Did you mean 'build'\?; see `glge meteor --help`"),
        (["score", "x", "--from-table", "published"], r"--from-table takes no predictions; leave them out, or .*"),
        (
            ["score", "--from-table", "published", "--strict"],
            r"--strict has no meaning with --from-table; leave it out",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    """One line that says what is wrong and where to look, and code 2."""
    found = call(*arguments)
    assert (found.code, found.out) == (2, "")
    assert re.fullmatch(message, found.line), found.line
    assert found.err == f"glge: {found.line}\n"


def test_help_loads_nothing_heavy() -> None:
    """Neither `glge --help` nor `glge --version` loads what only scoring needs."""
    script = (
        "import sys; from glge.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'rich', 'pydantic', 'yaml', 'multiprocessing', 'glge.scoring', 'glge.metrics'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    for flag in ("--help", "-h"):
        done = subprocess.run(
            [sys.executable, "-c", script, flag], capture_output=True, text=True, env=environment(), check=True
        )
        assert done.stderr == "[]\n"
        assert done.stdout.startswith("Usage: ")


# --- tasks, metrics, meteor -------------------------------------------------------------------------------


def test_tasks() -> None:
    """A row a task with its title and lines, and the levels."""
    shown = call("tasks")
    assert (shown.code, shown.err) == (0, "")
    rows = shown.out.split("\n")
    assert [row.split(" ")[0] for row in rows[1:9]] == TASKS
    assert "xsum         XSum           summarization            11,333  R-1 R-2 R-L" in rows
    assert "levels: easy, medium, medium+ (no board), hard" in rows


@pytest.mark.parametrize("task", TASKS)
def test_a_task_in_words(task: str) -> None:
    """Its title, its numbered recipe, every metric with its signature, its sources."""
    shown = call("tasks", task)
    known = load_tasks().task(task)
    assert shown.out.startswith(f"{known.title} ({task}), recipe version {known.version}\n")
    for entry in known.metrics:
        assert f"{entry.shown}: {entry.build().signature}" in shown.out
    for side in (known.prediction, known.reference):
        assert all(rule in shown.out for rule in side.rules)
    assert all(source in shown.out for source in known.sources)


def test_the_recipe_is_whole() -> None:
    """No step ends in the middle of a sentence."""
    for task in TASKS:
        for line in call("tasks", task).out.split("\n"):
            assert not re.search(r" (as|by|of|and|or|the|a)$", line), line


def test_tasks_as_json() -> None:
    """The whole registry, and one task: equal to what the files say."""
    whole = call("tasks", "--format", "json").json
    assert list(whole["tasks"]) == TASKS
    assert call("tasks", "coqa", "-f", "json").json == whole["tasks"]["coqa"]


def test_metrics() -> None:
    """Every metric and what it equals."""
    shown = call("metrics")
    assert shown.code == 0
    for name, make in METRICS.items():
        assert re.search(rf"^{name} +{re.escape(make().signature.split('|', 1)[1])}$", shown.out, re.MULTILINE)


def copy_of_tasks(folder: Path, task: str, old: str, new: str) -> Path:
    """The package's task files, one of them changed."""
    shutil.copytree(tasks_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / f"{task}.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    return folder


@pytest.mark.parametrize("command_line", [["tasks"], ["score", "-l", "hard", "x"], ["validate", "-l", "hard", "x"]])
def test_a_task_file_with_an_unknown_metric(command_line: list[str], tmp_path: Path) -> None:
    """File, line, and the nearest metric; by flag and by variable."""
    folder = copy_of_tasks(tmp_path / "tasks", "coqa", "metric: f1", "metric: f11")
    line = (folder / "coqa.yaml").read_text("utf-8").split("metric: f11")[0].count("\n") + 1
    found = call(*command_line, "--tasks-folder", folder)
    assert (found.code, found.out) == (2, "")
    assert found.line == f"{folder}/coqa.yaml:{line}: there is no metric 'f11'; did you mean 'f1'?"
    assert run(*command_line, GLGE_TASKS=str(folder)) == found


def test_another_folder_of_tasks_is_used(tmp_path: Path, data: Path, preds: Path) -> None:
    """What counts is what the given files say, and a folder without files is told."""
    folder = copy_of_tasks(tmp_path / "tasks", "coqa", "title: CoQA", "title: Questions")
    assert "Questions (coqa)" in call("tasks", "coqa", "--tasks-folder", folder).out
    scored = call("score", "-l", "hard", preds, "-d", data, "-t", "coqa", "-f", "json", "--tasks-folder", folder)
    assert scored.json["tasks"][0]["title"] == "Questions"
    table = call("score", "--from-table", "published", "--tasks-folder", folder)
    assert (table.code, table.err) == (0, "")
    empty = call("validate", "-l", "hard", preds, "--tasks-folder", tmp_path / "none")
    assert empty.code == 2
    assert (
        empty.line == f"{tmp_path}/none/benchmark.yaml: cannot read the task registry (found No such file or directory)"
    )


def test_meteor_build_without_meteor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with what to do, and nothing is left in the cache."""
    monkeypatch.setenv("GLGE_METEOR_JAR", str(tmp_path / "no.jar"))
    monkeypatch.setenv("GLGE_CACHE", str(tmp_path / "cache"))
    found = call("meteor", "build", "--force")
    assert (found.code, found.out) == (2, "")
    assert found.line == f"GLGE_METEOR_JAR names no file (found {tmp_path}/no.jar); correct or unset GLGE_METEOR_JAR"
    assert leaves(tmp_path) == set()


@needs_meteor
def test_meteor_build() -> None:
    """Made, or already there; the second time it is there."""
    first = call("meteor", "build")
    assert first.code == 0
    second = call("meteor", "build")
    assert re.fullmatch(r"METEOR tables: \S+\.table \(\d+ MB, from files [0-9a-f]{12}, already there\)\n", second.out)


@needs_meteor
def test_two_processes_with_one_new_cache(tmp_path: Path, data: Path, preds: Path) -> None:
    """Both want METEOR's tables, which are not there yet: equal reports, one table, nothing else left."""
    arguments = ["score", "-l", "hard", preds, "-d", data, "-t", "msqg", "-t", "squadqg", "-f", "json"]
    known = environment(GLGE_CACHE=str(tmp_path / "cache"))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command(*arguments), env=known, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    ends = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    first, second = ends
    assert first == second
    assert SECRET.encode() not in b"".join([*first, *second])
    kinds = sorted(re.sub(r"[0-9a-f]{16}", "X", name) for name in leaves(tmp_path / "cache"))
    assert kinds == ["meteor-1-X.table", "meteor-1.lock", "meteor-sources.json"]
    assert run(*arguments).out.encode() == first[0]


@pytest.mark.parametrize("more", [[], ["--force"]], ids=["plain", "force"])
def test_meteor_build_again(more: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """--force makes the tables anew, and only --force does."""
    asked = []

    def build(progress: Any = None, force: bool = False) -> str:
        asked.append(force)
        progress(1, 2)
        return "done"

    monkeypatch.setattr(meteor, "build", build)
    assert call("meteor", "build", *more) == Run(0, "METEOR tables: done\n", "")
    assert asked == [bool(more)]


@needs_meteor
def test_meteor_needs_neither_java_nor_a_locale(tmp_path: Path, data: Path, preds: Path) -> None:
    """The same figures in a German locale and with nothing on the PATH."""
    arguments = ["score", "-l", "hard", preds, "-d", data, "-t", "msqg", "-f", "json"]
    plain = run(*arguments)
    bare = run(*arguments, PATH=str(tmp_path), JAVA_HOME=str(tmp_path), LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
    assert plain.json["tasks"][0]["scores"][2]["value"] > 0
    assert bare == plain


# --- score: what is shown ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> Report:
    """The example's two light tasks, scored by the library."""
    tasks = ["coqa", "personachat"]
    return score_submission(EXAMPLE / "predictions", level="hard", data=EXAMPLE / "data", tasks=tasks)


def test_terminal_report(report: Report) -> None:
    """Every figure to two decimals, in a pipe at 100 columns without escape codes; nothing on standard error."""
    shown = run(*score_example())
    assert (shown.code, shown.err) == (0, "")
    assert "\x1b" not in shown.out
    for task in report.tasks:
        for score in task.scores:
            assert f"{score.value:.2f}" in shown.out
    assert "GLGE score (hard, test): –   2/8 tasks" in shown.out


def check_schema(value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "report") -> None:
    """That a JSON value is what the schema says: types, every key, no other key."""
    if "$ref" in schema:
        check_schema(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
        return
    if "anyOf" in schema:
        faults = []
        for choice in schema["anyOf"]:
            try:
                check_schema(value, choice, root, where)
                return
            except AssertionError as fault:
                faults.append(str(fault))
        raise AssertionError(f"{where}: {faults}")
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    kind = schema.get("type")
    if kind in ("integer", "number"):
        assert isinstance(value, int if kind == "integer" else (int, float)), where
        assert not isinstance(value, bool), where
    elif kind:
        assert isinstance(value, kinds[kind]), where
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], where
    if isinstance(value, dict) and "properties" in schema:
        assert set(value) == set(schema["properties"]) >= set(schema["required"]), where
        for key, inner in value.items():
            check_schema(inner, schema["properties"][key], root, f"{where}.{key}")
    if isinstance(value, list):
        for place, inner in enumerate(value):
            check_schema(inner, schema.get("items", {}), root, f"{where}[{place}]")


def test_json_report(report: Report) -> None:
    """The library's report, unrounded, as the shipped schema says."""
    shown = call(*score_example("--format", "json", "-j", 1))
    assert shown.json == report.model_dump(mode="json")
    schema = json.loads(SCHEMA.read_bytes())
    check_schema(shown.json, schema, schema)
    with pytest.raises(AssertionError, match=r"report\.tasks\[0\]"):
        check_schema({**shown.json, "tasks": [{}]}, schema, schema)


def test_the_other_formats(report: Report) -> None:
    """CSV with a row a metric, a Markdown table, a LaTeX table."""
    rows = list(csv.DictReader(io.StringIO(call(*score_example("-f", "csv", "-j", 1)).out)))
    shown = {(row["task"], row["name"]): row["value"] for row in rows}
    for task in report.tasks:
        for score in task.scores:
            assert float(shown[task.task, score.name]) == score.value
    assert re.search(r"\| coqa .*66\.55", call(*score_example("-f", "markdown", "-j", 1)).out)
    assert re.search(r"\\begin\{tabular\}[\s\S]*66\.55[\s\S]*\\end\{tabular\}", call(*score_example("-f", "latex")).out)


def test_digits() -> None:
    """0 to 10 decimals in terminal reports, Markdown and the summary; JSON stays whole."""
    assert re.search(r"F1 +67 ", call(*score_example("--digits", 0)).out)
    assert "66.5502645503" in call(*score_example("--digits", 10, "-f", "markdown")).out
    whole = call(*score_example("-f", "json")).out
    assert call(*score_example("-f", "json", "--digits", 0)).out == whole


def test_signatures_and_intervals() -> None:
    """Each adds its part to the terminal report and neither is there unasked."""
    arguments = ["score", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data", "-t", "xsum"]
    plain = call(*arguments).out
    signed = call(*arguments, "--signatures").out
    assert "Signatures" not in plain
    assert "xsum:1|rouge1|ROUGE-1.5.5|F|stem:yes|exceptions:none|model:prediction" in signed
    assert f"|refs:1|items:24|glge:{glge.__version__}" in signed
    interval = call(*arguments, "-f", "json").json["tasks"][0]["scores"][0]["interval"]
    both = [f"{interval[end]:.2f}" for end in ("low", "high")]
    shown = call(*arguments, "--intervals").out
    assert all(end in shown and end not in plain for end in both)


def test_task_selects() -> None:
    """Only what was asked for, in the benchmark's order."""
    arguments = ["score", "--level", "hard", EXAMPLE / "predictions", "--data", EXAMPLE / "data", "-f", "json"]
    found = call(*arguments, "--task", "xsum", "-t", "coqa").json
    assert [task["task"] for task in found["tasks"]] == ["xsum", "coqa"]
    assert (found["value"], found["selected_tasks"]) == (None, ["xsum", "coqa"])


def test_a_task_asked_for_twice_is_one_task() -> None:
    """The report is that of asking once."""
    once = call(*score_example("-f", "json"))
    assert call(*score_example("-f", "json", "-t", "coqa")) == once


@needs_meteor
def test_the_overall_score_and_the_number_of_processes() -> None:
    """All tasks have a GLGE score; --jobs 1, 2 and 0 give the same report, byte for byte."""
    arguments = ["score", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data", "-f", "json"]
    one, two, all_cores = (run(*arguments, "--jobs", jobs) for jobs in (1, 2, 0))
    expected = json.loads((EXAMPLE / "expected.json").read_bytes())
    assert one.json["value"] == pytest.approx(expected["overall"], abs=1e-9)
    assert one == two == all_cores


def test_dev_and_levels(tmp_path: Path, data: Path) -> None:
    """--split dev scores dev files against dev references; every level has its own files."""
    put_data(data, "coqa", f"cat\n{SECRET}\n", split="dev")
    folder = put(tmp_path / "p", {"coqa.hard.dev": "cat\ndog\n", "coqa.medium+.test": "x\ny\nz\n"})
    found = call("score", "-l", "hard", folder, "-d", data, "--split", "dev", "-f", "json")
    assert (found.json["split"], found.json["tasks"][0]["value"]) == ("dev", 50.0)
    assert call("validate", "-l", "hard", folder, "-d", data, "--split", "dev").code == 0
    assert call("validate", "-l", "hard", folder, "-d", data, "--split", "test").code == 2
    assert call("score", "-l", "medium+", folder, "-d", data, "-f", "json").json["level"] == "medium+"
    put_data(data, "coqa", "x\ny\nz\n", level="medium+")
    found = call("score", "-l", "medium+", folder, "-d", data, "-f", "json")
    assert found.json["tasks"][0]["value"] == 100.0  # its own references before those of easy


def test_folder_zip_and_files_are_the_same(tmp_path: Path, data: Path, preds: Path) -> None:
    """A folder, a zip and loose files give the same figures."""
    archive = shutil.make_archive(str(tmp_path / "sub"), "zip", preds)
    files = [preds / f"{task}.hard.test" for task in TASKS]
    figures = []
    for given in ([preds], [archive], files):
        found = call("score", "-l", "hard", *given, "-d", data, "-f", "json", "-j", 1)
        assert found.code == 0
        figures.append([(task["task"], task["value"], task["predictions"]["sha256"]) for task in found.json["tasks"]])
        assert call("validate", "-l", "hard", *given, "-d", data).out == "no problems found\n"
    assert figures[0] == figures[1] == figures[2]
    assert len(figures[0]) == 8


def test_data_by_variable(tmp_path: Path, data: Path, preds: Path) -> None:
    """GLGE_DATA stands in for --data; --data goes before it."""
    arguments = ["score", "-l", "hard", preds, "-t", "coqa", "-f", "json"]
    by_flag = run(*arguments, "--data", data)
    assert run(*arguments, GLGE_DATA=str(data)) == by_flag
    assert run(*arguments, "-d", data, GLGE_DATA=str(tmp_path / "none")) == by_flag
    missing = run(*arguments, GLGE_DATA=str(tmp_path / "none"))
    assert (missing.code, missing.line) == (2, f"{tmp_path}/none: the data folder of GLGE_DATA does not exist")
    assert run("score", "-l", "hard", preds, "-t", "coqa").line.startswith(
        "no data folder was given: neither --data nor"
    )


def test_the_same_name_with_other_content(tmp_path: Path, data: Path) -> None:
    """A file that changed under its name is scored anew."""
    file = tmp_path / "coqa.hard.test"
    put_data(data, "coqa", "one\ntwo\n")
    values = []
    for text in ("one\ntwo\n", "one\nxxx\n", "one\ntwo\n"):
        status = file.stat() if file.exists() else None
        file.write_text(text)
        if status:
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        values.append(call("score", "-l", "hard", file, "-d", data, "-f", "json").json["tasks"][0]["value"])
    assert values == [100.0, 50.0, 100.0]


# --- score: to a file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("r.json", '{\n  "schema_version"'),
        ("r.JSON", '{\n  "schema_version"'),
        ("r.csv", "level,"),
        ("r.md", "| "),
        ("r.tex", "%"),
        ("r.txt", "GLGE hard, test"),
    ],
)
def test_output_by_its_ending(name: str, start: str, tmp_path: Path) -> None:
    """The ending chooses the format; the score and the name go to standard error, nothing to standard output."""
    file = tmp_path / name
    done = call(*score_example("--output", file))
    assert (done.code, done.out) == (0, "")
    assert done.err == f"GLGE score (hard, test): –, 2/8 tasks; wrote {file}\n"
    text = file.read_text("utf-8")
    assert text.startswith(start)
    assert "\x1b" not in text
    assert "66.5" in text
    assert leaves(tmp_path) == {name}


def test_format_goes_before_the_ending(tmp_path: Path) -> None:
    """An explicit --format wins, for reports and for problems."""
    call(*score_example("-o", tmp_path / "r.csv", "-f", "json"))
    assert json.loads((tmp_path / "r.csv").read_bytes())["level"] == "hard"
    arguments = ["validate", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data"]
    call(*arguments, "--output", tmp_path / "v.json", "-f", "terminal")
    assert (tmp_path / "v.json").read_text("utf-8") == "no problems found\n"
    call(*arguments, "-o", tmp_path / "w.json")
    assert json.loads((tmp_path / "w.json").read_bytes())["problems"] == []
    call(*arguments, "-o", tmp_path / "w.txt", "--format", "json")
    assert json.loads((tmp_path / "w.txt").read_bytes())["problems"] == []


def test_problems_of_a_written_report_are_told(tmp_path: Path, data: Path, preds: Path) -> None:
    """A report in a file, or as JSON on standard output, leaves its warnings to standard error."""
    put(preds, {"coqa.hard.test": "a\n\nb\n"})
    arguments = ["score", "-l", "hard", preds, "-d", data, "-t", "coqa"]
    for more in (["-o", tmp_path / "r.json"], ["-f", "json"]):
        done = call(*arguments, *more)
        assert done.code == 0
        assert "warning  coqa.hard.test: 1 line without text" in done.err
    assert "1 line without text" in call(*arguments).out


def test_an_error_leaves_the_older_report(tmp_path: Path, data: Path, preds: Path) -> None:
    """Whatever stops the scoring, the file of last time stays and no other appears."""
    old = put(tmp_path / "out", {"r.json": "old"}) / "r.json"
    put(preds, {"coqa.hard.test": "one line\n"})
    for arguments in (
        ["-d", data],  # a wrong count
        ["-d", tmp_path / "nowhere"],
        ["-d", data, "-t", "nope"],
        ["-d", data, "--size-limit", "5"],
    ):
        done = call("score", "-l", "hard", preds, *arguments, "-o", old)
        assert (done.code, done.out) == (2, "")
        assert old.read_text() == "old"
        assert leaves(old.parent) == {"r.json"}


@pytest.mark.parametrize(
    "arguments", [[], ["--from-table", "published"], ["validate"]], ids=["score", "table", "validate"]
)
@pytest.mark.parametrize("step", ["write", "fsync"])
def test_disk_full(step: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says so and code 2; the older file stays whole, nothing half-written stays."""
    old = put(tmp_path / "out", {"r.json": "old"}) / "r.json"

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    whole: list[object] = score_example("-j", 1)
    if arguments == ["validate"]:
        whole = ["validate", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data"]
    elif arguments:
        whole = ["score", *arguments]
    monkeypatch.setattr(os, step, full)
    done = call(*whole, "-o", old)
    monkeypatch.undo()
    assert (done.code, done.out) == (2, "")
    assert done.err == f"glge: {old}: nothing was written: the disk is full; free some space, or write elsewhere\n"
    assert old.read_text() == "old"
    assert leaves(tmp_path) == {"out/r.json"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_devices() -> None:
    """/dev/full as the output and as standard output: one line and code 2."""
    done = run(*score_example("-o", "/dev/full"))
    assert (done.code, done.out) == (2, "")
    assert done.line == "/dev/full: nothing was written: the disk is full; free some space, or write elsewhere"
    for words in (["tasks"], ["score", "--from-table", "published", "-f", "json"], ["--help"]):
        done = run_shell('GLGE "$@" > /dev/full', *words)
        assert (done.code, done.err) == (2, "glge: No space left on device\n")


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder, a folder, a folder without permission: told before anything is scored."""
    monkeypatch.setattr("glge.scoring.score_lines", lambda *_, **__: pytest.fail("this was scored"))
    monkeypatch.setattr("glge.scoring.validate_submission", lambda *_, **__: pytest.fail("this was looked at"))
    commands = [score_example(), ["validate", "-l", "hard", EXAMPLE / "predictions"]]
    missing = tmp_path / "no" / "r.json"
    for arguments in commands:
        done = call(*arguments, "-o", missing)
        assert done.line == f"{missing}: the folder of the output file does not exist; make {missing.parent} first"
        done = call(*arguments, "-o", tmp_path)
        assert done.line == f"{tmp_path}: the output is a folder; give a file name"
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    for arguments in commands:
        done = call(*arguments, "-o", tmp_path / "r.json")
        assert (done.code, done.line) == (2, f"{tmp_path}/r.json: the folder of the output file cannot be written to")
    assert leaves(tmp_path) == set()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    """The same without pretending."""
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert call(*score_example("-o", folder / "r.json")).line.endswith("cannot be written to")


def test_a_place_that_turns_out_unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is only known at the end (another user's file, a read-only disk) is one line too."""
    opened = os.open

    def refuse(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and str(path).startswith(str(tmp_path)):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refuse)
    done = call(*score_example("-j", 1, "-o", tmp_path / "r.json"))
    assert done.line == f"{tmp_path}/r.json: nothing was written: the file system is read-only; choose another path"


# --- streams, colours, widths -----------------------------------------------------------------------------


def on_terminal(
    arguments: Sequence[object], size: tuple[int, int] = (24, 90), **variables: str
) -> tuple[int, str, str]:
    """Exit code, and what a terminal gets on standard output and on standard error: one terminal for each."""
    import fcntl
    import struct
    import termios

    ends = [pty.openpty(), pty.openpty()]
    for _, inner in ends:
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    known = environment(**{"TERM": "xterm-256color", **variables})
    known.pop("NO_COLOR", None) if "NO_COLOR" not in variables else None
    process = subprocess.Popen(
        command(*arguments), stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1], env=known
    )
    for _, inner in ends:
        os.close(inner)
    seen = {outer: b"" for outer, _ in ends}
    waiting = set(seen)
    while waiting:
        for outer in select.select(list(waiting), [], [])[0]:
            try:
                got = os.read(outer, 65536)
            except OSError:  # the other side is closed
                got = b""
            seen[outer] += got
            if not got:
                waiting.discard(outer)
    code = process.wait()
    for outer, _ in ends:
        os.close(outer)
    out, err = (text.decode().replace("\r\n", "\n") for text in seen.values())
    checked(Run(code, out, err))
    return code, out, err


@posix_only
def test_terminal_colours_and_progress() -> None:
    """On a terminal: colours in the report, progress on standard error, and the figures of the pipe."""
    code, out, err = on_terminal(score_example("-j", 1))
    assert code == 0
    assert "\x1b[" in out
    assert re.search(FIGURES, re.sub(r"\x1b\[[0-9;]*m", "", out))
    assert "scoring" in err
    assert "scoring" not in out


@posix_only
def test_no_colour_where_none_is_wanted() -> None:
    """NO_COLOR, and a terminal that is dumb: no colour codes in the report."""
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, out, _ = on_terminal(score_example("-j", 1), **variables)
        assert code == 0
        assert "\x1b" not in out
        assert re.search(FIGURES, out)


@posix_only
def test_problems_on_a_terminal(tmp_path: Path, data: Path, preds: Path) -> None:
    """Problems are coloured on a terminal, and not with NO_COLOR."""
    put(preds, {"coqa.hard.test": "a\n\nb\n"})
    arguments = ["validate", "-l", "hard", preds, "-d", data, "-t", "coqa"]
    coloured, plain = on_terminal(arguments)[1], on_terminal(arguments, NO_COLOR="1")[1]
    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert "1 warning" in plain


@posix_only
def test_the_terminal_says_how_wide_it_is() -> None:
    """The report fits the terminal; a terminal that does not know its size is taken for an ordinary one."""
    for columns in (40, 60):
        out = on_terminal(score_example("-j", 1), size=(24, columns), NO_COLOR="1")[1]
        assert max(map(len, out.split("\n"))) <= columns
        assert re.search(FIGURES, out)
    unknown = on_terminal(score_example("-j", 1), size=(0, 0), NO_COLOR="1")[1]
    assert unknown == run(*score_example("-j", 1)).out


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_columns(columns: int, tmp_path: Path, data: Path, preds: Path) -> None:
    """Reports and problems keep to COLUMNS, and show every figure at each width."""
    put(preds, {"coqa.hard.test": "a\n\nb\n"})
    shown = run(*score_example(), COLUMNS=str(columns))
    assert max(map(len, shown.out.split("\n"))) <= columns
    figures = re.findall(r"\d+\.\d\d", run(*score_example()).out)
    assert sorted(re.findall(r"\d+\.\d\d", shown.out)) == sorted(figures)
    problems = run("validate", "-l", "hard", preds, "-d", data, COLUMNS=str(columns))
    assert max(map(len, problems.out.split("\n"))) <= columns
    assert " ".join(problems.out.split()).count("1 line without text") == 1


@pytest.mark.parametrize("columns", ["", "0", "-3", "wide"])
def test_columns_that_are_no_width(columns: str) -> None:
    """As if nothing was said."""
    assert run(*score_example(), COLUMNS=columns) == run(*score_example())


def test_locales(tmp_path: Path, data: Path) -> None:
    """No locale changes a byte of what is shown, of what is written, or of what an error says."""
    folder = put(tmp_path / "prédictions", {"coqa.hard.test": "café “white”\n\nb\n"})
    put_data(data, "coqa", "café\nÜber\nb\n")
    file = tmp_path / "é.json"
    every = [
        ["score", "-l", "hard", folder, "-d", data, "-o", file],
        ["validate", "-l", "hard", folder, "-d", data],
        ["validate", "-l", "hard", tmp_path / "nearer", "-d", data],
        ["tasks", "personachat"],
    ]
    plain = [run(*arguments, LC_ALL="C.UTF-8", PYTHONUTF8="1") for arguments in every]
    written = file.read_bytes()
    assert json.loads(written)["tasks"][0]["value"] == pytest.approx(100 / 3 * (2 / 3 + 0 + 1))
    for variables in (
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
    ):
        file.unlink()
        for arguments, expected in zip(every, plain, strict=True):
            assert run(*arguments, **variables) == expected, variables
        assert file.read_bytes() == written


@posix_only
@pytest.mark.parametrize(
    "words",
    [["tasks"], ["score", "--from-table", "published", "-f", "json"], ["--help"], ["tasks", "-f", "json"]],
    ids=" ".join,
)
def test_broken_pipe(words: list[str]) -> None:
    """A reader that goes away is no error: nothing on standard error, code 0."""
    for reader in ("head -n 1 > /dev/null", "true"):
        done = run_shell(f'GLGE "$@" | {reader}', *words)
        assert done == Run(0, "", "")


@posix_only
def test_broken_pipe_keeps_the_exit_code(data: Path, preds: Path) -> None:
    """Errors found by `validate` count also when nobody reads them, and so does an error on standard error."""
    put(preds, {"coqa.hard.test": "a\n"})
    assert run_shell('GLGE "$@" | true', "validate", "-l", "hard", preds, "-d", data) == Run(2, "", "")
    assert run_shell('GLGE "$@" 2>&1 | true', "tasks", "nope") == Run(2, "", "")


@posix_only
def test_closed_streams(tmp_path: Path) -> None:
    """Closed standard streams do no harm."""
    assert run_shell('GLGE "$@" >&-', "tasks") == Run(0, "", "")
    assert run_shell('GLGE "$@" 2>&-', "tasks", "nope") == Run(2, "", "")
    assert run_shell('GLGE "$@" <&- >&- 2>&-', *score_example("-o", tmp_path / "r.json")) == Run(0, "", "")
    assert json.loads((tmp_path / "r.json").read_bytes())["level"] == "hard"


def test_a_name_cannot_act_on_the_screen(tmp_path: Path) -> None:
    """Control characters of a path are shown, not sent."""
    for arguments in (
        ["score", "-l", "hard", "\x1b[31mno", "-d", tmp_path],
        ["score", "-l", "\x1b]0;hard\x07", tmp_path],
        ["score", "-l", "hard", tmp_path, "-t", "\x1b[2Jcoqa"],
        ["score", "-l", "hard", tmp_path, "-o", tmp_path / "\x1b[2J" / "r.json"],
        ["score", "-l", "hard", tmp_path, "--size-limit", "\x1b[2J"],
        ["score", "--from-table", "\x1b[2J.csv"],
        ["tasks", "\x1b[2J"],
        ["tasks", "--tasks-folder", "\x1b[2J"],
        ["doct\x1b[2Jor"],
    ):
        done = call(*arguments)
        assert done.code == 2
        assert "\x1b" not in done.err
        assert "x1b" in done.line


# --- stopping ---------------------------------------------------------------------------------------------


def processes_of(session: int) -> list[int]:
    """Processes of a session that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = status.read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(status.parent.name))
    return found


@pytest.fixture
def long_work(tmp_path: Path) -> list[object]:
    """Arguments of a scoring that takes minutes: it is stopped long before."""
    line = "w1 w2 w3 w4 w5 w6 w7 w8 w9 .\n"
    preds, data = tmp_path / "preds", tmp_path / "data"
    for task in ("cnndm", "xsum", "gigaword", "msnews"):
        lines = "".join(f"{SECRET} {number} {line}" for number in range(60_000))
        put_data(data, task, lines)
        put(preds, {f"{task}.hard.test": lines.replace(SECRET, "word")})
    return ["score", "-l", "hard", preds, "-d", data]


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to look for processes in")


@posix_only
@needs_proc
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("name", "code", "to_all"), [("SIGINT", 130, True), ("SIGINT", 130, False), ("SIGTERM", 143, False)]
)
def test_stopped(name: str, code: int, to_all: bool, jobs: int, long_work: list[object], tmp_path: Path) -> None:
    """Ctrl-C (to the whole group, or to the command alone) and SIGTERM: one line, the code, nothing left behind."""
    old = put(tmp_path / "out", {"r.json": "old"}) / "r.json"
    process = subprocess.Popen(
        command(*long_work, "-j", jobs, "-o", old),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - nohup ignores it
    )
    if jobs == 2:
        wait_for(lambda: len(processes_of(process.pid)) == 3, process)
    else:
        maps = Path(f"/proc/{process.pid}/maps")
        wait_for(lambda: "_multiarray_umath" in maps.read_text(), process)
    (os.killpg if to_all else os.kill)(process.pid, getattr(signal, name))
    out, err = process.communicate()
    assert (process.returncode, out, err) == (code, b"", b"glge: stopped; nothing was written\n")
    assert processes_of(process.pid) == []
    assert leaves(old.parent) == {"r.json"}
    assert old.read_text() == "old"


def wait_for(seen: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until something is seen, as long as the process runs."""
    while not seen():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@posix_only
@needs_proc
def test_a_scoring_process_that_is_killed(long_work: list[object]) -> None:
    """When the system ends one of the processes (memory), the command says so and ends."""
    process = subprocess.Popen(
        command(*long_work, "-j", 2),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    wait_for(lambda: len(processes_of(process.pid)) == 3, process)
    victim = max(number for number in processes_of(process.pid) if number != process.pid)
    os.kill(victim, signal.SIGKILL)
    out, err = process.communicate()
    ended = "glge: a scoring process was ended from outside, most likely for want of memory; try --jobs 1\n"
    assert (process.returncode, out, err.decode()) == (2, b"", ended)
    assert processes_of(process.pid) == []


@posix_only
@needs_proc
def test_no_orphans_when_the_command_is_killed(long_work: list[object]) -> None:
    """Scoring processes end when the command that started them was killed outright."""
    process = subprocess.Popen(
        command(*long_work, "-j", 2),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )
    wait_for(lambda: len(processes_of(process.pid)) == 3, process)
    process.kill()
    process.wait()
    try:
        for _ in range(100):  # they need not end at once
            if not processes_of(process.pid):
                break
            time.sleep(0.1)
        assert processes_of(process.pid) == []
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_ignored_signals_stay_ignored() -> None:
    """Under nohup a hangup does not end the command; afterwards handlers are as before."""
    before = signal.getsignal(signal.SIGTERM)
    call("tasks")
    assert signal.getsignal(signal.SIGTERM) == before
    script = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "import glge.cli, glge.tasks; load = glge.tasks.load_tasks\n"
        "def hang_up(folder): os.kill(os.getpid(), signal.SIGHUP); return load(folder)\n"
        "glge.tasks.load_tasks = hang_up; glge.cli.main(['tasks'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == call("tasks").out


@needs_meteor
def test_a_cache_that_cannot_be_written_costs_meteor_alone(tmp_path: Path) -> None:
    """The other figures are there, and the line says what to do."""
    wall = put(tmp_path, {"wall": "a file"}) / "wall"
    example = ["score", "-l", "hard", EXAMPLE / "predictions", "-d", EXAMPLE / "data", "-t", "squadqg", "-t", "coqa"]
    done = run(*example, GLGE_CACHE=str(wall / "cache"))
    assert done.code == 0
    assert re.search(FIGURES, done.out)
    told = " ".join(done.out.split())
    assert "METEOR is missing: " in told
    assert "set GLGE_CACHE to a folder" in told


@pytest.mark.parametrize("suffix", ["xml", "xlsx"])
def test_an_ending_that_says_no_format(suffix: str, tmp_path: Path) -> None:
    """Refused before any work; `--format` makes any name good."""
    done = call(*score_example("-o", tmp_path / f"r.{suffix}"))
    assert done.code == 2
    assert "the ending says no format" in done.line
    assert call(*score_example("-o", tmp_path / f"r.{suffix}", "-f", "json")).code == 0


def test_faults_of_ours_keep_references_to_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error names its place, not its text; GLGE_DEBUG raises it."""

    def fail(*_: object, **__: object) -> Any:
        raise ValueError(f"cannot split {SECRET}")

    monkeypatch.setattr("glge.scoring.score_lines", fail)
    monkeypatch.delenv("GLGE_DEBUG", raising=False)
    done = call(*score_example(), check=False)
    assert done.code == 2
    assert re.fullmatch(
        r"internal error \(ValueError at test_cli\.py:\d+\); please report it\. GLGE_DEBUG=1 shows the traceback",
        done.line,
    )
    monkeypatch.setenv("GLGE_DEBUG", "1")
    with pytest.raises(ValueError, match="cannot split"):
        main([str(argument) for argument in score_example()])


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "out of memory; try --jobs 1, or one task at a time with --task"),
        (OSError(errno.EIO, "Input/output error", "x.test"), "x.test: Input/output error"),
        (GlgeError("wrong", hint="mend it"), "wrong; mend it"),
        (KeyboardInterrupt(), "stopped; nothing was written"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_ends(error: BaseException, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends the work is one line."""

    def fail(*_: object, **__: object) -> Any:
        raise error

    monkeypatch.setattr("glge.scoring.score_lines", fail)
    done = call(*score_example())
    assert done.err == f"glge: {line}\n"
    assert done.code == (130 if isinstance(error, KeyboardInterrupt) else 2)


# --- strict, sizes, what is refused -----------------------------------------------------------------------


def test_strict(data: Path, preds: Path) -> None:
    """Warnings end with 1 only under --strict, after the whole report; notes do not, errors end with 2."""
    arguments = ["-l", "hard", preds, "-d", data, "-t", "coqa"]
    assert call("score", *arguments, "--strict").code == 0
    put(preds, {"coqa.hard.test": "“a” \nb\nc\n"})  # notes
    assert [call(name, *arguments, "--strict").code for name in ("score", "validate")] == [0, 0]
    put(preds, {"coqa.hard.test": "a\n\nb\n"})  # a warning
    assert [call(name, *arguments).code for name in ("score", "validate")] == [0, 0]
    assert [call(name, *arguments, "--strict").code for name in ("score", "validate")] == [1, 1]
    assert call("score", *arguments, "--strict").out == call("score", *arguments).out
    put(preds, {"coqa.hard.test": "a\n\nb\nd\n"})  # an error
    assert [call(name, *arguments, "--strict").code for name in ("score", "validate")] == [2, 2]


@pytest.mark.parametrize("gold", [False, True], ids=["predictions", "references"])
def test_two_gigabytes(gold: bool, tmp_path: Path, data: Path, preds: Path) -> None:
    """A file of 2 GB is refused unread, with its size, the limit, and the flag that lifts it."""
    file = data / "easy" / "coqa_data" / "org_data" / "test.tgt" if gold else preds / "coqa.hard.test"
    with file.open("r+b") as stream:
        stream.truncate(2 << 30)
    for name in ("score", "validate"):
        done = call(name, "-l", "hard", preds, "-d", data, "-t", "coqa")
        assert done.code == 2
        told = " ".join((done.err + done.out).split())
        assert "the file has 2.0 GiB (2,147,483,648 bytes), the limit is" in told
        assert "--size-limit" in told


def test_size_limit(data: Path, preds: Path) -> None:
    """Sizes as people write them; anything else is told."""
    arguments = ["-l", "hard", preds, "-d", data, "-t", "coqa"]
    for size in ("1k", "5K", "1kb", "0.001M", "1G", "200", "none", "None", "0", "off"):
        for name in ("score", "validate"):
            assert call(name, *arguments, "--size-limit", size).code == 0, size
    for size in ("10", "10b", "0.01k"):
        assert call("score", *arguments, "--size-limit", size).code == 2
    for size in ("", "M", "-1", "nan", "inf", "1X", "1 2", "1e99"):
        done = call("score", *arguments, "--size-limit", size)
        assert (done.code, done.line) == (2, f"--size-limit {size!r} is not a size; 500M, 2G, or none")


def test_a_line_of_a_million_characters(tmp_path: Path, data: Path) -> None:
    """Scored and reported."""
    folder = put(
        tmp_path / "p", {"coqa.hard.test": "x" * 1_000_000 + "\nb\nc\n", "xsum.hard.test": "x " * 500_000 + "\nb\nc\n"}
    )
    done = call("score", "-l", "hard", folder, "-d", data, "-f", "json", "-j", 1)
    assert done.code == 0
    problems = {problem["file"]: problem for problem in done.json["problems"] if problem["code"] == "long-line"}
    assert set(problems) == {"coqa.hard.test", "xsum.hard.test"}
    assert "the longest: 1,000,000" in problems["coqa.hard.test"]["message"]
    assert problems["coqa.hard.test"]["places"] == [1]


def test_data_without_the_level(tmp_path: Path, data: Path, preds: Path) -> None:
    """What was looked for and where; once, not twice."""
    empty = tmp_path / "empty"
    empty.mkdir()
    done = call("score", "-l", "hard", preds, "-d", empty, "-t", "coqa")
    assert (done.code, done.out) == (2, "")
    assert "no references for coqa (level hard, split test)" in done.line
    assert f"hard/coqa_data/org_data/test.tgt and easy/coqa_data/org_data/test.tgt in {empty}" in done.line
    whole = call("score", "-l", "hard", preds, "-d", empty)
    assert whole.code == 2
    assert f"references are missing for {', '.join(TASKS)}; the first: no references for {TASKS[0]} " in whole.line


def test_a_hint_is_given_once(tmp_path: Path, preds: Path) -> None:
    """An error among several does not repeat its advice."""
    (tmp_path / "empty").mkdir()
    told = " ".join(
        call("score", "-l", "hard", preds, "-d", tmp_path / "empty", "-t", "coqa", "-t", "xsum").err.split()
    )
    assert told.count("come in the second archive") == 1


def test_validate_with_data_that_lack_the_task(tmp_path: Path, preds: Path) -> None:
    """Whoever gave --data is not told to give --data."""
    (tmp_path / "empty").mkdir()
    done = call("validate", "-l", "hard", preds, "-d", tmp_path / "empty", "-t", "coqa")
    assert done.code == 2
    assert "give --data" not in " ".join(done.out.split())


def test_sources_and_targets_of_different_length(data: Path, preds: Path) -> None:
    """Both files and both numbers."""
    (data / "easy" / "msqg_data" / "org_data" / "test.src").write_text("one\ntwo\n")
    done = call("score", "-l", "hard", preds, "-d", data, "-t", "msqg")
    assert done.code == 2
    where = "easy/msqg_data/org_data"
    assert f"sources and targets differ in number: {where}/test.src has 2 lines, {where}/test.tgt has 3" in done.line


def test_unknown_names(data: Path, preds: Path) -> None:
    """A level and a task nobody knows, with the nearest."""
    for name in ("score", "validate"):
        assert call(name, "-l", "hrad", preds, "-d", data).line == "there is no level 'hrad'; did you mean 'hard'?"
        done = call(name, "-l", "hard", preds, "-d", data, "-t", "coqua")
        assert (done.code, done.line) == (2, "there is no task 'coqua'; did you mean 'coqa'?")


def test_a_missing_path(tmp_path: Path, data: Path) -> None:
    """What was looked for, where, and the names that were expected."""
    for name in ("score", "validate"):
        done = call(name, "-l", "hard", tmp_path / "prds", "-d", data)
        assert (done.code, done.out) == (2, "")
        assert done.line.startswith(f"{tmp_path}/prds: there is no such folder, zip or file; ")
        assert all(f"{task}.hard.test" in done.line for task in TASKS)


def test_what_spoiled_references_say(tmp_path: Path, data: Path, preds: Path) -> None:
    """Damaged references in every way: their faults are told without their text."""
    file = data / "easy" / "coqa_data" / "org_data" / "test.tgt"
    text = f"{SECRET} one\n{SECRET} two\n{SECRET} three\n".encode()
    for spoiled, code in (
        (text.replace(b"\n", b"\r\n"), 0),
        (text.replace(b" one", b"\r one"), 0),
        (text.replace(b" ", b"\xc2\xa0"), 0),
        (b"\xef\xbb\xbf" + text, 0),
        (text.replace(b" one", b"\xff one"), 2),
        (text.decode().encode("utf-16"), 2),
        (text + text, 2),
        (text[:-1], 0),
        (b"", 2),
    ):
        file.write_bytes(spoiled)
        for format in ("terminal", "json"):
            assert call("score", "-l", "hard", preds, "-d", data, "-t", "coqa", "-f", format).code == code
            call("validate", "-l", "hard", preds, "-d", data, "-t", "coqa", "-f", format)
        call("score", "-l", "hard", preds, "-d", data, "-t", "coqa", "--signatures", "-o", tmp_path / "r.json")
        call("doctor", "--data", data)
        if (tmp_path / "r.json").exists():
            assert SECRET not in (tmp_path / "r.json").read_text("utf-8")


# --- validate ---------------------------------------------------------------------------------------------


def test_validate_as_json(data: Path, preds: Path) -> None:
    """Version, problems with all their keys, counts."""
    put(preds, {"coqa.hard.test": "a\n\nb\n", "xsum.hard.test": "one\n", "sqaudqg.hard.test": PREDICTIONS})
    done = call("validate", "--level", "hard", preds, "--data", data, "--format", "json")
    assert (done.code, done.err) == (2, "")
    assert list(done.json) == ["schema_version", "problems", "counts"]
    schema = json.loads(SCHEMA.read_bytes())
    for problem in done.json["problems"]:
        check_schema(problem, schema["$defs"]["Problem"], schema)
    severities = [problem["severity"] for problem in done.json["problems"]]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert done.json["counts"] == {name: severities.count(name) for name in ("error", "warning", "note")}
    assert {problem["code"] for problem in done.json["problems"]} >= {"empty-prediction", "line-count"}


def test_validate_to_a_file(tmp_path: Path, data: Path, preds: Path) -> None:
    """Written whole, named on standard error; without data the published sizes count."""
    done = call("validate", "-l", "hard", preds, "--task", "coqa", "-o", tmp_path / "v.txt")
    assert (done.code, done.out, done.err) == (2, "", f"wrote {tmp_path}/v.txt\n")
    text = (tmp_path / "v.txt").read_text("utf-8")
    assert "3 lines, expected 4,048 by the published size" in " ".join(text.split())
    assert "\x1b" not in text


# --- tables -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["terminal", "json", "csv", "markdown", "latex"])
def test_published_table(format: str, tmp_path: Path) -> None:
    """Every format; --level narrows, --output writes, --digits rounds."""
    whole = call("score", "--from-table", "published", "-f", format)
    assert (whole.code, whole.err) == (0, "")
    assert "ProphetNet-large" in whole.out
    hard = call("score", "--from-table", "published", "-f", format, "-l", "hard", "--digits", 1)
    assert 0 < hard.out.count("\n") < whole.out.count("\n")
    assert "30.9" in hard.out or "31.0" in hard.out
    suffix = {"terminal": "txt", "markdown": "md", "latex": "tex"}.get(format, format)
    done = call("score", "--from-table", "published", "-o", tmp_path / f"t.{suffix}")
    assert (done.code, done.out, done.err) == (0, "", f"wrote {tmp_path}/t.{suffix}\n")
    assert (tmp_path / f"t.{suffix}").read_text("utf-8") == whole.out


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    """A CSV of figures; a wrong one with its row; a level without rows."""
    file = tmp_path / "mine.csv"
    file.write_text("level,model,coqa.f1\nhard,Mine,70.25\n")
    done = call("score", "--from-table", file, "-f", "json")
    (row,) = done.json["rows"]
    assert (row["model"], row["tasks"]["coqa"], row["value"]) == ("Mine", 70.25, None)
    assert (
        call("score", "--from-table", file, "-l", "easy").line == "the table has no row of this level (expected easy)"
    )
    assert call("score", "--from-table", file, "-l", "esay").line == "there is no level 'esay'; did you mean 'easy'?"
    file.write_text("level,model,coqa.f1\nhard,Mine,much\n")
    assert call("score", "--from-table", file).line == f"{file}: row 1 (Mine): coqa.f1 is not a number (found 'much')"
    missing = tmp_path / "none.csv"
    assert call("score", "--from-table", missing).line == f"{missing}: cannot read the table: No such file or directory"
    for more in ([tmp_path], ["-d", tmp_path], ["-t", "coqa"]):
        assert call("score", "--from-table", file, *more).line.startswith("--from-table takes no predictions")


# --- what others get wrong: lines and figures -------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Predictions and references of one task, the figures they must get, and what must be said about them."""

    task: str
    predictions: str | bytes
    references: str
    figures: dict[str, float]
    codes: tuple[str, ...] = ()
    says: str = ""
    sources: str = ""
    missing: tuple[str, ...] = ()  # codes that must not be there


def same(*lines: str) -> tuple[str, str]:
    """Lines as predictions and as references."""
    text = "".join(f"{line}\n" for line in lines)
    return text, text


CASES = {
    "a carriage return inside a line": Case(
        "msqg", "a\rb\nc d\n", "a b\nc d\n", {"rougeL": 100}, ("carriage-return",), "line 1, column 2"
    ),
    "separators of lines that are none": Case(
        "coqa",
        *same("one\u2028two", "three\x85four", "five\x0bsix", "seven\x0ceight"),
        {"f1": 100},
        ("line-boundary-character",),
        "U+2028",
    ),
    "line ends of Windows": Case(
        "coqa", "one\r\ntwo\r\n", "one\ntwo\n", {"f1": 100}, ("windows-line-ends",), missing=("mixed-line-ends",)
    ),
    "line ends of Windows on some lines": Case("coqa", "one\r\ntwo\n", "one\ntwo\n", {"f1": 100}, ("mixed-line-ends",)),
    "a byte order mark": Case(
        "coqa", "\ufeffone\ntwo\n", "one\ntwo\n", {"f1": 100, "exact_match": 100}, ("byte-order-mark",)
    ),
    "no line feed at the end": Case("coqa", "one\ntwo", "one\ntwo\n", {"f1": 100}, missing=("line-count",)),
    "blanks in personachat": Case(
        "personachat",
        "a b\xa0c d\na  b c d\na\tb c d\n",
        "a b c d\n" * 3,
        {},
        ("no-break-space", "double-blank", "tab"),
    ),
    "an empty prediction": Case("coqa", "\nyes\n", "no\nyes\n", {"f1": 50}, ("empty-prediction",)),
    "sentences of a summary in another order": Case(
        "cnndm",
        "one two three four five . [X_SEP] six seven eight nine ten .\n" * 2,
        "six seven eight nine ten . <S_SEP> one two three four five .\n" * 2,
        {"rougeL": 100, "rouge1": 100},
    ),
    "a separator is no word": Case(
        "cnndm",
        "a b c d e . [X_SEP] f g h i j .\n",
        "a b c d e . <S_SEP> f g h i j .\n",
        {"rouge1": 100, "rouge2": 100},
    ),
    "one word four times": Case("xsum", "the the the the\n", "the\n", {"rouge1": 40}),
    "an empty prediction in ROUGE": Case(
        "xsum", "\na cat sat\n", "a cat sat\na cat sat\n", {"rouge1": 50, "rougeL": 50}
    ),
    "the mean of F, not F of the means": Case("xsum", "a\nb c\n", "a x\nb\n", {"rouge1": 200 / 3}),
    "text without an ASCII letter": Case(
        "xsum", *same("東京 の 天気", "a cat"), {"rouge1": 50}, ("no-rouge-token",), "1 line"
    ),
    "tags": Case("xsum", *same("<unk> <unk>", "a cat"), {"rouge1": 50}, ("tag-like-text",), "1 line"),
    "tags where no ROUGE-1.5.5 is": Case("msqg", *same("<unk> <unk> <unk> <unk>"), {"rougeL": 100, "bleu4": 100}),
    "irregular words": Case("xsum", "children went home\n", "child go home\n", {"rouge1": 100 / 3}),
    "the stemmer of the Perl program": Case(
        "xsum",
        "the studies were dying and ties\n",
        "the study was dies and tied\n",
        {"rouge1": 200 / 3, "rouge2": 40, "rougeL": 200 / 3},
    ),
    "BLEU of single words": Case("msqg", *same("one", "two", "three"), {"bleu1": 100, "bleu4": 0}, sources="a\nb\nc\n"),
    "BLEU of nothing": Case(
        "msqg", "\n\n\n", "a b\nc d\ne f\n", {"bleu1": 0, "bleu4": 0, "rougeL": 0}, ("empty-prediction",)
    ),
    "bars are text": Case("msqg", *same("a ||| b c d e"), {"rougeL": 100, "bleu4": 100}),
    "a word five times": Case("coqa", "paris paris paris paris paris\n", "Paris\n", {"f1": 100 / 3, "exact_match": 0}),
    "only articles": Case("coqa", "the\n", "a\n", {"f1": 100, "exact_match": 100}),
    "curly quotes": Case("coqa", "“white”\n", "white\n", {"f1": 0}, ("non-ascii-punctuation",), "1 line"),
    "Distinct over all replies": Case(
        "personachat",
        "\na\na b c\na b d\n",
        "x y\n" * 4,
        {"distinct2": 75},
        ("empty-prediction",),
    ),
    "BLEU beyond 100": Case("personachat", *same("a b c d", "e f g h"), {"bleu1": 400 / 3}),
    "word pieces": Case("msqg", "play ##ing is fun\n", "playing is fun\n", {}, ("word-pieces",), "sed 's/ ##//g'"),
    "a separator of another task": Case(
        "xsum", "a b [X_SEP] c d\n", "a b c d\n", {}, ("foreign-separator",), "[X_SEP]"
    ),
    "one text throughout": Case("coqa", "yes\n" * 3, "yes\nno\nyes\n", {"f1": 200 / 3}, ("identical-lines",)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_figures_and_what_is_said(case: Case, tmp_path: Path) -> None:
    """From files to the report: the figures of the original programs, and each fault named once by each command."""
    root = put_data(tmp_path / "data", case.task, case.references, case.sources)
    folder = put(tmp_path / "preds", {f"{case.task}.hard.test": case.predictions})
    arguments = ["-l", "hard", folder, "-d", root, "-t", case.task]
    done = call("score", *arguments, "-f", "json")
    assert done.code == 0, done.err
    (result,) = done.json["tasks"]
    found = {score["name"]: score["value"] for score in result["scores"]}
    assert {name: found[name] for name in case.figures} == pytest.approx(
        case.figures, abs=0.005
    )  # the programs round by line
    checked_too = call("validate", *arguments, "-f", "json")
    assert checked_too.code == 0
    for problems in (done.json["problems"], checked_too.json["problems"]):
        ours = [problem for problem in problems if problem["file"] == f"{case.task}.hard.test"]
        codes = [problem["code"] for problem in ours]
        assert set(case.codes) <= set(codes)
        assert not set(case.missing) & set(codes)
        assert len({problem["message"] for problem in ours}) == len(ours)
        told = [f"{problem['message']} {problem['hint'] or ''}" for problem in ours if problem["code"] in case.codes]
        assert not case.says or any(case.says in text for text in told), told
    if case.codes:
        assert call("score", *arguments).out.count(f"{case.task}.hard.test") >= 1


def test_why_bleu_is_zero(tmp_path: Path) -> None:
    """Replies of one word have no BLEU: the report says so in a line."""
    root = put_data(tmp_path / "data", "msqg", "one\ntwo\nthree\n")
    folder = put(tmp_path / "preds", {"msqg.hard.test": "one\ntwo\nthree\n"})
    (result,) = call("score", "-l", "hard", folder, "-d", root, "-f", "json").json["tasks"]
    assert any("BLEU" in note for note in result["notes"]), result["notes"]


def test_the_closest_reference_does_not_depend_on_the_order(tmp_path: Path) -> None:
    """References of 3 and 5 words, a prediction of 4: the shorter one wins the tie, in both orders."""
    folder = put(tmp_path / "preds", {"msqg.hard.test": "a b c d\n" * 2})
    values = []
    for number, references in enumerate(("a b c\na b c d e\n", "a b c d e\na b c\n")):
        root = put_data(tmp_path / str(number), "msqg", references, sources="one\none\n")
        (result,) = call("score", "-l", "hard", folder, "-d", root, "-f", "json").json["tasks"]
        assert result["items"] == 1
        values.append({score["name"]: score["value"] for score in result["scores"]})
    assert values[0] == values[1]
    assert values[0]["bleu1"] == pytest.approx(100)


@needs_meteor
@pytest.mark.parametrize("char", ["\r", "\t"], ids=["return", "tab"])
def test_blanks_in_meteor(char: str, tmp_path: Path) -> None:
    """A carriage return or a tab inside a prediction counts as a blank."""
    values = []
    for number, text in enumerate((f"where is{char}the red door", "where is the red door")):
        root = put_data(tmp_path / f"d{number}", "msqg", "where was the red door\n")
        folder = put(tmp_path / f"p{number}", {"msqg.hard.test": f"{text}\n"})
        (result,) = call("score", "-l", "hard", folder, "-d", root, "-f", "json").json["tasks"]
        values.append(next(score["value"] for score in result["scores"] if score["name"] == "meteor"))
    assert values[0] == values[1] > 0


REFUSED = {
    "a trailing blank line": ("a\nb\nc\n\n", r"4 lines, expected 3 by the data; line 4 is empty: remove the trailing"),
    "too few lines": ("a\n", r"1 line, expected 3 by the data .*too few lines"),
    "an empty file": ("", r"coqa\.hard\.test: the file is empty \(0 bytes\)"),
    "a bad byte": (b"a\nb\xff\nc\n", r"not UTF-8 text: byte 0xFF at byte offset 3 \(line 2, byte 2 of the line\)"),
    "UTF-16": ("a\nb\nc\n".encode("utf-16"), r"this is UTF-16, not UTF-8 text save it as UTF-8 text"),
    "gzip": (b"\x1f\x8b\x08\x00abcdefgh", r"this is gzip, not UTF-8 text unpack it"),
    "zip": (b"PK\x03\x04" + bytes(40), r"this is zip, not UTF-8 text unpack it"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_refused_files(name: str, locale: str, tmp_path: Path, data: Path) -> None:
    """What cannot be scored is refused with what it is and what to do, whatever the locale; nothing is shown."""
    content, message = REFUSED[name]
    folder = put(tmp_path / "p", {"coqa.hard.test": content})
    arguments = ["-l", "hard", folder, "-d", data]
    done = run("score", *arguments, LC_ALL=locale, PYTHONUTF8="0") if locale == "C" else call("score", *arguments)
    assert (done.code, done.out) == (2, "")
    assert re.search(message, " ".join(done.err.split())), done.err
    done = call("validate", *arguments)
    assert done.code == 2
    assert re.search(message, " ".join(done.out.split())), done.out


# --- what others get wrong: submissions -------------------------------------------------------------------


def pack(path: Path, members: list[tuple[str | zipfile.ZipInfo, str | bytes]]) -> Path:
    """A zip with these members."""
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("sqaudqg.hard.test", "squadqg.hard.test"),
        ("coqa.hard (1).test", "coqa.hard.test"),
        ("CoQA.hard.test", "coqa.hard.test"),
        ("coqa.hard.test.txt", "coqa.hard.test"),
        ("coqa_hard.test", "coqa.hard.test"),
    ],
)
def test_misnamed_files(wrong: str, right: str, tmp_path: Path, data: Path) -> None:
    """A name that is nearly right gets the right one, in a folder and in a zip; it is not ignored."""
    folder = put(tmp_path / "p", {wrong: PREDICTIONS, "xsum.hard.test": PREDICTIONS})
    for given in (folder, shutil.make_archive(str(tmp_path / "z"), "zip", folder)):
        for name in ("score", "validate"):
            done = call(name, "-l", "hard", given, "-d", data)
            assert done.code == 2
            assert f"did you mean {right}?" in " ".join((done.err + done.out).split())


def test_a_zip_as_it_comes_from_a_desktop(tmp_path: Path, data: Path) -> None:
    """One file in a folder is scored, what the system added is ignored and named."""
    archive = pack(
        tmp_path / "z.zip",
        [("sub/coqa.hard.test", PREDICTIONS), ("__MACOSX/._coqa.hard.test", b"\x00\x05"), (".DS_Store", b"\x00")],
    )
    done = call("score", "-l", "hard", archive, "-d", data, "-f", "json")
    assert done.code == 0
    assert [task["task"] for task in done.json["tasks"]] == ["coqa"]
    (problem,) = (problem for problem in done.json["problems"] if problem["code"] == "ignored-file")
    assert "__MACOSX/._coqa.hard.test" in problem["message"]
    assert ".DS_Store" in problem["message"]


LINK = zipfile.ZipInfo("coqa.hard.test")
LINK.create_system, LINK.external_attr = 3, 0o120777 << 16


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ([("a/coqa.hard.test", PREDICTIONS), ("b/coqa.hard.test", PREDICTIONS)], "a/coqa.hard.test"),
        ([("coqa.hard.test", PREDICTIONS), ("../../x", "y")], "../../x"),
        ([("coqa.hard.test", PREDICTIONS), ("/etc/x", "y")], "/etc/x"),
        ([(LINK, "/etc/passwd")], "coqa.hard.test"),
        ([("coqa.hard.test", b"0" * 200_000_000)], "limit"),
        ([(f"{number}.txt", "") for number in range(10_001)], "10,001"),
    ],
    ids=["twice", "above", "absolute", "link", "bomb", "many"],
)
def test_hostile_zips(members: list[Any], told: str, tmp_path: Path, data: Path) -> None:
    """Refused whole, with the reason; nothing is written anywhere."""
    archive = pack(tmp_path / "in" / "z.zip", members) if (tmp_path / "in").mkdir() is None else None
    before = leaves(tmp_path)
    for name in ("score", "validate"):
        done = call(name, "-l", "hard", archive, "-d", data, "-t", "coqa")
        assert done.code == 2
        assert told in done.err + done.out
        assert (name, done.out) == ("score", "") or name == "validate"
    assert leaves(tmp_path) == before


def test_two_levels_in_one_folder(tmp_path: Path, data: Path) -> None:
    """Only the asked level is scored; the other is named."""
    put_data(data, "coqa", "one\ntwo\n")
    folder = put(tmp_path / "p", {"coqa.hard.test": "one\ntwo\n", "coqa.easy.test": "x\ny\n"})
    done = call("score", "-l", "hard", folder, "-d", data, "-f", "json")
    assert (done.code, done.json["tasks"][0]["value"]) == (0, 100.0)
    (problem,) = (problem for problem in done.json["problems"] if problem["code"] == "other-level")
    assert "coqa.easy.test" in problem["message"]


def test_one_task_of_eight(tmp_path: Path, data: Path) -> None:
    """The task is scored; the overall score is missing and the coverage says why, in every format."""
    folder = put(tmp_path / "p", {"coqa.hard.test": PREDICTIONS})
    arguments = ["score", "-l", "hard", folder, "-d", data]
    shown = call(*arguments).out
    assert "\nGLGE score (hard, test): –\n1/8 tasks: missing cnndm, " in shown
    assert shown.count("not submitted") == 7
    assert call(*arguments, "-f", "json").json["value"] is None
    assert ", 1/8 tasks; wrote" in call(*arguments, "-o", tmp_path / "r.csv").err
    (row,) = (row for row in csv.DictReader((tmp_path / "r.csv").open(encoding="utf-8")) if row["name"] == "GLGE")
    assert row["value"] == ""


def test_nothing_to_score(tmp_path: Path, data: Path) -> None:
    """An empty folder, a file that is no prediction, a folder with other files: one line with the expected names."""
    (tmp_path / "empty").mkdir()
    other = put(tmp_path / "other", {"notes.txt": "x", "coqa.easy.test": "x\n"})
    for given, told in (
        (tmp_path / "empty", "the folder is empty"),
        (other / "notes.txt", "notes.txt"),
        (other, "no predictions for level hard"),
    ):
        for name in ("score", "validate"):
            done = call(name, "-l", "hard", given, "-d", data)
            assert done.code == 2
            text = " ".join((done.err + done.out).split())
            assert told in text
            assert "coqa.hard.test" in text
