"""Task files of one's own: written so that they pass, checked in one pass, joined to the eight under another name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glge.errors import GlgeError, RegistryError
from glge.metrics import METRICS
from glge.rules import RULES
from glge.scoring import score, score_submission, validate_submission
from glge.task_files import CODE, RESERVED, check_task, new_task
from glge.tasks import MetricEntry, Side, Task, built_in_folder, load_tasks

BUILT_IN = list(load_tasks(built_in_folder()).tasks)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one new task, `riddles`."""
    place = tmp_path / "mine"
    new_task("riddles", place)
    return place


Change = Callable[[str, str], None]


@pytest.fixture
def change(folder: Path) -> Change:
    """Spoils riddles.yaml."""

    def apply(old: str, new: str) -> None:
        file = folder / "riddles.yaml"
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    return apply


# --- glge tasks new -------------------------------------------------------------------------------


def test_a_new_file_passes_as_it_is_written(folder: Path) -> None:
    """No error and no warning: only notes on what its user has still to say."""
    check = check_task(folder / "riddles.yaml")
    assert check.sound
    assert {problem.severity for problem in check.problems} == {"note"}
    assert [problem.message.split()[0] for problem in check.problems] == [
        "title",
        "family",
        "description",
        "source",
        "target",
        "sources",
    ]


def test_a_new_file_explains_every_key(folder: Path) -> None:
    """Each key of a task, a side and a metric stands in it, in use or behind a #, and every rule and metric."""
    text = (folder / "riddles.yaml").read_text(encoding="utf-8")
    for key in [*Task.model_fields, *Side.model_fields]:
        assert f"\n{key}:" in text or f"  {key}:" in text or f"# {key}:" in text, key
    for key in MetricEntry.model_fields:
        assert f"\n#   {key} " in text, key
    words = set(text.replace(",", " ").split())
    assert set(RULES) <= words
    assert set(METRICS) <= words
    assert max(map(len, text.split("\n"))) <= 120


def test_comments_become_keys(folder: Path, change: Change) -> None:
    """What stands behind a # may be taken in."""
    change("  # separator:", "  separator:")
    change("  # empty:", "  empty:")
    change("# grouping:", "grouping:")
    change("# profiles:\n#   mine:\n#     -", "profiles:\n  mine:\n    -")
    check = check_task(folder / "riddles.yaml")
    assert check.sound
    assert check.task is not None
    assert check.task.groups_by_source
    assert [trial.shown for trial in check.trials] == ["R-L", "B-4", "mine F1"]


def test_the_folder_has_nine_tasks(folder: Path) -> None:
    """The eight in their order, then one's own, under the folder's name."""
    benchmark = load_tasks(folder)
    assert list(benchmark.tasks) == [*BUILT_IN, "riddles"]
    assert (benchmark.name, benchmark.extends) == ("mine", "builtin")
    assert benchmark.levels == load_tasks(built_in_folder()).levels
    assert all(benchmark.tasks[name] == load_tasks(built_in_folder()).tasks[name] for name in BUILT_IN)


def test_a_second_task_joins_the_list(folder: Path) -> None:
    """The list in benchmark.yaml grows, comments stay; a list in another form is left alone and told."""
    listing = folder / "benchmark.yaml"
    assert [path.name for path in new_task("poems", folder)] == ["poems.yaml", "benchmark.yaml"]
    assert list(load_tasks(folder).tasks) == [*BUILT_IN, "riddles", "poems"]
    text = listing.read_text(encoding="utf-8")
    assert "# Your own tasks." in text
    listing.write_text(text.replace("tasks: [riddles, poems]", "tasks:\n  - riddles\n  - poems"), encoding="utf-8")
    assert [path.name for path in new_task("songs", folder)] == ["songs.yaml"]
    (warning,) = [problem for problem in check_task(folder / "songs.yaml").problems if problem.severity == "warning"]
    assert str(warning).endswith("benchmark.yaml does not list this task; put songs into its tasks")


