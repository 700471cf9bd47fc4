"""`glge data build`: the raw files of a public dataset -> the benchmark's layout at level easy, with a manifest.

    OUT/easy/{task}_data/org_data/{train,dev,test}.{src,tgt} and manifest.json

Same inputs and options, same bytes. Everything appears when it is whole, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from glge.errors import DataError, did_you_mean
from glge.lines import printable
from glge.preparation import coqa, gigaword_pairs, personachat, squad, stories, xsum_files
from glge.preparation.manifest import NAME, Manifest, Step, hash_file
from glge.preparation.output import OutputFolder
from glge.preparation.raw import BadRecord
from glge.preparation.recipe import SPLITS, Builder, BuildOption, Job, Pair, Progress, Value

LEVEL = "easy"

BUILDERS: Mapping[str, Builder] = {
    builder.task: builder
    for builder in (
        stories.BUILDER,
        gigaword_pairs.BUILDER,
        xsum_files.BUILDER,
        squad.BUILDER,
        coqa.BUILDER,
        personachat.BUILDER,
    )
}

_ONLY_THERE = (
    "{} was collected for the benchmark and is released in its own archive only, in the finished layout: there are "
    "no raw files to build it from"
)
NO_BUILDER: Mapping[str, str] = {task: _ONLY_THERE.format(task) for task in ("msnews", "msqg")}

# Every character at which some program ends a line; none may stand inside one.
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

__all__ = ["BUILDERS", "NO_BUILDER", "BuildOption", "Builder", "build", "find_builder", "parse_options"]


def find_builder(task: str) -> Builder:
    """The builder of a task; DataError says why there is none.

    >>> find_builder("coqa").expects
    'coqa-train-v1.0.json and coqa-dev-v1.0.json'
    >>> find_builder("msqg")
    Traceback (most recent call last):
    glge.errors.DataError: msqg was collected for the benchmark and is released in its own archive only, in the \
finished layout: there are no raw files to build it from; unpack the archive and run `glge data check` on it
    """
    if task in NO_BUILDER:
        raise DataError(NO_BUILDER[task], hint="unpack the archive and run `glge data check` on it")
    if task not in BUILDERS:
        raise DataError(
            f"there is no builder for {printable(task)!r}", hint=did_you_mean(task, [*BUILDERS, *NO_BUILDER])
        )
    return BUILDERS[task]


def parse_options(task: str, settings: Iterable[str]) -> dict[str, Value]:
    """`KEY=VALUE` settings, as a command line takes them, to all options of a task's builder; DataError when wrong.

    >>> parse_options("coqa", ["turns=3", "case=keep"])["turns"]
    3
    >>> parse_options("coqa", ["turn=3"])
    Traceback (most recent call last):
    glge.errors.DataError: coqa has no option 'turn'; did you mean 'turns'?
    >>> parse_options("coqa", ["turns"])
    Traceback (most recent call last):
    glge.errors.DataError: not an option (expected KEY=VALUE, found 'turns')
    """
    given: dict[str, str] = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        key = key.strip().replace("-", "_")
        if not sign:
            raise DataError("not an option", expected="KEY=VALUE", found=repr(setting)[:60])
        if key in given:
            raise DataError(f"the option {printable(key)[:60]} is given twice")
        given[key] = value.strip()
    return find_builder(task).resolve(given)


def build(
    task: str,
    raw: str | Path,
    out: str | Path,
    *,
    options: Mapping[str, object] | None = None,
    force: bool = False,
    skip_bad: bool = False,
    progress: Progress | None = None,
    skipped: Callable[[BadRecord], None] | None = None,
) -> Manifest:
    """Build a task's data from the raw files in the folder `raw` into the data root `out`.

    `options`: those of `BUILDERS[task].all_options` that differ from their defaults. `skip_bad` skips records that
    cannot be used, counts them in the manifest and hands each to `skipped`; otherwise the first ends the build.
    `progress(what, done, total)` is called now and then; a total of 0 is unknown. Raises DataError, and then nothing
    is written: no builder, unknown option, missing or damaged file, bad record, nothing left, output there already
    without `force`.
    """
    builder = find_builder(task)
    chosen = builder.resolve(options or {})
    source = Path(raw)
    if not source.is_dir():
        raise DataError(
            "this is no folder" if source.exists() else "the folder does not exist",
            file=printable(str(source)),
            expected=f"the raw files of {task}: {builder.expects}",
        )
    splits = _splits(str(chosen["splits"]))
    chosen["splits"] = ",".join(splits)
    job = Job(source, chosen, splits, skip_bad=skip_bad, progress=progress, skipped=skipped)
    target = Path(out) / LEVEL / f"{task}_data" / "org_data"
    names = tuple(f"{split}.{side}" for split in splits for side in ("src", "tgt"))
    with OutputFolder(target, names=(*names, NAME), force=force) as folder:
        for split, pairs in builder.read(job).items():
            _write(folder, split, pairs, job)
        manifest = Manifest(
            command=f"data build {task}",
            task=task,
            level=LEVEL,
            seed=int(chosen["seed"]) if chosen.get("division") == "random" else None,
            options={**chosen, "skip_bad": skip_bad},
            versions=dict(sorted(job.versions.items())),
            inputs=job.inputs(),
            steps=_steps(job),
            outputs=tuple(hash_file(folder.path(name), name, lines=True) for name in names),
        )
        with folder.open(NAME) as file:
            file.write(manifest.text())
    return manifest


def _splits(setting: str) -> tuple[str, ...]:
    names = [name for name in re.split(r"[, ]+", setting) if name]
    wrong = next((name for name in names if name not in SPLITS), None)
    if wrong is not None or not names:
        raise DataError("option splits: not allowed", expected=",".join(SPLITS), found=repr(wrong or setting)[:60])
    return tuple(split for split in SPLITS if split in names)


def _steps(job: Job) -> tuple[Step, ...]:
    """The steps, those of one split together: splits are set up first and read afterwards."""
    order = {split: number for number, split in enumerate(job.splits)}
    return tuple(step.done() for step in sorted(job.steps, key=lambda step: order.get(step.name.split(":")[0], -1)))


def _write(folder: OutputFolder, split: str, pairs: Iterator[Pair], job: Job) -> None:
    count = 0
    with folder.open(f"{split}.src") as sources, folder.open(f"{split}.tgt") as targets:
        for source, target in pairs:
            for line in (source, target):
                assert line, split
                assert line.isascii() or not _LINE_ENDS.search(line), split
            sources.write(source + "\n")
            targets.write(target + "\n")
            count += 1
    if not count:
        reasons = ", ".join(
            f"{step.name}: {number:,} {reason}"
            for step in job.steps
            if step.name.startswith(split)
            for reason, number in sorted(step.dropped.items())
        )
        raise DataError(
            f"nothing is left of {split}",
            file=printable(str(job.raw)),
            found=f"dropped: {reasons}" if reasons else "no record",
        )
    job.step(f"{split}: lines written").kept = count
