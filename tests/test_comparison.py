"""Comparing systems: what is tested, what is left out, and that every system is scored as alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from glge.comparison import compare_lines, compare_submissions
from glge.errors import MetricError, SubmissionError
from glge.results import Comparison
from glge.scoring import score_lines, score_submission
from glge.significance import Resampling, holm

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "submissions" / "example"
DATA = EXAMPLE / "data"
FEW = Resampling(200)
# METEOR is there where its tables are; the comparison is the same without.
TASKS = ["cnndm", "gigaword", "xsum", "msnews", "coqa", "personachat"]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A second system: the example's with some lines spoilt."""
    folder = tmp_path / "worse"
    shutil.copytree(EXAMPLE / "predictions", folder)
    for name in ("xsum", "coqa"):
        file = folder / f"{name}.hard.test"
        lines = file.read_text(encoding="utf-8").split("\n")
        file.write_text("\n".join(["nothing at all ."] * 12 + lines[12:]), encoding="utf-8")
    return folder


def compare(*systems: Path, **more: object) -> Comparison:
    """The example's data at level hard, 200 resamples."""
    settings = {"levels": ["hard"], "data": DATA, "tasks": TASKS, "resampling": FEW} | more
    return compare_submissions(systems, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_every_system_is_scored_as_alone(other: Path, test: str) -> None:
    """Values are those of the reports, to the last bit, whatever the test."""
    found = compare(EXAMPLE / "predictions", other, test=test)
    for place, path in enumerate((EXAMPLE / "predictions", other)):
        alone = score_submission(path, level="hard", data=DATA, tasks=TASKS)
        for task in found.tasks:
            result = alone.task(task.task)
            assert task.mean.values[place] == result.value
            assert [row.values[place] for row in task.metrics] == [score.value for score in result.scores]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_system_differs_not_from_itself(test: str) -> None:
    """Difference 0 and p 1 everywhere."""
    found = compare(EXAMPLE / "predictions", EXAMPLE / "predictions", test=test)
    for task in found.tasks:
        for row in (task.mean, *task.metrics):
            difference = row.differences[1]
            assert difference is not None
            assert (difference.value, difference.p) == (0.0, 1.0)
    assert [system.name for system in found.systems] == ["predictions (1)", "predictions (2)"]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_real_difference_is_found(other: Path, test: str) -> None:
    """Half the answers spoilt is significant in coqa and xsum, and nowhere else."""
    found = compare(EXAMPLE / "predictions", other, test=test)
    marked = {task.task for task in found.tasks if (task.mean.differences[1].p_adjusted or 1) < 0.05}  # type: ignore[union-attr]
    assert marked == {"xsum", "coqa"}
    for task in found.tasks:
        difference = task.mean.differences[1]
        assert difference is not None
        first, second = task.mean.values
        assert difference.value == second - first  # type: ignore[operator]
        if test == "bootstrap" and task.task in marked:
            assert difference.ci is not None
            assert difference.ci.low < difference.value < difference.ci.high < 0
        assert (difference.ci is None) == (test == "randomization")


def test_the_order_of_systems_changes_signs_only(other: Path) -> None:
    """A against B is B against A with the other sign, and the same p."""
    there = compare(EXAMPLE / "predictions", other)
    back = compare(other, EXAMPLE / "predictions")
    for one, two in zip(there.tasks, back.tasks, strict=True):
        first, second = one.mean.differences[1], two.mean.differences[1]
        assert first is not None
        assert second is not None
        assert (first.value, first.p) == (-second.value, second.p)


def test_a_third_system_changes_nothing_for_the_second(other: Path) -> None:
    """Differences are each to the first; a further system leaves them as they are."""
    two = compare(EXAMPLE / "predictions", other)
    three = compare(EXAMPLE / "predictions", other, EXAMPLE / "predictions", names=["a", "b", "c"])
    for one, more in zip(two.tasks, three.tasks, strict=True):
        assert one.mean.differences[1] == more.mean.differences[1]
        assert more.mean.differences[2].value == 0  # type: ignore[union-attr]


def test_holm_runs_over_the_tasks_and_over_the_metrics(other: Path) -> None:
    """Means are one family, metrics that count another; what stands beside is not corrected."""
    found = compare(EXAMPLE / "predictions", other)
    means = [task.mean.differences[1] for task in found.tasks]
    assert [one.p_adjusted for one in means] == holm([one.p for one in means])  # type: ignore[union-attr,misc]
    rows = [row for task in found.tasks for row in task.metrics if row.counted]
    assert [row.differences[1].p_adjusted for row in rows] == holm([row.differences[1].p for row in rows])  # type: ignore[union-attr,misc]
    beside = [row for task in found.tasks for row in task.metrics if not row.counted]
    assert beside
    assert {row.differences[1].p_adjusted for row in beside} == {None}  # type: ignore[union-attr]


def test_the_overall_score_is_tested_when_all_tasks_are_there(other: Path) -> None:
    """With eight tasks there is an overall row; it is the mean of the task means. METEOR is needed for it."""
    pytest.importorskip("pycocoevalcap")
    found = compare(EXAMPLE / "predictions", other, tasks=None)
    (first, second) = found.overall.values
    assert first == pytest.approx(np.mean([task.mean.values[0] for task in found.tasks]))  # type: ignore[arg-type]
    difference = found.overall.differences[1]
    assert difference is not None
    assert difference.value == second - first  # type: ignore[operator]
    assert difference.p == difference.p_adjusted
    assert difference.p < 0.05  # type: ignore[operator]
    assert compare(EXAMPLE / "predictions", other).overall.values == (None, None)


def test_jobs_change_nothing(other: Path) -> None:
    """One process or two give the same comparison."""
    assert compare(EXAMPLE / "predictions", other, jobs=2) == compare(EXAMPLE / "predictions", other)


def test_what_one_system_lacks_is_left_out_and_named(other: Path) -> None:
    """Only common tasks are compared; the rest is named."""
    (other / "coqa.hard.test").unlink()
    found = compare(EXAMPLE / "predictions", other, tasks=["xsum", "coqa"])
    assert [task.task for task in found.tasks] == ["xsum"]
    (problem,) = [problem for problem in found.problems if problem.code == "task-left-out"]
    assert problem.message == "coqa is left out: worse has no file for it"
    assert "coqa" in found.systems[0].left_out


def test_nothing_in_common_is_an_error(tmp_path: Path) -> None:
    """Two systems without a common task cannot be compared, and it is said what each has."""
    for name in ("coqa", "xsum"):
        (tmp_path / name).mkdir()
        shutil.copy(EXAMPLE / "predictions" / f"{name}.hard.test", tmp_path / name)
    with pytest.raises(SubmissionError, match=r"no task in common \(found coqa has coqa; xsum has xsum\)"):
        compare(tmp_path / "coqa", tmp_path / "xsum", tasks=None)


def test_systems_of_different_levels(tmp_path: Path) -> None:
    """A level for each system; the comparison says so. Wrong numbers of levels and names are refused."""
    easy = tmp_path / "easy"
    easy.mkdir()
    shutil.copy(EXAMPLE / "predictions" / "coqa.hard.test", easy / "coqa.easy.test")
    found = compare(EXAMPLE / "predictions", easy, levels=["hard", "easy"], tasks=["coqa"])
    assert [system.level for system in found.systems] == ["hard", "easy"]
    assert found.tasks[0].mean.differences[1].value == 0  # type: ignore[union-attr]
    assert "levels-differ" in {problem.code for problem in found.problems}
    with pytest.raises(SubmissionError, match="one level for all systems"):
        compare(easy, easy, easy, levels=["easy", "hard"])
    with pytest.raises(SubmissionError, match="a name to each system"):
        compare(EXAMPLE / "predictions", easy, names=["a"])
    with pytest.raises(SubmissionError, match="the same name"):
        compare(EXAMPLE / "predictions", easy, names=["a", "a"])
    with pytest.raises(SubmissionError, match="two systems or more"):
        compare(easy)


def test_a_file_that_cannot_be_scored_stops_everything(other: Path) -> None:
    """An error names the system, the file and what is wrong; nothing is compared."""
    file = other / "coqa.hard.test"
    file.write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(SubmissionError, match="the systems cannot be compared: 1 error") as caught:
        compare(EXAMPLE / "predictions", other)
    assert [problem.file for problem in caught.value.problems if problem.severity == "error"] == [
        "worse: coqa.hard.test"
    ]


def test_few_resamples_are_refused(other: Path) -> None:
    """99 are too few, with the reason."""
    with pytest.raises(MetricError, match="too few resamples"):
        compare(EXAMPLE / "predictions", other, resampling=Resampling(99))


def one_line(folder: Path) -> tuple[Path, Path]:
    """A submission and data of a single line."""
    preds, place = folder / "one", folder / "data" / "easy" / "coqa_data" / "org_data"
    preds.mkdir()
    place.mkdir(parents=True)
    (preds / "coqa.hard.test").write_text("white\n", encoding="utf-8")
    (place / "test.tgt").write_text("white horse\n", encoding="utf-8")
    return preds, folder / "data"


def test_a_single_line_has_no_interval_and_no_test(tmp_path: Path) -> None:
    """Nothing to resample: no interval, no p, and the reason."""
    preds, data = one_line(tmp_path)
    found = compare(preds, preds, data=data, tasks=["coqa"])
    difference = found.tasks[0].mean.differences[1]
    assert difference is not None
    assert (difference.value, difference.p, difference.ci) == (0.0, None, None)
    assert found.tasks[0].notes == ("no test: a single item cannot be resampled",)
    report = score_submission(preds, level="hard", data=data, tasks=["coqa"], resampling=FEW)
    assert report.tasks[0].ci is None
    assert report.tasks[0].notes == ("the interval is undefined: a single item cannot be resampled",)


def test_intervals_do_not_move_the_score() -> None:
    """Point estimates with and without intervals are the same; every figure has an interval around its mean."""
    plain = score_submission(EXAMPLE / "predictions", level="hard", data=DATA, tasks=TASKS)
    sure = score_submission(EXAMPLE / "predictions", level="hard", data=DATA, tasks=TASKS, resampling=FEW)
    assert sure.resampling is not None
    assert sure.resampling.model_dump() == {"resamples": 200, "seed": 12345, "level": 95.0}
    for one, two in zip(plain.tasks, sure.tasks, strict=True):
        assert one.value == two.value
        assert two.ci is not None
        assert two.ci.low < two.value < two.ci.high  # type: ignore[operator]
        for before, after in zip(one.scores, two.scores, strict=True):
            assert (before.value, before.interval, before.ci) == (after.value, after.interval, None)
            assert after.ci is not None
            assert after.ci.low <= after.value <= after.ci.high  # type: ignore[operator]
            assert after.signature == f"{before.signature}|resamples:200|seed:12345"


def test_lines_are_the_items_in_order() -> None:
    """Line values average to the plain mean; grouped lines are one item named by its last line."""
    report, lines = score_lines(EXAMPLE / "predictions", level="hard", data=DATA, tasks=[*TASKS, "squadqg"])
    found = {task.task: task for task in lines}
    assert list(found) == ["cnndm", "gigaword", "xsum", "msnews", "squadqg", "coqa", "personachat"]
    xsum = found["xsum"]
    assert len(xsum) == 24
    assert np.mean(xsum.values["rouge1"]) == pytest.approx(report.task("xsum").score("rouge1").mean)
    assert np.mean(found["coqa"].values["f1"]) == pytest.approx(report.task("coqa").value)
    squadqg = found["squadqg"]
    assert len(squadqg) == report.task("squadqg").items < 28
    assert sorted(number for numbers in squadqg.numbers for number in numbers) == list(range(1, 29))
    item = next(place for place, numbers in enumerate(squadqg.numbers) if len(numbers) > 1)
    assert len(squadqg.references[item]) == len(squadqg.numbers[item])
    text = (EXAMPLE / "predictions" / "squadqg.hard.test").read_text(encoding="utf-8").split("\n")
    assert squadqg.predictions[item] == text[squadqg.numbers[item][-1] - 1]
    assert "one word: BLEU counts 0" in found["personachat"].notes


def test_lines_of_a_comparison_are_by_task_and_system(other: Path) -> None:
    """For each task the lines of each system, as when scored alone."""
    _, by_task = compare_lines(
        [EXAMPLE / "predictions", other], levels=["hard"], data=DATA, tasks=["xsum", "coqa"], resampling=FEW
    )
    _, alone = score_lines(other, level="hard", data=DATA, tasks=["xsum", "coqa"])
    assert [systems[1] for systems in by_task] == alone
