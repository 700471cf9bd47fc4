"""From files and lists to a report: the example against the original programs, goldens end to end, cases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import glge
from glge.errors import DataError, GlgeError, MetricError, RegistryError, SubmissionError
from glge.scoring import make_items, score, score_submission, validate_submission
from glge.tasks import load_tasks
from tests.golden import GOLDEN, lines, load, needs_golden

EXAMPLE = Path(__file__).resolve().parents[1] / "submissions" / "example"


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """What the original programs gave for the example; scripts/make_goldens.py says how."""
    found: dict[str, Any] = load(EXAMPLE / "expected.json")
    return found


@pytest.fixture(scope="module")
def report() -> glge.Report:
    """The example, scored."""
    return score_submission(EXAMPLE / "predictions", level="hard", data=EXAMPLE / "data")


def meteor_is_here() -> bool:
    """Whether METEOR's tables are installed."""
    from glge.metrics import meteor

    return meteor.state().problem is None


needs_meteor = pytest.mark.skipif(not meteor_is_here(), reason="METEOR's tables are not installed")


@pytest.mark.parametrize("task", list(load_tasks().tasks))
def test_example_equals_the_original_programs(task: str, report: glge.Report, expected: dict[str, Any]) -> None:
    """Every metric of the example, 0-100, to 1e-9."""
    golden = expected["tasks"][task]
    result = report.task(task)
    for name, value in {**golden["metrics"], **golden.get("beside", {})}.items():
        found = result.score(name)
        if found.value is None:
            assert found.name == "meteor"
            continue
        assert found.value == pytest.approx(value, abs=1e-9)
    if result.value is not None:
        assert result.value == pytest.approx(golden["mean"], abs=1e-9)


def test_example_rouge_intervals(report: glge.Report, expected: dict[str, Any]) -> None:
    """The program's interval of F, and recall and precision beside it."""
    for task in ("cnndm", "gigaword", "xsum", "msnews"):
        for metric in ("1", "2", "L"):
            printed = expected["tasks"][task]["rouge"]["average"][f"ROUGE-{metric}"]
            found = report.task(task).score(f"rouge{metric}")
            assert found.interval is not None
            figures = (found.value, found.interval.low, found.interval.high)
            assert [f"{(figure or 0) / 100:.5f}" for figure in figures] == list(printed["F"])
            assert f"{float(found.details['recall']) / 100:.5f}" == printed["R"][0]
            assert f"{float(found.details['precision_high']) / 100:.5f}" == printed["P"][2]


@needs_meteor
def test_example_overall(report: glge.Report, expected: dict[str, Any]) -> None:
    """The GLGE score of the example."""
    assert report.value == pytest.approx(expected["overall"], abs=1e-9)
    assert report.coverage == "8/8"
    assert report.problems == ()


def test_number_of_processes_changes_nothing(report: glge.Report) -> None:
    """Two processes give the same report, byte for byte."""
    other = score_submission(EXAMPLE / "predictions", level="hard", data=EXAMPLE / "data", jobs=2)
    assert other.model_dump_json() == report.model_dump_json()


def test_signatures_say_what_made_the_number(report: glge.Report) -> None:
    """Task and version, program, variant, references, items, release."""
    found = report.task("squadqg").score("bleu4").signature
    assert found.startswith("squadqg:1|coco_bleu4|coco-caption|closest|tok:ascii-space|refs:1-")
    assert found.endswith(f"|glge:{glge.__version__}")
    every = [score.signature for task in report.tasks for score in task.scores]
    assert len(set(every)) == len(every)


def test_targets_are_hashed(report: glge.Report, tmp_path: Path) -> None:
    """A changed reference changes the hash in the report."""
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE / "data", data)
    file = data / "easy" / "coqa_data" / "org_data" / "test.tgt"
    file.write_bytes(file.read_bytes().replace(b"\n", b" x\n", 1))
    other = score_submission(EXAMPLE / "predictions", level="hard", data=data, tasks=["coqa"])
    assert other.task("coqa").references.sha256 != report.task("coqa").references.sha256
    assert other.task("coqa").predictions == report.task("coqa").predictions


def test_printed_rounds_twice_as_the_script() -> None:
    """The wrapper prints five decimals first; `printed` is that figure."""
    result = score(["a b c d e"], ["a b c d e"], task="xsum")
    assert (result.score("rouge1").printed, result.score("rouge1").value) == ("100.00", 100.0)
    assert score(["a b", "b"], ["a b", "c"], task="personachat").score("distinct1").printed == "0.667"


