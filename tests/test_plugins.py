"""Metrics of other packages: found by name, held at arm's length, unable to change any other number."""

from __future__ import annotations

import importlib
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glge.errors import MetricError, MissingResource, RegistryError
from glge.metrics import METRICS, Metric, Pairs
from glge.metrics.plugins import Guarded, PlugInError
from glge.scoring import make_items, score, score_metric
from glge.significance import Resampling
from glge.task_files import check_task, new_task
from glge.tasks import load_tasks

SECRET = "the reference nobody may see"

GOOD = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from glge.metrics import AdditiveMetric, Rows
from glge.metrics.contract import Summary

@dataclass(frozen=True)
class Same(AdditiveMetric):
    """Share of lines that are equal to a reference."""
    strip: bool = False
    NAME: ClassVar[str] = "same"

    @property
    def name(self):
        return self.NAME

    @property
    def signature(self):
        return f"{self.NAME}|strip:{'yes' if self.strip else 'no'}"

    def rows(self, pairs):
        found = [prediction in group for prediction, group in zip(pairs.predictions, pairs.references)]
        return Rows(np.array([found, np.ones(len(found))], dtype=float).T, ("same", "n"))

    def finish(self, totals):
        return totals[..., 0] / totals[..., 1]

    def lines(self, rows):
        return rows.column("same")
