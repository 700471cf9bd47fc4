"""Table 1: counted on planted data, and the published values against the record of the paper's table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glge.errors import NoReferences, RegistryError
from glge.preparation.table1 import statistics_table, statistics_text
from glge.tasks import Benchmark, load_tasks
from tests.golden import SHARED, load

PUBLISHED = SHARED / "published" / "table1.json"
needs_published = pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published table is not beside this checkout")


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The shipped registry, coqa with sizes small enough to plant."""
    loaded = load_tasks()
    tasks = dict(loaded.tasks)
    tasks["coqa"] = tasks["coqa"].model_copy(
        update={"sizes": {"train": 4, "dev": 2, "test": 2}, "mean_words": {"source": 3.0, "target": 1.5}}
    )
    return loaded.model_copy(update={"tasks": tasks})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Coqa as the fixture's sizes say, but for one dev pair too many; sources of three words."""
    place = tmp_path / "easy" / "coqa_data" / "org_data"
    place.mkdir(parents=True)
    for split, count in {"train": 4, "dev": 3, "test": 2}.items():
        (place / f"{split}.src").write_bytes(b"one  two\tthree\n" * count)
        (place / f"{split}.tgt").write_bytes((b"a b\n" if split == "test" else b"a\n") * count)
    return tmp_path


@needs_published
@pytest.mark.parametrize("task", load_tasks().tasks)
def test_published_values(task: str) -> None:
    """The task files have the paper's sizes and mean words."""
    row = load(PUBLISHED)["rows"][task]
    known = load_tasks().tasks[task]
    assert [*known.sizes.values(), *known.mean_words.values()] == row[:5]
    assert list(known.sizes) == ["train", "dev", "test"]


def test_the_table(root: Path, benchmark: Benchmark) -> None:
    """Lines, means over each split and all, what differs and what agrees."""
    table = statistics_table(root, benchmark=benchmark)
    assert [row.task for row in table.rows] == ["coqa"]
    row = table.rows[0]
    assert {split: (size.lines, size.published, size.differs) for split, size in row.sizes.items()} == {
        "train": (4, 4, False),
        "dev": (3, 2, True),
        "test": (2, 2, False),
    }
    assert row.source.means == {"train": 3.0, "dev": 3.0, "test": 3.0, "all": 3.0}
    assert row.source.agrees == ("train", "dev", "test", "all")
    assert row.target.means == {"train": 1.0, "dev": 1.0, "test": 2.0, "all": 11 / 9}
    assert row.target.agrees == ()
    assert json.loads(table.text())["rows"][0]["sizes"]["dev"]["differs"] is True


def test_the_table_as_text(root: Path, benchmark: Benchmark) -> None:
    """What is there above what is published, differences marked."""
    text = statistics_text(statistics_table(root, benchmark=benchmark), width=80)
    assert text.split("\n")[:3] == [
        "task           train   dev   test   words src   words tgt",
        "coqa  here         4     3*     2         3.0         1.2*",
        "      Table 1      4     2      2         3.0         1.5",
    ]
    assert "* differs from the published value." in text
    assert max(map(len, statistics_text(statistics_table(root, benchmark=benchmark), width=30).split("\n"))) <= 30


def test_parts_of_a_task(root: Path, benchmark: Benchmark) -> None:
    """Missing and unreadable files are left out, a missing split has no lines and no mark."""
    place = root / "easy" / "coqa_data" / "org_data"
    (place / "test.tgt").unlink()
    (place / "train.src").write_bytes(b"\x1f\x8b\x08")
    for name in ("dev.src", "dev.tgt"):
        (place / name).unlink()
    row = statistics_table(root, benchmark=benchmark).rows[0]
    assert row.sizes["dev"].lines is None
    assert row.sizes["dev"].differs is False
    assert row.source.means == {"test": 3.0, "all": 3.0}
    assert "–" in statistics_text(statistics_table(root, benchmark=benchmark))


def test_another_level(root: Path, benchmark: Benchmark) -> None:
    """Training data of the level, dev and test of easy."""
    place = root / "hard" / "coqa_data" / "org_data"
    place.mkdir(parents=True)
    (place / "train.tgt").write_bytes(b"a\n")
    row = statistics_table(root, benchmark=benchmark, level="hard").rows[0]
    assert [size.lines for size in row.sizes.values()] == [1, 3, 2]


def test_nothing_there(tmp_path: Path, benchmark: Benchmark) -> None:
    """One line; unknown levels and tasks with the nearest."""
    with pytest.raises(NoReferences, match="no file of level easy lies here"):
        statistics_table(tmp_path, benchmark=benchmark)
    with pytest.raises(RegistryError, match="did you mean 'hard'"):
        statistics_table(tmp_path, benchmark=benchmark, level="hrad")
    with pytest.raises(RegistryError, match="did you mean 'coqa'"):
        statistics_table(tmp_path, benchmark=benchmark, tasks=["coq"])