@needs_golden
def test_golden_coqa_and_personachat() -> None:
    """The two tasks that read lines as they are, from raw lines to the printed mean."""
    for task, name, key in (("coqa", "f1", "f1"), ("personachat", "bleu1", "bleu1")):
        folder = GOLDEN / task
        golden = load(folder / ("f1.json" if task == "coqa" else "personachat.json"))
        value = golden[key] if task == "coqa" else golden["nltk-3.5"][key]
        result = score(lines(folder / "hyp.txt"), lines(folder / "ref.txt"), task=task)
        assert result.score(name).value == pytest.approx(value, abs=1e-9)


@needs_golden
@pytest.mark.parametrize(("folder", "task"), [("squadqg", "squadqg"), ("msqg", "msqg")])
def test_golden_question_generation(folder: str, task: str) -> None:
    """Raw lines through rules and grouping to groups, BLEU and ROUGE-L of the published scripts."""
    golden = load(GOLDEN / folder / "qg.json")
    predictions, references, sources = (lines(GOLDEN / folder / name) for name in ("hyp.txt", "ref.txt", "src.txt"))
    items = make_items(load_tasks().task(task), predictions, [(text,) for text in references], sources)
    assert list(items.pairs.predictions) == golden["prediction"]
    assert [list(group) for group in items.pairs.references] == golden["references"]
    result = score(predictions, references, task=task, sources=sources)
    for order in (1, 2, 3, 4):
        assert result.score(f"bleu{order}").value == pytest.approx(100 * golden["bleu"][order - 1], abs=1e-7)
    assert result.score("rougeL").value == pytest.approx(100 * golden["rouge_l"], abs=1e-7)
    if meteor_is_here():
        assert result.score("meteor").value == pytest.approx(100 * golden["meteor"], abs=1e-10)


@needs_golden
@pytest.mark.parametrize(("folder", "task"), [("qg_edge", "squadqg"), ("qg_edge_plain", "msqg")])
def test_golden_question_generation_edges(folder: str, task: str) -> None:
    """The unmodified published scripts on odd lines, printed figures included."""
    golden = load(GOLDEN / "more" / folder / "golden.json")
    predictions, references, sources = (
        lines(GOLDEN / "more" / folder / name) for name in ("hyp.txt", "ref.txt", "src.txt")
    )
    result = score(predictions, references, task=task, sources=sources)
    assert result.items == golden["n_groups"]
    for name, key in (("bleu1", "Bleu_1"), ("bleu4", "Bleu_4"), ("rougeL", "ROUGE_L"), ("meteor", "METEOR")):
        found = result.score(name).value
        if found is not None:
            assert found == pytest.approx(100 * golden["corpus"][key], abs=1e-7)
    if meteor_is_here():
        printed = "/".join(str(result.score(name).printed) for name in ("rougeL", "bleu4", "meteor"))
        assert golden["printed_by_eval_py"].startswith(printed)


@needs_golden
@pytest.mark.parametrize(
    ("folder", "task"), [("msnews", "msnews"), ("rouge_edge", "xsum"), ("gigaword_edge", "gigaword")]
)
def test_golden_figures_as_the_published_wrapper_prints_them(folder: str, task: str) -> None:
    """`printed` equals the line of the published eval.py."""
    golden = load(GOLDEN / "more" / folder / "golden.json")
    known = load_tasks().task(task)
    relaxed = known.model_copy(update={"reference": known.reference.model_copy(update={"empty": "allowed"})})
    result = score(lines(GOLDEN / "more" / folder / "hyp.txt"), lines(GOLDEN / "more" / folder / "ref.txt"), relaxed)
    assert "/".join(str(result.score(f"rouge{n}").printed) for n in "12L") == golden["printed_by_eval_py"]


def test_last_prediction_of_a_group_is_scored() -> None:
    """Lines with the same source: references accumulate, the last prediction counts."""
    result = score(
        ["x", "where is it ?"], ["when was it ?", "where is it ?"], task="squadqg", sources=["A [SEP] p", "a [SEP] P"]
    )
    assert result.items == 1
    assert result.score("rougeL").value == pytest.approx(100.0)
    assert "refs:2" in result.score("rougeL").signature


def test_python_2_scripts_see_bytes() -> None:
    """squadqg: É is not lower-cased and a no-break space is no blank, as in the published Python 2 script."""
    assert score(["École"], ["école"], task="squadqg").score("rougeL").value == 0.0
    assert score(["a\xa0b"], ["a b"], task="squadqg").score("bleu1").value == pytest.approx(0.0, abs=1e-6)
    assert score(["A b"], ["a B"], task="squadqg").score("rougeL").value == pytest.approx(100.0)


def test_m2_separators_of_cnndm() -> None:
    """M2: `[X_SEP]` on one side and `<S_SEP>` on the other both end sentences."""
    result = score(
        ["one two three four . [X_SEP] five six seven eight ."],
        ["five six seven eight . <S_SEP> one two three four ."],
        task="cnndm",
    )
    assert result.score("rougeL").value == 100.0


