"""The strict reader of the task registry: what it gives, and what each mistake says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from glge.errors import RegistryError
from glge.tasks import Benchmark, load_tasks, tasks_folder

SIZES = {  # Table 1 of the paper
    "cnndm": (287_113, 13_368, 11_490, 822.3, 57.9),
    "gigaword": (3_803_957, 189_651, 1_951, 33.7, 8.7),
    "xsum": (204_017, 11_327, 11_333, 358.5, 21.1),
    "msnews": (136_082, 7_496, 7_562, 310.7, 9.7),
    "squadqg": (75_722, 10_570, 11_877, 149.4, 11.5),
    "msqg": (198_058, 11_008, 11_022, 45.9, 5.9),
    "coqa": (108_647, 3_935, 4_048, 354.4, 2.6),
    "personachat": (122_499, 14_602, 14_056, 120.8, 11.8),
}


@pytest.fixture(scope="module")
def benchmark_() -> Benchmark:
    """The registry that ships."""
    return load_tasks()


def test_the_eight_tasks_and_their_published_sizes(benchmark_: Benchmark) -> None:
    """Names, order, sizes and mean words of Table 1."""
    found = {
        name: (*task.sizes.values(), task.mean_words["source"], task.mean_words["target"])
        for name, task in benchmark_.tasks.items()
    }
    assert found == SIZES
    assert list(benchmark_.tasks) == list(SIZES)
    assert sum(task.sizes["test"] for task in benchmark_.tasks.values()) == 73_339


def test_levels(benchmark_: Benchmark) -> None:
    """Four levels; medium+ has no published board."""
    assert benchmark_.level_names == ("easy", "medium", "medium+", "hard")
    assert [level.board for level in benchmark_.levels] == [True, True, False, True]


def test_metrics_of_the_board(benchmark_: Benchmark) -> None:
    """The counted metrics are those of the published board, in its order."""
    counted = {name: [entry.name for entry in task.metrics if entry.counted] for name, task in benchmark_.tasks.items()}
    rouge = ["rouge1", "rouge2", "rougeL"]
    assert counted == {
        **dict.fromkeys(("cnndm", "gigaword", "xsum", "msnews"), rouge),
        "squadqg": ["rougeL", "bleu4", "meteor"],
        "msqg": ["rougeL", "bleu4", "meteor"],
        "coqa": ["f1"],
        "personachat": ["bleu1", "bleu2", "distinct1", "distinct2"],
    }


def test_recipes_in_words(benchmark_: Benchmark) -> None:
    """Every recipe says rules, metrics and signature."""
    text = "\n".join(benchmark_.task("squadqg").recipe())
    assert "fix-tokens-lower-ascii" in text
    assert "same source (strip-ascii, lower-ascii) are one item" in text
    assert "METEOR: meteor|METEOR-1.5" in text
    assert "model:prediction" in "\n".join(benchmark_.task("xsum").recipe())
    assert "model:reference" in "\n".join(benchmark_.task("cnndm").recipe())


def test_unknown_task_and_level(benchmark_: Benchmark) -> None:
    """The nearest name is offered."""
    with pytest.raises(RegistryError, match=r"there is no task 'sqaudqg'; did you mean 'squadqg'\?"):
        benchmark_.task("sqaudqg")
    with pytest.raises(RegistryError, match=r"there is no level 'hrad'; did you mean 'hard'\?"):
        benchmark_.check_level("hrad")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the registry to spoil."""
    place = tmp_path / "tasks"
    shutil.copytree(tasks_folder(), place, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return place


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: CoQA", "titel: CoQA", r"coqa.yaml:4: unknown key 'titel'; did you mean 'title'\?"),
        ("title: CoQA\n", "", r"coqa.yaml:\d+: the key 'title' is missing"),
        ("version: 1", "version: one", r"coqa.yaml:3: version: input should be a valid integer \(found 'one'\)"),
        ("version: 1", "version: 1\nversion: 2", r"coqa.yaml:4: the key 'version' stands twice"),
        ("metric: f1", "metric: f2", r"coqa.yaml:17: there is no metric 'f2'; did you mean 'f1'\?"),
        ("prediction:\n  rules: []", "prediction:\n  rules: [stripp]", r"coqa.yaml:12: there is no rule 'stripp'; did"),
        ("prediction:\n  rules: []", "prediction:\n  rulez: []", r"coqa.yaml:12: unknown key 'rulez'; did you mean"),
        ("name: exact_match, ", "name: f1, ", r"coqa.yaml:18: the metric name 'f1' stands twice"),
        ("shown: F1 }", "shown: F1, variant: { stem: true } }", r"coqa.yaml:17: f1 has no variant 'stem'"),
        ("shown: F1 }", "shown: F1, counted: false }", r"coqa.yaml:15: no metric counts"),
        ("sizes: {", "sizes: [", r"coqa.yaml:\d+: not readable as YAML"),
        ("name: coqa", "name: quac", r"coqa.yaml:2: the name must be the file's \(expected coqa, found quac\)"),
        ("family: question answering", "family: !!python/object/apply:os.getcwd []", r"coqa.yaml:5: tags are not"),
        ("sizes: { train: 108647,", "sizes: { trian: 108647,", r"coqa.yaml:9: sizes.trian"),
    ],
)
def test_mistakes_are_told_with_file_and_line(folder: Path, old: str, new: str, message: str) -> None:
    """Duplicate, unknown and missing keys, wrong types, unknown names, broken YAML."""
    file = folder / "coqa.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RegistryError, match=message) as caught:
        load_tasks(folder)
    assert "\n" not in str(caught.value)


def test_a_metric_with_a_wrong_variant(folder: Path) -> None:
    """A variant value nobody knows."""
    file = folder / "personachat.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace('nltk: "3.5"', 'nltk: "3.7"'), encoding="utf-8")
    with pytest.raises(RegistryError, match=r"personachat.yaml:16: smoothed_bleu1: unknown NLTK formula"):
        load_tasks(folder)


def test_a_task_file_that_is_not_there(folder: Path) -> None:
    """A listed task without its file, and a task listed twice."""
    (folder / "coqa.yaml").rename(folder / "coqua.yaml")
    with pytest.raises(RegistryError, match=r"benchmark.yaml:6: there is no file coqa.yaml; did you mean 'coqua'\?"):
        load_tasks(folder)
    file = folder / "benchmark.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("[cnndm,", "[cnndm, cnndm,"), encoding="utf-8")
    with pytest.raises(RegistryError, match="a task is listed twice"):
        load_tasks(folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """No registry at all."""
    with pytest.raises(RegistryError, match="cannot read the task registry"):
        load_tasks(tmp_path)


def test_registry_by_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GLGE_TASKS names another registry."""
    file = folder / "coqa.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("title: CoQA", "title: Mine"), encoding="utf-8")
    monkeypatch.setenv("GLGE_TASKS", str(folder))
    assert load_tasks().task("coqa").title == "Mine"


def test_not_utf8(folder: Path) -> None:
    """A Latin-1 file is refused with the place of the byte."""
    (folder / "coqa.yaml").write_bytes(b"title: Caf\xe9\n")
    with pytest.raises(RegistryError, match=r"coqa.yaml: not UTF-8 \(found byte 10\)"):
        load_tasks(folder)
