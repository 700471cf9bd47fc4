"""Time the scorer on a full-size level and beside the original programs, in one run on the same text.

    python scripts/bench_score.py [--jobs 2] [--share 1.0] [--others 2000] [--keep DIR]

Makes a level of the published test sizes (73,339 lines) with realistic lengths and word frequencies,
scores it with `glge score` in a cold process, then gives the other programs the first `--others` lines
of each task they apply to, after the same post-processing, and prints both rates and their ratio.
Ratios compare CPU-bound programs in the same minute; wall-clock figures are for this machine only.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

# Mean and spread of target words, sentences a target, and lines a source (question generation repeats).
SHAPES = {
    "cnndm": (57.9, 18.0, 3.8),
    "gigaword": (8.7, 2.5, 1.0),
    "xsum": (21.1, 5.5, 1.0),
    "msnews": (9.7, 2.5, 1.0),
    "squadqg": (11.5, 3.5, 1.0),
    "msqg": (5.9, 2.0, 1.0),
    "coqa": (2.6, 1.8, 1.0),
    "personachat": (11.8, 4.0, 1.0),
}
SYLLABLES = "ba ce di fo gu la mer nin pol ra sta ter vin wor zel con pre der man ship tor".split()
SUFFIXES = ["", "", "", "s", "ed", "ing", "er", "ly", "ness", "ation", "ive", "ement", "al", "able"]
FUNCTION_WORDS = "the of and to a in that is was for on with as by at from his it an be are this not he she".split()


def make_words(size: int, rng: np.random.Generator) -> list[str]:
    """Words with English-like endings, the commonest first."""
    words = list(FUNCTION_WORDS)
    seen = set(words)
    while len(words) < size:
        length = 1 + int(rng.integers(3))
        word = "".join(rng.choice(SYLLABLES, length)) + str(rng.choice(SUFFIXES))
        if word in seen:
            word += str(len(words) % 97)
        seen.add(word)
        words.append(word)
    return words


def make_level(folder: Path, share: float, seed: int = 1) -> dict[str, int]:
    """Write predictions and references of every task; predictions keep about two thirds of the words."""
    from glge.tasks import load_tasks

    rng = np.random.default_rng(seed)
    words = np.array(make_words(60_000, rng))
    ranks = 1.0 / np.arange(1, len(words) + 1) ** 1.05
    cumulative = np.cumsum(ranks / ranks.sum())
    counts = {}
    (folder / "preds").mkdir(parents=True)
    for name, task in load_tasks().tasks.items():
        lines = max(50, int(task.sizes["test"] * share))
        counts[name] = lines
        mean, spread, sentences = SHAPES[name]
        lengths = np.clip(rng.normal(mean, spread, lines), 1, None).astype(int)
        targets, predictions = [], []
        for length in lengths:
            gold = words[np.searchsorted(cumulative, rng.random(length))].tolist()
            kept = rng.random(length) < 0.65
            other = words[np.searchsorted(cumulative, rng.random(length))].tolist()
            guess = [a if keep else b for a, b, keep in zip(gold, other, kept, strict=True)]
            if sentences > 1:
                parts = max(1, round(length / (mean / sentences)))
                cuts = [round(length * part / parts) for part in range(parts + 1)]
                pairs = list(itertools.pairwise(cuts))
                targets.append(" <S_SEP> ".join(" ".join(gold[a:b]) + " ." for a, b in pairs))
                predictions.append(" [X_SEP] ".join(" ".join(guess[a:b]) + " ." for a, b in pairs))
            else:
                end = " ?" if name in ("squadqg", "msqg") else " ." if name == "xsum" else ""
                targets.append(" ".join(gold) + end)
                predictions.append(" ".join(guess) + end)
        place = folder / "data" / "easy" / f"{name}_data" / "org_data"
        place.mkdir(parents=True)
        (place / "test.tgt").write_text("\n".join(targets) + "\n", encoding="utf-8")
        repeats = 1.06 if name == "squadqg" else 1.01
        sources = [f"answer {int(number / repeats)} [SEP] passage" for number in range(lines)]
        (place / "test.src").write_text("\n".join(sources) + "\n", encoding="utf-8")
        (folder / "preds" / f"{name}.hard.test").write_text("\n".join(predictions) + "\n", encoding="utf-8")
    return counts


def timed(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run_glge(
    folder: Path, jobs: int, tasks: list[str], more: tuple[str, ...] = ()
) -> tuple[float, float, dict[str, object]]:
    """A cold `glge score` process: wall seconds, peak megabytes of its largest process, the report."""
    output = folder / "report.json"
    command = [sys.executable, "-m", "glge", "score", "--level", "hard", str(folder / "preds")]
    command += ["--data", str(folder / "data"), "--jobs", str(jobs), "--output", str(output)]
    command += more
    for task in tasks:
        command += ["--task", task]
    start = time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return wall, peak, json.loads(output.read_text(encoding="utf-8"))


def main() -> None:
    """Make the level, time everything, print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--share", type=float, default=1.0, help="share of the published sizes")
    parser.add_argument("--others", type=int, default=2000, help="lines given to each other program")
    parser.add_argument("--keep", type=Path, help="keep the generated level here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary) / "level"
        counts = make_level(folder, options.share)
        print(f"{sum(counts.values()):,} lines in {len(counts)} tasks; {os.cpu_count()} cores, {options.jobs} jobs")
        helped = timed(
            lambda: subprocess.run([sys.executable, "-m", "glge", "--help"], check=True, capture_output=True)
        )
        print(f"glge --help, cold process                        {helped:7.2f} s")
        report_level(folder, options.jobs, counts)
        report_analyses(folder, options.jobs, list(counts), options.others)
        compare(folder, options.others)


def report_level(folder: Path, jobs: int, counts: dict[str, int]) -> None:
    """Whole level with and without the two METEOR tasks, then each task alone in one process."""
    rest = [name for name in counts if name not in ("squadqg", "msqg")]
    os.environ["GLGE_METEOR_JAR"] = "/nonexistent"  # without METEOR: everything else of all eight tasks
    wall, peak, _ = run_glge(folder, jobs, list(counts))
    del os.environ["GLGE_METEOR_JAR"]
    print(f"all eight tasks without METEOR, cold, {jobs} jobs      {wall:7.2f} s   peak {peak:,.0f} MB a process")
    wall, peak, report = run_glge(folder, jobs, list(counts))
    overall = report["value"]
    with_meteor = "with METEOR" if overall is not None else "METEOR missing"
    print(f"all eight tasks, {with_meteor}, cold, {jobs} jobs       {wall:7.2f} s   peak {peak:,.0f} MB a process")
    for name in [*rest, "squadqg", "msqg"]:
        wall, _, _ = run_glge(folder, 1, [name])
        print(f"  {name:<12} alone, cold, 1 job, {counts[name]:>6,} lines   {wall:7.2f} s")


def report_analyses(folder: Path, jobs: int, tasks: list[str], others: int) -> None:
    """Intervals, and the comparison of two systems, beside a plain score; sacreBLEU's bootstrap on one task."""
    from functools import partial

    from glge.metrics import METRICS, Pairs
    from glge.significance import Resampling, bootstrap, bootstrap_p

    second = folder / "second"
    second.mkdir(exist_ok=True)
    rng = np.random.default_rng(3)
    for file in (folder / "preds").iterdir():
        lines = []
        for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
            words = line.split(" ")
            kept = rng.random(len(words)) < 0.9
            lines.append(" ".join(a if keep else words[0] for a, keep in zip(words, kept, strict=True)))
        (second / file.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    plain, _, _ = run_glge(folder, jobs, tasks)
    sure, _, _ = run_glge(folder, jobs, tasks, ("--ci", "95"))
    print(
        f"\nwith intervals of every figure, 1,000 resamples      {sure:7.2f} s   {sure / plain:.2f} x a score without"
    )
    for test in ("bootstrap", "randomization"):
        command = [sys.executable, "-m", "glge", "compare", str(folder / "preds"), str(second), "--level", "hard"]
        command += ["--data", str(folder / "data"), "--jobs", str(jobs), "--test", test]
        wall = timed(lambda words=command: subprocess.run(words, check=True, capture_output=True))  # type: ignore[misc]
        print(f"compare two systems, {test:<14}                  {wall:7.2f} s   {wall / plain:.2f} x one score")

    def lines_of(path: Path) -> list[str]:
        return path.read_text(encoding="utf-8").split("\n")[:-1][:others]

    gold = lines_of(folder / "data" / "easy" / "msqg_data" / "org_data" / "test.tgt")
    systems = [lines_of(folder / "preds" / "msqg.hard.test"), lines_of(second / "msqg.hard.test")]

    def theirs() -> None:
        from sacrebleu.metrics import BLEU
        from sacrebleu.significance import PairedTest

        named = [("first", systems[0]), ("second", systems[1])]
        PairedTest(named, {"BLEU": BLEU()}, [gold], test_type="bs", n_samples=1000)()

    def ours(name: str) -> None:
        metric = METRICS[name]()
        rows = [metric.rows(Pairs.single(lines, gold)) for lines in systems]
        reduces = {side: partial(metric.reduce, mine) for side, mine in enumerate(rows)}
        draws = bootstrap(reduces, len(gold), Resampling(1000), "msqg")
        bootstrap_p(draws[1] - draws[0], metric.value(rows[1]) - metric.value(rows[0]))

    try:
        seconds = timed(theirs)
        ratios = {name: seconds / timed(partial(ours, name)) for name in ("coco_bleu4", "library_bleu")}
    except Exception as error:
        print(f"sacreBLEU's paired bootstrap not run: {error}")
    else:
        told = ", ".join(f"{ratio:.1f} x as long as for {name}" for name, ratio in ratios.items())
        print(f"sacreBLEU's paired bootstrap of BLEU, msqg, {len(gold):,} lines: {told}")


def compare(folder: Path, others: int) -> None:
    """The other programs and this one on the same first lines, in processes of one core."""
    from glge.metrics import METRICS, Pairs
    from glge.scoring import make_items
    from glge.tasks import load_tasks
    from tests import oracles

    print(f"\nother programs on the first {others:,} lines of a task (lines a second; ratio to glge in the same run)")
    for name, task in load_tasks().tasks.items():
        place = folder / "data" / "easy" / f"{name}_data" / "org_data"
        gold = (place / "test.tgt").read_bytes().decode().split("\n")[:-1][:others]
        predicted = (folder / "preds" / f"{name}.hard.test").read_bytes().decode().split("\n")[:-1][:others]
        sources = (place / "test.src").read_bytes().decode().split("\n")[:-1][:others]
        items = make_items(task, predicted, [(text,) for text in gold], sources)
        names = [entry for entry in task.metrics if entry.metric != "meteor"]

        def ours(entries: object = names, items: object = items) -> None:
            fresh = Pairs(items.pairs.predictions, items.pairs.references)  # type: ignore[attr-defined]
            for entry in entries:  # type: ignore[attr-defined]
                metric = entry.build()
                metric.summary(metric.rows(fresh))

        ours()
        own = min(timed(ours) for _ in range(3))
        lines = len(items.pairs)
        print(f"{name:<12} glge {lines / own:>12,.0f}/s")
        for label, work in programs(name, items, oracles):
            try:
                seconds = timed(work)
            except Exception as error:
                print(f"{'':<12} {label:<28} not run: {error}")
                continue
            print(f"{'':<12} {label:<28} {lines / seconds:>12,.0f}/s   {seconds / own:6.0f} x slower")
        if any(entry.metric == "meteor" for entry in task.metrics):
            meteor = METRICS["meteor"]()
            fresh = Pairs(items.pairs.predictions, items.pairs.references)
            try:
                mine = timed(lambda m=meteor, p=fresh: m.summary(m.rows(p)))  # type: ignore[misc]
            except Exception as error:
                print(f"{'':<12} METEOR not run: {error}")
                continue
            data = list(zip(items.pairs.predictions, items.pairs.references, strict=True))
            jar = timed(lambda d=data: oracles.meteor(d))  # type: ignore[misc]
            print(f"{'':<12} METEOR glge {lines / mine:,.0f}/s, jar {lines / jar:,.0f}/s: {jar / mine:.1f} x slower")


def programs(name: str, items: object, oracles: object) -> list[tuple[str, Callable[[], object]]]:
    """The other programs that score this task, each as a call on the prepared texts."""
    pairs = items.pairs  # type: ignore[attr-defined]
    predictions = list(pairs.predictions)
    references = [list(group) for group in pairs.references]
    first = [group[0] for group in references]
    found: list[tuple[str, Callable[[], object]]] = []
    if name in ("cnndm", "gigaword", "xsum", "msnews"):
        sentences = [(a.split("\n"), b.split("\n")) for a, b in zip(predictions, first, strict=True)]
        found.append(("ROUGE-1.5.5.pl", lambda: oracles.rouge155(sentences)))  # type: ignore[attr-defined]

        def rouge_score() -> None:
            from rouge_score import rouge_scorer

            scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeLsum"], use_stemmer=True)
            for prediction, reference in zip(predictions, first, strict=True):
                scorer.score(reference, prediction)

        found.append(("rouge-score", rouge_score))
    if name in ("squadqg", "msqg"):
        coco = [(a, b) for a, b in zip(predictions, references, strict=True)]
        found.append(("pycocoevalcap BLEU, ROUGE-L", lambda: oracles.coco(coco)))  # type: ignore[attr-defined]

        def sacrebleu() -> None:
            import sacrebleu as library

            library.corpus_bleu(predictions, [first], tokenize="none")

        found.append(("sacreBLEU BLEU-4", sacrebleu))
    if name == "personachat":

        def nltk() -> None:
            for prediction, reference in zip(predictions, first, strict=True):
                h, r = prediction.split(" "), reference.split(" ")
                for weights in ((1, 0, 0, 0), (0.5, 0.5, 0, 0)):
                    oracles.nltk_sentence_bleu(h, r, weights)  # type: ignore[attr-defined]

        found.append(("NLTK BLEU-1, BLEU-2", nltk))
    return found


if __name__ == "__main__":
    main()