def test_l1_carriage_return_inside_a_line() -> None:
    """L1: scored as a blank."""
    assert score(["a\rb"], ["a b"], task="msqg").score("rougeL").value == pytest.approx(100.0)
    assert score(["a\rb c d"], ["a b c d"], task="personachat").score("bleu1").printed == "133.33"


def test_l10_lists_of_different_length() -> None:
    """L10: one prediction against three references is refused, not zipped."""
    with pytest.raises(MetricError, match=r"differ in number \(expected 3 predictions, found 1\)"):
        score(["a"], ["a", "b", "c"], task="personachat")
    with pytest.raises(MetricError, match="sources and references differ"):
        score(["a"], ["a"], task="msqg", sources=["x", "y"])
    with pytest.raises(MetricError, match="predictions must be a list of lines"):
        score("a", ["a"], task="coqa")  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="nothing to score"):
        score([], [], task="coqa")


def test_l12_empty_prediction_is_kept() -> None:
    """L12: an empty line counts as an empty prediction."""
    assert score(["", "yes"], ["no", "yes"], task="coqa").value == 50.0


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    """A copy of the example's predictions."""
    place = tmp_path / "preds"
    shutil.copytree(EXAMPLE / "predictions", place)
    return place


def test_s8_one_task_has_no_overall_score(submission: Path) -> None:
    """S8: the task is scored, the overall score is missing, the coverage is 1/8."""
    for file in submission.iterdir():
        if not file.name.startswith("coqa"):
            file.unlink()
    found = score_submission(submission, level="hard", data=EXAMPLE / "data")
    assert (found.value, found.coverage, found.task("coqa").value is not None) == (None, "1/8", True)


def test_meteor_missing_leaves_no_overall_score(submission: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without METEOR's tables: one line says what to install; the other metrics stand, the means do not."""
    monkeypatch.setenv("GLGE_METEOR_JAR", "/nonexistent/meteor.jar")
    found = score_submission(submission, level="hard", data=EXAMPLE / "data", tasks=["squadqg"])
    result = found.task("squadqg")
    assert (result.value, found.value, result.score("meteor").value) == (None, None, None)
    assert result.score("bleu4").value is not None
    assert "\n" not in str(result.score("meteor").missing)


def test_wrong_counts_stop_everything(submission: Path) -> None:
    """A file that does not fit is refused with both counts; nothing is scored in part."""
    file = submission / "coqa.hard.test"
    file.write_bytes(file.read_bytes() + b"one more\n")
    with pytest.raises(SubmissionError, match="cannot be scored: 1 error") as caught:
        score_submission(submission, level="hard", data=EXAMPLE / "data")
    assert any("31 lines, expected 30 by the data" in problem.message for problem in caught.value.problems)
    assert score_submission(submission, level="hard", data=EXAMPLE / "data", tasks=["xsum"]).coverage == "1/8"


def test_no_reference_text_in_any_message(submission: Path, tmp_path: Path) -> None:
    """Whatever is wrong with the references, no message quotes them."""
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE / "data", data)
    secret = "zanzibar"
    for task in load_tasks().tasks:
        file = data / "easy" / f"{task}_data" / "org_data" / "test.tgt"
        spoiled = file.read_bytes().replace(b"\n", f" {secret}\r\x0b\n".encode(), 2) + f"{secret} \xa0\n".encode()
        file.write_bytes(spoiled)
    with pytest.raises(SubmissionError) as caught:
        score_submission(submission, level="hard", data=data)
    assert secret not in str(caught.value) + json.dumps([problem.__dict__ for problem in caught.value.problems])


def test_data_without_the_level(submission: Path, tmp_path: Path) -> None:
    """A data root without the level: what was looked for where."""
    with pytest.raises(GlgeError, match=r"test\.tgt"):
        score_submission(submission, level="hard", data=tmp_path, tasks=["coqa"])


def test_sources_of_another_length(submission: Path, tmp_path: Path) -> None:
    """Source and target of different length are a fault of the data."""
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE / "data", data)
    file = data / "easy" / "msqg_data" / "org_data" / "test.src"
    file.write_bytes(file.read_bytes() + b"more\n")
    with pytest.raises(DataError, match="sources and targets differ in number"):
        score_submission(submission, level="hard", data=data, tasks=["msqg"])


def test_unknown_names(submission: Path) -> None:
    """A level or task nobody knows."""
    with pytest.raises(RegistryError, match="did you mean 'hard'"):
        score_submission(submission, level="hrad", data=EXAMPLE / "data")
    with pytest.raises(RegistryError, match="did you mean 'coqa'"):
        score_submission(submission, level="hard", data=EXAMPLE / "data", tasks=["coqua"])