'''

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a package with entry points on the path, as an installer would."""
    modules = set(sys.modules)

    def make(package: str, entries: dict[str, str], code: str, version: str = "1.2") -> Path:
        place = tmp_path / f"site-{package}"
        place.mkdir()
        module = f"{package.replace('-', '_')}_code" if package == "glge" else package.replace("-", "_")
        (place / f"{module}.py").write_text(code, encoding="utf-8")
        info = place / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8"
        )
        lines = "".join(f"{name} = {module}:{target}\n" for name, target in entries.items())
        (info / "entry_points.txt").write_text(f"[glge.metrics]\n{lines}", encoding="utf-8")
        monkeypatch.syspath_prepend(str(place))
        return place

    yield make
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def faulty(body: str, name: str = "same") -> str:
    """The good plug-in with some of it replaced."""
    return GOOD + "\n\n@dataclass(frozen=True)\nclass Faulty(Same):\n" + f"    NAME: ClassVar[str] = {name!r}\n" + body


def score_with(install: Install, body: str, pairs: Pairs | None = None) -> Any:
    """Install a faulty plug-in and ask it for everything."""
    install("bad-metric", {"same": "Faulty"}, faulty(body))
    metric = METRICS["same"]()
    rows = metric.rows(pairs or Pairs.single([SECRET, "b"], [SECRET, "c"]))
    return metric.summary(rows)


def test_a_good_plugin(install: Install) -> None:
    """Found by name, with a variant; its signature has package and version."""
    install("same-metric", {"same": "Same"}, GOOD)
    assert "same" in METRICS
    metric = METRICS["same"](strip=True)
    assert isinstance(metric, Guarded)
    assert (metric.name, metric.higher_is_better, metric.centred) == ("same", True, False)
    assert metric.signature == "same|strip:yes|plugin:same-metric 1.2"
    assert metric.score(["a", "b"], ["a", "c"]) == 0.5
    assert metric.score(["a", "b"], [["a", "b"], ["c", "b"]]) == 1.0


def test_the_contract_holds_behind_the_guard(install: Install) -> None:
    """Counts, draws, parts and lines go through and are what the metric itself gives."""
    install("same-metric", {"same": "Same"}, GOOD)
    metric = METRICS["same"]()
    rows = metric.rows(Pairs.single(["a", "b", "c"], ["a", "x", "c"]))
    assert metric.reduce(rows, np.array([1, 1, 0])) == 0.5
    draws = np.array([[1, 1, 0], [0, 3, 0]])
    assert metric.reduce(rows, draws).tolist() == [0.5, 0.0]
    assert metric.lines(rows).tolist() == [1.0, 0.0, 1.0]
    assert metric.value(metric.part(rows, 1, 3)) == 0.5
    assert draws.flags.writeable
    with pytest.raises(MetricError, match="counts do not fit the rows"):
        metric.reduce(rows, np.ones(2))


def test_iterating_sees_the_built_in_metrics_alone(install: Install) -> None:
    """METRICS itself does not depend on what is installed; plug-ins are listed when asked for."""
    before = list(METRICS)
    install("same-metric", {"same": "Same"}, GOOD)
    assert list(METRICS) == before
    assert len(METRICS) == len(before)
    assert METRICS.names()[: len(before)] == before
    assert "same" in METRICS.names()
    assert [str(plugin) for plugin in METRICS.plugins() if plugin.package == "same-metric"] == [
        "same of same-metric 1.2"
    ]


def test_looking_imports_nothing(install: Install) -> None:
    """Listing and asking for a name read metadata; the code runs when the metric is made."""
    install("loud-metric", {"loud": "Same"}, "raise RuntimeError('imported')\n")
    assert "loud" in METRICS
    assert METRICS.plugins()
    plugin = METRICS["loud"]
    assert "loud_metric" not in sys.modules
    with pytest.raises(PlugInError, match=r"the plug-in loud of loud-metric 1\.2 cannot be imported: RuntimeError at "):
        plugin()


def test_importing_metrics_does_not_look(install: Install) -> None:
    """`import glge.metrics` reads no entry points."""
    code = "import sys; import glge.metrics; list(glge.metrics.METRICS); assert 'loud_metric' not in sys.modules"
    place = install("loud-metric", {"loud": "Same"}, "raise RuntimeError\n")
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(place)!r}); {code}"], check=True)


def test_no_such_metric() -> None:
    """An unknown name is a KeyError, as in any mapping."""
    with pytest.raises(KeyError):
        METRICS["no_such_metric"]
    assert METRICS.get("no_such_metric") is None


# --- what a plug-in may do wrong ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "    def rows(self, pairs):\n        raise ValueError(pairs.references[0][0])\n",
            "failed in rows: ValueError",
        ),
        ("    def rows(self, pairs):\n        raise SystemExit(3)\n", "failed in rows: SystemExit"),
        (
            "    def rows(self, pairs):\n        return super().rows(pairs).part(0, 1)\n",
            r"another length \(expected 2 l",
        ),
        (
            "    def finish(self, totals):\n        return np.float64('nan') * totals[..., 0]\n",
            r"no finite number \(red",
        ),
        ("    def reduce(self, rows, counts=None):\n        return 'high'\n", "gives no float"),
        ("    def reduce(self, rows, counts=None):\n        return 1\n", r"gives no float .*found int"),
        ("    def reduce(self, rows, counts=None):\n        return 0.5\n", r"another shape \(reduce with counts\)"),
        (
            "    def reduce(self, rows, counts=None):\n"
            "        return 0.5 if counts is None else np.full(len(counts), 0.6)\n",
            "another value when each line is counted once",
        ),
        (
            "    def reduce(self, rows, counts=None):\n"
            "        return 0.5 if counts is None else counts.fill(0) or np.full(len(counts), 0.5)\n",
            "failed in reduce with counts: ValueError",
        ),
        (
            "    def lines(self, rows):\n        return np.ones(3)\n",
            r"another shape \(lines\) \(expected \(2,\), found",
        ),
        ("    def lines(self, rows):\n        return [1.0, float('inf')]\n", r"finite numbers \(lines\).*1 of 2"),
        ("    def lines(self, rows):\n        return ['a', 'b']\n", r"no array of numbers \(lines\)"),
        ("    def lines(self, rows):\n        raise KeyError('x')\n", "failed in lines: KeyError"),
        ("    def value(self, rows):\n        return float('inf')\n", r"no finite number \(value\)"),
        (
            "    def details(self, rows):\n        return {'x': float('nan')}\n",
            r"no finite number \(a figure of details",
        ),
        ("    def summary(self, rows):\n        return None\n", "has no summary"),
        ("    def summary(self, rows):\n        return Summary(1.0, interval=(0.0, None))\n", r"no float \(interval\)"),
        ("    def notes(self, rows):\n        raise RuntimeError\n", "failed in summary: RuntimeError"),
        ("    def rows(self, pairs):\n        return pairs.only_references('same') and 1/0\n", "ZeroDivisionError"),
    ],
)
def test_faults_are_told_by_name(install: Install, body: str, message: str) -> None:
    """Whatever is wrong: one line with metric, package, version; never the plug-in's words or a reference."""
    with pytest.raises(PlugInError, match=message) as caught:
        score_with(install, body)
    text = str(caught.value)
    assert text.startswith("the plug-in same of bad-metric 1.2 ")
    assert SECRET not in text
    assert "\n" not in text
    assert caught.value.__cause__ is None
    assert str(pickle.loads(pickle.dumps(caught.value))) == text  # noqa: S301 - errors cross process borders


def test_our_own_words_are_kept(install: Install) -> None:
    """What glge's code says on a plug-in's behalf is told: it has no reference in it."""
    with pytest.raises(PlugInError, match=r"failed in rows: same is defined here for one reference a line .*found 2"):
        score_with(
            install,
            "    def rows(self, pairs):\n        return pairs.only_references('same')\n",
            Pairs(["a"], [["b", "c"]]),
        )


def test_missing_resources_pass(install: Install) -> None:
    """A plug-in that says what to install is believed."""
    body = (
        "    def rows(self, pairs):\n        from glge.errors import MissingResource\n"
        "        raise MissingResource('the table is missing', hint='pip install table')\n"
    )
    with pytest.raises(MissingResource, match="the table is missing; pip install table"):
        score_with(install, body)


@pytest.mark.parametrize(
    ("entries", "code", "message"),
    [
        ({"same": "Nothing"}, GOOD, "cannot be imported: AttributeError"),
        ({"same": "np"}, GOOD, "is nothing that can be called"),
        (
            {"same": "make"},
            "def make():\n    return 3\n",
            r"makes no metric \(expected a glge.metrics.Metric, found int",
        ),
        ({"same": "Faulty"}, faulty("", name="other"), r"another name \(expected same, found 'other'\)"),
        (
            {"same": "Faulty"},
            faulty("    def __post_init__(self):\n        raise ValueError('no such variant')\n"),
            "cannot be made: ValueError at .*: no such variant",
        ),
    ],
)
def test_faults_in_making(install: Install, entries: dict[str, str], code: str, message: str) -> None:
    """What is no metric is told before any text is seen, and then the plug-in's own words are given."""
    install("bad-metric", entries, code)
    with pytest.raises(PlugInError, match=message):
        METRICS["same"]()


def test_unknown_variant(install: Install) -> None:
    """The nearest key is offered."""
    install("same-metric", {"same": "Same"}, GOOD)
    with pytest.raises(PlugInError, match=r"has no variant 'stripp'; did you mean 'strip'\?"):
        METRICS["same"](stripp=True)


def test_a_signature_is_always_there(install: Install) -> None:
    """A report can say what made a number even when the plug-in cannot."""
    install(
        "bad-metric", {"same": "Faulty"}, faulty("    @property\n    def signature(self):\n        return 'a\\nb'\n")
    )
    assert METRICS["same"]().signature == "same|a b|plugin:bad-metric 1.2"
    install("dumb-metric", {"dumb": "Faulty"}, faulty("    @property\n    def signature(self):\n        1/0\n", "dumb"))
    assert METRICS["dumb"]().signature == "dumb|no signature|plugin:dumb-metric 1.2"


# --- names ----------------------------------------------------------------------------------------


def test_a_built_in_name_cannot_be_taken(install: Install) -> None:
    """`f1` stays what it is; the intruder is listed with its fault."""
    install("thief", {"f1": "Same"}, GOOD)
    assert not isinstance(METRICS["f1"](), Guarded)
    (found,) = [plugin for plugin in METRICS.plugins() if plugin.package == "thief"]
    assert found.fault == "the name is that of one of glge's own metrics"
    assert METRICS.names().count("f1") == 1
    with pytest.raises(PlugInError, match=r"f1 of thief 1\.2 cannot be used: the name is that of one of glge's"):
        found()


def test_two_packages_with_one_name(install: Install) -> None:
    """Neither is taken: which one would be an accident."""
    install("one", {"same": "Same"}, GOOD)
    install("two", {"same": "Same"}, GOOD, version="3.0")
    assert "same" in METRICS
    with pytest.raises(PlugInError, match=r"more than one package gives it \(one 1\.2, two 3\.0\); uninstall all but"):
        METRICS["same"]()
    assert "same" not in METRICS.names()


def test_glge_keeps_its_own_plugins(install: Install) -> None:
    """A name that glge gives by an entry point is as safe as a built-in one."""
    install("glge-as-if", {"bertscore": "Same"}, GOOD)
    install("glge", {"bertscore": "Faulty"}, faulty("", name="bertscore"), version="9")
    assert METRICS["bertscore"]().signature == "bertscore|strip:no"
    faults = {plugin.package: plugin.fault for plugin in METRICS.plugins() if plugin.name == "bertscore"}
    assert faults == {"glge": "", "glge-as-if": "the name is that of one of glge's own metrics"}


def test_a_name_must_fit_a_signature(install: Install) -> None:
    """A bar or a blank in a name would break every signature."""
    install("odd", {"a|b": "Same"}, GOOD)
    with pytest.raises(PlugInError, match="a name has letters, digits and _ only"):
        METRICS["a|b"]()


# --- nothing reaches the others -------------------------------------------------------------------


def test_texts_and_switches_are_out_of_reach(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    """A plug-in that sorts, remembers, prints and turns switches leaves texts, memory, output and NumPy alone."""
    body = (
        "    def rows(self, pairs):\n"
        "        print('loud')\n"
        "        np.seterr(all='raise')\n"
        "        pairs.memo('coqa', lambda: 'poison')\n"
        "        for side in (pairs.predictions, pairs.references):\n"
        "            try:\n                side[0] = 'x'\n            except TypeError:\n                pass\n"
        "        return super().rows(pairs)\n"
    )
    install("bad-metric", {"same": "Faulty"}, faulty(body))
    predictions, references = ["b", "a"], ["b", "c"]
    pairs = Pairs.single(predictions, references)
    before = np.geterr()
    assert METRICS["same"]().value(METRICS["same"]().rows(pairs)) == 0.5
    assert METRICS["f1"]().value(METRICS["f1"]().rows(pairs)) == 0.0 + METRICS["f1"]().score(predictions, references)
    assert predictions == ["b", "a"]
    assert np.geterr() == before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "loud" in captured.err


def test_what_was_given_cannot_be_changed_later(install: Install) -> None:
    """Line values are copies."""
    body = (
        "    def lines(self, rows):\n        import bad_metric\n"
        "        bad_metric.kept = rows.column('same').copy()\n        return bad_metric.kept\n"
    )
    install("bad-metric", {"same": "Faulty"}, faulty(body))
    metric = METRICS["same"]()
    values = metric.lines(metric.rows(Pairs.single(["a"], ["a"])))
    sys.modules["bad_metric"].kept[:] = 7
    assert values.tolist() == [1.0]


# --- in a task file -------------------------------------------------------------------------------


def with_metric(folder: Path, entry: str) -> Path:
    """A folder with a task of one's own that names a metric beside a built-in one."""
    new_task("riddles", folder)
    file = folder / "riddles.yaml"
    text = file.read_text(encoding="utf-8")
    head, _, tail = text.partition("metrics:\n  - { name: rougeL")
    assert tail
    file.write_text(f"{head}metrics:\n  - {entry}\n  - {{ name: rougeL{tail}", encoding="utf-8")
    return file


def test_a_plugin_in_a_task_file(install: Install, tmp_path: Path) -> None:
    """A user's task names it with a variant, beside the eight."""
    install("same-metric", {"same": "Same"}, GOOD)
    folder = tmp_path / "mine"
    file = with_metric(folder, "{ name: same, metric: same, shown: Same, variant: { strip: true } }")
    check = check_task(file)
    assert check.sound
    assert check.lines()[-3].startswith("Same: 50.00   riddles:1|same|strip:yes|plugin:same-metric 1.2|refs:1|items:2")
    assert len(load_tasks(folder).tasks) == 9


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("metric: sane, shown: Same", r"riddles.yaml:\d+: there is no metric 'sane'; did you mean 'same'\?"),
        ("metric: same, shown: Same, variant: { stripp: true }", r"riddles.yaml:\d+: same: the plug-in same of same-m"),
    ],
)
def test_mistakes_in_a_task_file(install: Install, tmp_path: Path, entry: str, message: str) -> None:
    """File, line, and the nearest name, plug-ins among them."""
    install("same-metric", {"same": "Same"}, GOOD)
    with_metric(tmp_path / "mine", f"{{ name: same, {entry} }}")
    with pytest.raises(RegistryError, match=message):
        load_tasks(tmp_path / "mine")


def test_a_failing_plugin_leaves_the_other_numbers(install: Install, tmp_path: Path) -> None:
    """The built-in metrics of the same items give exactly what they give without it."""
    install("bad-metric", {"same": "Faulty"}, faulty("    def rows(self, pairs):\n        raise ValueError\n"))
    file = with_metric(tmp_path / "mine", "{ name: same, metric: same, shown: Same }")
    task = load_tasks(file.parent).task("riddles")
    lists = (["a b c", "d"], [("a b d",), ("d",)])
    alone = score_metric(task, task.metrics[1], make_items(task, *lists))
    items = make_items(task, *lists)
    with pytest.raises(PlugInError, match="same of bad-metric"):
        score_metric(task, task.metrics[0], items)
    assert score_metric(task, task.metrics[1], items) == alone
    check = check_task(file)
    assert not check.sound
    assert any(
        "same: the plug-in same of bad-metric 1.2 failed in rows" in problem.message for problem in check.problems
    )
    assert check.trials[0].score is None
    assert check.trials[1].score is not None


def test_a_guarded_metric_is_a_metric(install: Install) -> None:
    """isinstance holds, and the metric's own switches show through."""
    install("other", {"low": "Faulty"}, faulty("    higher_is_better: ClassVar[bool] = False\n", name="low"))
    metric = METRICS["low"]()
    assert isinstance(metric, Metric)
    assert metric.higher_is_better is False


@pytest.mark.parametrize(
    "body",
    [
        "    def rows(self, pairs):\n        raise ValueError(pairs.references[0][0])\n",
        # Finite for the corpus, not so in some resamples.
        "    def finish(self, totals):\n        return np.where(totals[..., 0] < 12, np.nan, 0.5)\n",
    ],
    ids=["rows", "resamples"],
)
def test_a_failing_plugin_is_a_missing_score(install: Install, tmp_path: Path, body: str) -> None:
    """Scoring goes on: the plug-in's score says why it is missing, every other figure and draw is as without it."""
    install("bad-metric", {"same": "Faulty"}, faulty(body))
    task = load_tasks(with_metric(tmp_path / "mine", "{ name: same, metric: same, shown: Same }").parent).task(
        "riddles"
    )
    without = task.model_copy(update={"metrics": task.metrics[1:]})
    lines = [f"word {number}" for number in range(20)]
    gold = [line if number < 12 else SECRET for number, line in enumerate(lines)]
    found, alone = (score(lines, gold, one, resampling=Resampling(200)) for one in (task, without))
    bad = found.scores[0]
    assert (bad.value, bad.ci) == (None, None)
    assert "the plug-in same of bad-metric 1.2" in str(bad.missing)
    assert SECRET not in found.model_dump_json()
    assert found.scores[1:] == alone.scores
    assert found.value is None


def test_a_plugin_that_cannot_be_made_is_a_missing_score(install: Install, tmp_path: Path) -> None:
    """It was there when the task was read, and is gone when it is scored."""
    place = install("good-metric", {"same": "Same"}, GOOD)
    task = load_tasks(with_metric(tmp_path / "mine", "{ name: same, metric: same, shown: Same }").parent).task(
        "riddles"
    )
    assert score(["a"], ["a"], task).scores[0].value == 100.0
    for file in place.rglob("*.py"):
        file.write_text("raise ImportError('gone')\n", encoding="utf-8")
    sys.modules.pop("good_metric")
    importlib.invalidate_caches()
    shutil.rmtree(place / "__pycache__", ignore_errors=True)
    bad = score(["a"], ["a"], task).scores[0]
    assert bad.value is None
    assert "same of good-metric" in str(bad.missing)
