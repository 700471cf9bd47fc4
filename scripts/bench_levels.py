"""Time `make_levels`, `explain` and `check_data` on data of Gigaword's size: wall seconds and peak memory.

    python scripts/bench_levels.py [--pairs 3803957] [--keep DIR]

Makes easy training data of the published size with realistic lengths and word frequencies (targets of 8.7
words, sources of 33.7), then runs each in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.bench_score import make_words  # noqa: E402

SIZES = {"dev": 189_651, "test": 1_951}
AT_ONCE = 200_000
WORDS = 120_000
CALLS = {
    "make_levels, all three": "from glge.preparation.levels import make_levels\nmake_levels(data, out, seed=1)",
    "make_levels, punctuation removed, case folded": (
        "from glge.preparation.levels import LevelOptions, make_levels\n"
        "options = LevelOptions(punctuation='remove', case='fold')\n"
        "make_levels(data, out / 'second', seed=1, options=options, levels=['hard'])"
    ),
    "explain": "from glge.preparation.levels import explain\nexplain(data, 'gigaword')",
    "check_data": (
        "from glge.preparation.check import check_data\nfrom glge.tasks import load_tasks\n"
        "check_data(data, benchmark=load_tasks())"
    ),
    "statistics_table": (
        "from glge.preparation.table1 import statistics_table\nfrom glge.tasks import load_tasks\n"
        "statistics_table(data, benchmark=load_tasks())"
    ),
}


def write_side(
    path: Path, lines: int, mean: float, words: list[str], weights: np.ndarray, rng: np.random.Generator
) -> None:
    """Write so many lines of words drawn by rank."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for start in range(0, lines, AT_ONCE):
            lengths = rng.poisson(mean - 1, min(AT_ONCE, lines - start)) + 1
            drawn = iter([words[place] for place in np.searchsorted(weights, rng.random(int(lengths.sum()))).tolist()])
            file.writelines(" ".join([next(drawn) for _ in range(length)]) + "\n" for length in lengths.tolist())


def make_data(root: Path, pairs: int) -> None:
    """The easy data of one task."""
    rng = np.random.default_rng(1)
    words = make_words(WORDS, rng)
    ranks = 1.0 / np.arange(1, len(words) + 1) ** 1.05
    weights = np.cumsum(ranks / ranks.sum())
    place = root / "easy" / "gigaword_data" / "org_data"
    place.mkdir(parents=True)
    for split, lines in {"train": pairs, **SIZES}.items():
        write_side(place / f"{split}.tgt", lines, 8.7, words, weights, rng)
        write_side(place / f"{split}.src", lines, 33.7, words, weights, rng)


def run(code: str, data: Path, out: Path) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of a fresh interpreter that runs the code."""
    start = time.perf_counter()
    head = f"from pathlib import Path\ndata, out = Path({str(data)!r}), Path({str(out)!r})\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", head + code], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Make the data, run everything, print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3_803_957)
    parser.add_argument("--keep", type=Path, help="keep the generated data here, or take what lies there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = options.keep or Path(temporary) / "data"
        if not (data / "easy").is_dir():
            start = time.perf_counter()
            make_data(data, options.pairs)
            print(f"{options.pairs:,} pairs made in {time.perf_counter() - start:.0f} s", flush=True)
        for name, code in CALLS.items():
            wall, cpu, peak = run(code, data, Path(temporary) / "levels")
            print(f"{name:<48} {wall:7.1f} s   processor {cpu:6.1f} s   peak {peak:6,.0f} MB", flush=True)


if __name__ == "__main__":
    main()