def test_a_zip_and_files_give_the_same(submission: Path, report: glge.Report, tmp_path: Path) -> None:
    """The same predictions as a zip or as loose files give the same figures."""
    archive = shutil.make_archive(str(tmp_path / "sub"), "zip", submission)
    for given in (archive, sorted(submission.iterdir())):
        found = score_submission(given, level="hard", data=EXAMPLE / "data")  # type: ignore[arg-type]
        assert [task.value for task in found.tasks] == [task.value for task in report.tasks]


def test_validation_uses_data_or_published_sizes(submission: Path) -> None:
    """With data no problem; without, the example is too short for the published sizes."""
    assert validate_submission(submission, level="hard", data=EXAMPLE / "data") == ()
    problems = validate_submission(submission, level="hard")
    assert {problem.code for problem in problems} == {"line-count"}
    assert len(problems) == 8


def test_validation_tells_what_is_wrong_with_the_references(submission: Path, tmp_path: Path) -> None:
    """Odd references are told as when scoring; hidden ones are a note, and the published size counts."""
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE / "data", data)
    coqa = next(data.rglob("coqa_data/org_data/test.tgt"))
    gold = coqa.read_bytes().split(b"\n")
    coqa.write_bytes(b"\n".join([b"", *gold[1:]]))
    next(data.rglob("xsum_data/org_data/test.tgt")).unlink()
    source = next(data.rglob("squadqg_data/org_data/test.src"))
    source.write_bytes(source.read_bytes() + b"one more\n")
    found = validate_submission(submission, level="hard", data=data)
    problems = {(problem.code, problem.task): problem for problem in found}
    # xsum's file is wrong by the published size: it will not be scored, so its references are no matter.
    assert set(problems) >= {("empty-reference", "coqa"), ("line-count", "xsum"), ("no-references", "squadqg")}
    assert "sources and targets differ in number" in problems["no-references", "squadqg"].message


def test_hidden_references_are_a_note(submission: Path, tmp_path: Path) -> None:
    """Without test.tgt a file of the published size is all right, and the note says what was counted by."""
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE / "data", data)
    for file in data.rglob("test.tgt"):
        file.unlink()
    whole = tmp_path / "coqa.hard.test"
    whole.write_text("".join(f"answer {number}\n" for number in range(4048)), encoding="utf-8")
    (problem,) = validate_submission([whole], level="hard", data=data, tasks=["coqa"])
    assert (problem.severity, str(problem)) == (
        "note",
        "the data has no references for coqa: counted by the published size",
    )


def test_progress_is_told(submission: Path) -> None:
    """The callback sees the work begin and end."""
    seen: list[tuple[str, int, int]] = []
    score_submission(
        submission,
        level="hard",
        data=EXAMPLE / "data",
        tasks=["coqa", "xsum"],
        progress=lambda what, done, total: seen.append((what, done, total)),
    )
    assert (seen[0][1:], seen[-1][1:]) == ((0, 2), (2, 2))


def test_the_door() -> None:
    """Every name of the door resolves, and nothing else does."""
    for name in glge.__all__:
        assert getattr(glge, name) is not None
    assert set(glge.__all__) <= set(dir(glge))
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = glge.scores


@pytest.mark.parametrize(
    ("predictions", "references", "task", "message"),
    [
        (["a", "b\n"], ["a", "b"], "msqg", "line 2.*predictions hold a line feed"),
        (["a"], ["a\nb"], "coqa", "references hold a line feed"),
        ([None], ["a"], "coqa", r"predictions must be texts.*a NoneType"),
        (["a"], [b"a"], "coqa", r"references must be texts.*a bytes"),
        ({"a": 1}, ["a"], "coqa", r"predictions must be a list of lines .found a dict."),
        (["a"], [""], "xsum", "an empty reference, which xsum does not allow"),
        (["a b c d e"], [""], "cnndm", "every reference is empty"),
    ],
)
def test_lists_that_are_no_lines(predictions: Any, references: Any, task: str, message: str) -> None:
    """What cannot be the lines of a file is refused, with its place."""
    with pytest.raises(MetricError, match=message):
        score(predictions, references, task=task)


def test_without_any_references_the_data_are_to_blame(submission: Path, tmp_path: Path) -> None:
    """DataError, with what was looked for; not an error of the submission."""
    (tmp_path / "data").mkdir()
    with pytest.raises(
        DataError, match=r"references are missing for cnndm, gigaword, .* the first: no references for cnndm"
    ):
        score_submission(submission, level="hard", data=tmp_path / "data")


def test_missing_sources_are_told_by_validate(submission: Path, tmp_path: Path) -> None:
    """Question generation cannot be scored without sources, and validate says so."""
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE / "data", data)
    next(data.rglob("msqg_data/org_data/test.src")).unlink()
    (problem,) = validate_submission(submission, level="hard", data=data)
    assert (problem.code, problem.severity) == ("no-references", "error")
    assert problem.message.startswith("no sources for msqg")