def test_nothing_is_overwritten_unless_asked(folder: Path, change: Change) -> None:
    """A file that is there stays; with force it is written anew, the list is as it was."""
    change("version: 1", "version: 7")
    with pytest.raises(RegistryError, match=r"riddles.yaml: the file is there already; --force writes it anew"):
        new_task("riddles", folder)
    assert load_tasks(folder).task("riddles").version == 7
    listing = (folder / "benchmark.yaml").read_bytes()
    assert [path.name for path in new_task("riddles", folder, force=True)] == ["riddles.yaml"]
    assert load_tasks(folder).task("riddles").version == 1
    assert (folder / "benchmark.yaml").read_bytes() == listing
    assert sorted(path.name for path in folder.iterdir()) == ["benchmark.yaml", "riddles.yaml"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "'' cannot be the name of a task"),
        ("Riddles", r"'Riddles' cannot be the name of a task \(expected small letters, digits and _, a letter first\)"),
        ("my-task", "'my-task' cannot be"),
        ("../x", "cannot be"),
        ("a.b", "cannot be"),
        ("a\n", "cannot be"),
        ("9lives", "cannot be"),
        ("rätsel", "cannot be"),
        ("a" * 41, r"too long \(expected 40 letters at most, found 41\)"),
        ("coqa", "'coqa' is a built-in task; choose another name"),
        *((name, f"'{name}' means something else") for name in RESERVED),
    ],
)
def test_names(tmp_path: Path, name: str, message: str) -> None:
    """A name stands in file names and signatures; nothing is written for one that cannot."""
    with pytest.raises(RegistryError, match=message):
        new_task(name, tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_the_packages_own_folder_is_left_alone() -> None:
    """The built-in tasks are no place for one's own."""
    with pytest.raises(RegistryError, match="this is the folder of the built-in tasks"):
        new_task("riddles", built_in_folder())


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    """A file in the way is told in one line."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(GlgeError, match="file: the folder cannot be made"):
        new_task("riddles", tmp_path / "file")


def test_a_folder_called_glge(tmp_path: Path) -> None:
    """The benchmark of a folder named so gets another name than GLGE."""
    new_task("riddles", tmp_path / "glge")
    assert load_tasks(tmp_path / "glge").name == "glge-and-more"


# --- extends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "extends: builtin",
            "extends: glge",
            r"benchmark.yaml:8: this cannot be extended \(expected builtin, found 'gl",
        ),
        (
            "extends: builtin",
            "extends: builtin\nweights: equal",
            r"yaml:9: weights are those of GLGE; leave the key out",
        ),
        ("extends: builtin", "extends: builtin\nlevels: []", "levels are those of GLGE; leave the key out"),
        (
            'name: "mine"',
            "name: glge",
            r"yaml:4: a benchmark with more tasks than GLGE needs another name; its score is",
        ),
        ("[riddles]", "[riddles, coqa]", r"yaml:10: 'coqa' is a task of GLGE; list your own tasks only"),
        ("[riddles]", "[riddles, CoQA]", r"yaml:10: 'CoQA' is a task of GLGE"),
        ("[riddles]", "[riddels]", r"yaml:10: there is no file riddels.yaml; did you mean 'riddles'\?"),
        ("extends:", "extend:", r"unknown key 'extend'; did you mean 'extends'\?"),
    ],
)
def test_mistakes_in_extending(folder: Path, old: str, new: str, message: str) -> None:
    """The built-in benchmark cannot be changed, only added to, and not under its own name."""
    file = folder / "benchmark.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RegistryError, match=message):
        load_tasks(folder)


def test_extending_does_not_look_at_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`builtin` is the package's own folder, even when GLGE_TASKS names this one."""
    monkeypatch.setenv("GLGE_TASKS", str(folder))
    assert len(load_tasks().tasks) == len(BUILT_IN) + 1


# --- glge tasks check -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_built_in_tasks_pass(name: str) -> None:
    """The checker is not stricter than the benchmark: no error, and a warning only for what is not installed."""
    check = check_task(built_in_folder() / f"{name}.yaml")
    assert check.sound
    assert [p.message for p in check.problems if p.severity == "warning" and "was not tried" not in p.message] == []
    assert len(check.texts) == 2
    assert all(trial.score is not None for trial in check.trials)


def test_everything_is_told_in_one_pass(folder: Path, change: Change) -> None:
    """Rules, metrics, variants, sizes and names together, with their lines."""
    change("  rules: [strip]", "  rules: [stripp, lowr]")
    change("metric: coco_rougeL, shown: R-L", "metric: coco_rogueL, shown: R-L")
    change("metric: coco_bleu4, shown: B-4", "metric: coco_bleu4, shown: B-4, variant: { blank: ascii }")
    change("train: 0, dev: 0, test: 100", "train: -1, dev: 0, test: 0")
    change("source: 20.0", "source: 0.0")
    change("version: 1", "version: 0")
    check = check_task(folder / "riddles.yaml")
    assert not check.sound
    assert [problem.message for problem in check.problems if problem.severity == "error"] == [
        "there is no rule 'stripp'",
        "there is no rule 'lowr'",
        "there is no metric 'coco_rogueL'",
        "coco_bleu4 has no variant 'blank'",
        "the version is 0",
        "train has -1 lines",
        "test has 0 lines",
        "the mean number of words of source is 0",
    ]
    assert all(problem.places for problem in check.problems if problem.severity == "error")
    assert {problem.code for problem in check.problems} == {CODE}
    assert check.trials == ()


def test_wrong_keys_are_told_together(folder: Path, change: Change) -> None:
    """Misspelt, missing and ill-typed keys in one pass; nothing is tried."""
    change("title:", "titel:")
    change("version: 1", "version: one")
    check = check_task(folder / "riddles.yaml")
    assert check.task is None
    assert not check.sound
    messages = [problem.message for problem in check.problems]
    assert messages[0] == "unknown key 'titel'"
    assert "the key 'title' is missing" in messages
    assert any(message.startswith("version: input should be a valid integer") for message in messages)


def test_a_file_that_is_no_task(tmp_path: Path) -> None:
    """No YAML is a problem like any other; no file is an error."""
    file = tmp_path / "x.yaml"
    file.write_text("a: [", encoding="utf-8")
    assert "not readable as YAML" in check_task(file).problems[0].message
    with pytest.raises(RegistryError, match=r"y.yaml: there is no such task file"):
        check_task(tmp_path / "y.yaml")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("shown: B-4", "shown: R-L", ("warning", "more than one metric is shown as 'R-L'")),
        (
            "  rules: [strip]",
            "  rules: [fix-tokens-lower]",
            ("note", "the two sides' rules make different words of the same line"),
        ),
        (
            "  rules: [strip]",
            "  rules: [sentences-at-full-stop, drop-short-sentences, sentences-at-x-sep, drop-repeated-sentences]",
            None,
        ),
    ],
)
def test_odd_recipes(folder: Path, change: Change, old: str, new: str, problem: tuple[str, str] | None) -> None:
    """What can be scored but looks like a mistake is told and does not stop."""
    change(old, new)
    check = check_task(folder / "riddles.yaml")
    assert check.sound
    if problem:
        assert problem in [(found.severity, found.message) for found in check.problems]


def test_a_file_without_a_benchmark(folder: Path) -> None:
    """It can be checked, and the list that is missing is told."""
    (folder / "benchmark.yaml").unlink()
    check = check_task(folder / "riddles.yaml")
    assert check.sound
    assert any("there is no benchmark.yaml beside it" in problem.message for problem in check.problems)


def test_a_broken_neighbour(folder: Path, change: Change) -> None:
    """A folder that cannot be loaded is an error, told with the file it lies in."""
    new_task("poems", folder)
    change("version: 1", "version: one")
    check = check_task(folder / "poems.yaml")
    assert [Path(str(problem.file)).name for problem in check.problems if problem.severity == "error"] == [
        "riddles.yaml"
    ]
    assert not check.sound


def test_the_dry_run_in_words(folder: Path) -> None:
    """Texts after the rules, then a figure for each metric."""
    lines = check_task(folder / "riddles.yaml").lines()
    assert [line.split(":")[0] for line in lines] == [
        "line 1 predicted",
        "line 1 reference",
        "line 2 predicted",
        "line 2 reference",
        "R-L",
        "B-4",
    ]
    assert lines[4].startswith("R-L: 76.77   riddles:1|coco_rougeL|")


# --- scoring with nine ----------------------------------------------------------------------------


def test_nine_tasks_from_end_to_end(folder: Path, tmp_path: Path) -> None:
    """The eight keep their figures, the ninth is beside them, and the mean of nine is not called GLGE."""
    examples = Path(__file__).resolve().parents[1] / "submissions" / "example"
    shutil.copytree(examples, tmp_path / "example")
    predictions, data = tmp_path / "example" / "predictions", tmp_path / "example" / "data"
    tasks = ["coqa", "personachat"]
    alone = score_submission(predictions, level="hard", data=data, tasks=tasks)
    (predictions / "riddles.hard.test").write_text("a river\nthe wind\n", encoding="utf-8")
    gold = data / "easy" / "riddles_data" / "org_data"
    gold.mkdir(parents=True)
    (gold / "test.tgt").write_text("a river\nthe north wind\n", encoding="utf-8")
    benchmark = load_tasks(folder)
    report = score_submission(predictions, level="hard", data=data, tasks=[*tasks, "riddles"], benchmark=benchmark)
    assert [result.model_dump() for result in report.tasks[:2]] == [result.model_dump() for result in alone.tasks]
    assert report.tasks[2].value == pytest.approx(
        score(["a river", "the wind"], ["a river", "the north wind"], task=benchmark.task("riddles")).value
    )
    assert (alone.benchmark, report.benchmark) == ("GLGE", "mine")
    assert report.expected_tasks[-1] == "riddles"
    problems = validate_submission(predictions, level="hard", data=data, benchmark=benchmark)
    assert [problem.message for problem in problems if problem.task == "riddles"] == []
