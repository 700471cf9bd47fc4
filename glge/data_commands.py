"""The commands that prepare data: `glge data …` and `glge pack`. What they do is in glge/preparation/."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from glge.console import (
    Progress,
    bytes_of,
    check_output,
    columns_text,
    problem_text,
    say,
    show,
    shown_name,
    width_of,
)
from glge.errors import GlgeError

data_app = typer.Typer(
    help="Prepare data: check, build, make levels, count, encode for models.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class TextFormat(str, Enum):
    """For people or for machines."""

    terminal = "terminal"
    json = "json"


DataArgument = Annotated[
    Path, typer.Argument(help="Folder in the official layout: easy/TASK_data/org_data/…", show_default=False)
]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Data folder to write to.", show_default=False)]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
TasksOption = Annotated[list[str] | None, typer.Option("--task", "-t", help="Only this task; may be repeated.")]
FolderOption = Annotated[
    Path | None, typer.Option("--tasks-folder", help="Task files to use.  [default: $GLGE_TASKS, else the package's]")
]
FormatOption = Annotated[TextFormat, typer.Option("--format", "-f", help="terminal or json.")]
ReportOption = Annotated[Path | None, typer.Option("--output", "-o", help="Write to a file; .json chooses json.")]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="A choice the sources leave open; may be repeated."),
]


def _deliver(report: Any, text: str, format: TextFormat, output: Path | None) -> None:
    """A report with a JSON form (`report.text()`), printed or written."""
    from glge.reports import write

    if format == TextFormat.json or (output is not None and output.suffix.lower() == ".json"):
        text = report.text()
    if output is None:
        show(text if text.endswith("\n") else text + "\n")
    else:
        write(text, output)
        say(f"wrote {shown_name(output)}")


def _settings(given: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for setting in given or ():
        key, equals, value = setting.partition("=")
        if not equals:
            raise GlgeError("an option is KEY=VALUE", found=setting)
        found[key.strip().replace("-", "_")] = value.strip()
    return found


@data_app.command()
def check(
    data: DataArgument,
    task: TasksOption = None,
    format: FormatOption = TextFormat.terminal,
    output: ReportOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when there are warnings.")] = False,
    tasks_folder: FolderOption = None,
) -> None:
    """Read every file of a data folder: lines, words, empties, duplicates, faults, and what can be scored with it.

    Exit code 0: sound; 1: warnings, with --strict; 2: errors.
    """
    from glge.preparation.check import check_data, check_text
    from glge.tasks import load_tasks

    check_output(output)
    with Progress("reading") as progress:
        report = check_data(data, benchmark=load_tasks(tasks_folder), tasks=task, progress=progress)
    _deliver(report, check_text(report, width=width_of(sys.stdout)), format, output)
    severities = {problem.severity for problem in report.problems}
    if "error" in severities:
        raise typer.Exit(2)
    if strict and "warning" in severities:
        raise typer.Exit(1)


@data_app.command()
def build(
    task: Annotated[str, typer.Argument(help="cnndm, gigaword, xsum, squadqg, coqa or personachat.")],
    raw: Annotated[
        Path | None, typer.Option("--raw", metavar="DIR", help="Folder of the raw files.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Data folder to write to.", show_default=False)
    ] = None,
    option: SettingsOption = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip and count records that cannot be used, instead of stopping.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Build a task's easy data from its raw files. Without --raw, say which files it takes and list its options.

    Example: glge data build squadqg --raw squad/ --out DATA --option splits=train,dev
    """
    from glge.preparation.build import build as build_task
    from glge.preparation.build import find_builder, parse_options

    builder = find_builder(task)
    options = parse_options(task, option or [])
    if raw is None:
        from glge.preparation.tables import wrap

        width = width_of(sys.stdout)
        show(wrap(f"{task} is built from: {builder.expects}", width=width) + "\n")
        for one in builder.all_options:
            choices = f" ({', '.join(map(str, one.choices))})" if one.choices else ""
            show(f"\n{one.name}={options[one.name]}\n")
            show(wrap(f"    {one.meaning}{choices}", width=width, indent="    ") + "\n")
        return
    if out is None:
        raise GlgeError("the folder to write to is missing", hint="add --out DIR")
    with Progress("building") as progress:
        manifest = build_task(
            task,
            raw,
            out,
            options=options,
            force=force,
            skip_bad=skip_bad,
            progress=progress,
            skipped=lambda fault: say(f"skipped: {fault}"),
        )
    steps = [
        (step.name, f"{step.kept:,}", "; ".join(f"{count:,} {why}" for why, count in step.dropped.items()))
        for step in manifest.steps
    ]
    show(columns_text(("step", "kept", "dropped"), steps, right=(1,)))
    show("\n" + columns_text(("file", "lines"), [(one.name, f"{one.lines or 0:,}") for one in manifest.outputs], (1,)))
    say(f"wrote {shown_name(out)}/easy/{task}_data/org_data and its manifest.json")


@data_app.command()
def levels(
    data: DataArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Data folder to write to.  [default: the folder itself]"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of medium's draw.")] = 0,
    level: Annotated[
        list[str] | None, typer.Option("--level", "-l", help="medium, medium+ or hard; may be repeated.")
    ] = None,
    task: TasksOption = None,
    option: SettingsOption = None,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="TASK", help="Write nothing: show the scores of a task, and the cut."),
    ] = None,
    near: Annotated[int, typer.Option("--near", min=0, help="With --explain: targets on either side of the cut.")] = 10,
    with_dev_and_test: Annotated[
        bool, typer.Option("--with-dev-and-test", help="Copy dev and test beside the training data.")
    ] = False,
    force: ForceOption = False,
    tasks_folder: FolderOption = None,
) -> None:
    """Make medium, medium+ and hard from easy's training data.

    Example: glge data levels DATA --seed 1 --option empty=last
    """
    from glge.preparation import levels as making
    from glge.tasks import load_tasks

    settings = _settings(option)
    known = making.option_choices()
    for name in settings:
        if name not in known:
            raise GlgeError(f"there is no option {name!r}", hint=f"known: {', '.join(known)}")
    options = making.LevelOptions(**settings)  # type: ignore[arg-type]
    benchmark = load_tasks(tasks_folder)
    if explain is not None:
        chosen = level[0] if level else "hard"
        with Progress("reading") as progress:
            found = making.explain(
                data, explain, level=chosen, options=options, near=near, benchmark=benchmark, progress=progress
            )
        show(making.explanation_text(found, width=width_of(sys.stdout)))
        return
    target = out or data
    with Progress("making levels") as progress:
        made = making.make_levels(
            data,
            target,
            seed=seed,
            options=options,
            levels=level or making.LEVELS,
            tasks=task,
            with_dev_and_test=with_dev_and_test,
            force=force,
            benchmark=benchmark,
            progress=progress,
        )
    show(making.levels_text(made, str(target), width=width_of(sys.stdout)))


@data_app.command()
def stats(
    data: DataArgument,
    level: Annotated[str, typer.Option("--level", "-l", help="Whose training data are counted.")] = "easy",
    task: TasksOption = None,
    format: FormatOption = TextFormat.terminal,
    output: ReportOption = None,
    tasks_folder: FolderOption = None,
) -> None:
    """Lines and mean words of whatever is there, beside the paper's Table 1."""
    from glge.preparation.table1 import statistics_table, statistics_text
    from glge.tasks import load_tasks

    check_output(output)
    with Progress("counting") as progress:
        found = statistics_table(data, benchmark=load_tasks(tasks_folder), level=level, tasks=task, progress=progress)
    _deliver(found, statistics_text(found, width=width_of(sys.stdout)), format, output)


class Kind(str, Enum):
    """The two sides of a data file."""

    src = "src"
    tgt = "tgt"


CutOption = Annotated[str, typer.Option(metavar="N", help="Word pieces kept of a line, or none for all.")]


def _cut(text: str, flag: str) -> int | None:
    if text.lower() == "none":
        return None
    if not text.isdigit() or int(text) < 1:
        raise GlgeError(f"{flag} is a number of word pieces, or none", found=text)
    return int(text)


@data_app.command()
def encode(
    path: Annotated[
        Path, typer.Argument(help="A data folder, or a single file with --task and --kind.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", metavar="PATH", help="Folder or file to write.", show_default=False)],
    vocab: Annotated[
        Path | None,
        typer.Option("--vocab", help="vocab.txt of BERT uncased.  [default: $GLGE_VOCAB, else a package's]"),
    ] = None,
    task: TasksOption = None,
    level: Annotated[list[str] | None, typer.Option("--level", "-l", help="Only this level; may be repeated.")] = None,
    split: Annotated[str, typer.Option("--split", help="Of a single file: train, dev or test.")] = "test",
    kind: Annotated[Kind | None, typer.Option("--kind", help="Of a single file: src or tgt.")] = None,
    cut_source: CutOption = "511",
    cut_target: CutOption = "511",
    cut_train_target: CutOption = "127",
    detokenizer: Annotated[str, typer.Option(help="cnndm: 2020 (as NLTK was then), or nltk (as installed).")] = "2020",
    force: ForceOption = False,
    tasks_folder: FolderOption = None,
) -> None:
    """Tokenise data for the baselines: BERT-uncased word pieces, cut as the published recipes do.

    Example: glge data encode DATA --out encoded --task cnndm
    """
    from glge.preparation import encoding
    from glge.tasks import load_tasks

    detokenizers = get_args(encoding.Detokenizer)
    if detokenizer not in detokenizers:
        raise GlgeError("there is no such detokenizer", expected=" or ".join(detokenizers), found=detokenizer)
    vocabulary = encoding.load_vocabulary(vocab)
    options = encoding.Options(
        cut_source=_cut(cut_source, "--cut-source"),
        cut_target=_cut(cut_target, "--cut-target"),
        cut_train_target=_cut(cut_train_target, "--cut-train-target"),
        detokenizer=detokenizer,  # type: ignore[arg-type]
    )
    benchmark = load_tasks(tasks_folder)
    rows: list[tuple[str, ...]] = []
    with Progress("encoding") as progress:
        if path.is_dir():
            folders = encoding.encode_data(
                path,
                out,
                benchmark=benchmark,
                vocabulary=vocabulary,
                tasks=task,
                levels=level,
                options=options,
                force=force,
                progress=progress,
            )
            rows = [(one.task, one.level, *_counted(file)) for one in folders for file in one.files]
        else:
            if not task or len(task) != 1 or kind is None:
                raise GlgeError("a single file needs its task and its side", hint="add --task NAME --kind src or tgt")
            count = encoding.encode_file(
                path,
                out,
                task=benchmark.task(task[0]).name,
                kind=kind.value,
                split=split,
                vocabulary=vocabulary,
                options=options,
                force=force,
                progress=progress,
            )
            rows = [(task[0], "", *_counted(count))]
    header = ("task", "level", "file", "lines", "empty", "cut", "unknown", "pieces")
    show(columns_text(header, rows, right=tuple(range(3, 8))))
    say(f"wrote {shown_name(out)}")


def _counted(file: Any) -> tuple[str, ...]:
    numbers = (file.lines, file.empty, file.cut, file.unknown, file.pieces)
    return (file.name, *(f"{number:,}" for number in numbers))


@data_app.command()
def decode(
    path: Annotated[Path, typer.Argument(help="Lines of word pieces, as a model wrote them.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.", show_default=False)],
    task: Annotated[str | None, typer.Option("--task", "-t", help="cnndm: its sentence mark is restored.")] = None,
    force: ForceOption = False,
    tasks_folder: FolderOption = None,
) -> None:
    """Join a model's word pieces to submission lines."""
    from glge.preparation.encoding import decode_file
    from glge.tasks import load_tasks

    name = None if task is None else load_tasks(tasks_folder).task(task).name
    with Progress("decoding") as progress:
        lines = decode_file(path, out, task=name, force=force, progress=progress)
    say(f"{lines:,} lines; wrote {shown_name(out)}")


class LogKind(str, Enum):
    """What prediction files are."""

    auto = "auto"
    lines = "lines"
    fairseq = "fairseq"


def pack(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files whose names say their task.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="PATH", help="Folder, or file ending in .zip.", show_default=False)
    ] = None,
    level: Annotated[str | None, typer.Option("--level", "-l", help="easy, medium, medium+ or hard.")] = None,
    map: Annotated[
        list[str] | None, typer.Option("--map", metavar="TASK=FILE", help="Which file is whose; may be repeated.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", "-d", help="Count lines by this data, not by the published sizes.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="test or dev.")] = "test",
    kind: Annotated[LogKind, typer.Option("--kind", help="Plain lines, or logs of fairseq-generate.")] = LogKind.auto,
    join: Annotated[
        bool | None, typer.Option("--join/--no-join", help="Join word pieces.  [default: of logs only]")
    ] = None,
    force: ForceOption = False,
    size_limit: Annotated[str, typer.Option("--size-limit", metavar="SIZE", help="Largest file read.")] = "1G",
    tasks_folder: FolderOption = None,
) -> None:
    """Collect prediction files under any names, or fairseq logs, into a valid submission; shows what is odd about it.

    Example: glge pack --map coqa=out.txt --map xsum=generate.log --level hard --out preds.zip
    """
    from glge.preparation import pack as packing
    from glge.tasks import load_tasks

    if out is None or level is None:
        raise GlgeError("pack needs a level and a place to write to", hint="add --level hard --out preds.zip")
    benchmark = load_tasks(tasks_folder)
    benchmark.check_level(level)
    given = packing.parse_map([*(map or ()), *(str(file) for file in files or ())], benchmark)
    if not given:
        raise GlgeError("nothing to pack was given", hint="give files, or --map TASK=FILE")
    expected = packing.expected_lines(data, given, level, split) if data is not None else None
    with Progress("packing"):
        packed = packing.pack(
            given,
            out,
            level,
            benchmark=benchmark,
            split=split,
            expected=expected,
            kind=kind.value,
            join=join,
            force=force,
            size_limit=bytes_of(size_limit),
        )
    rows = [
        (one.name, shown_name(Path(one.source)), one.kind, f"{one.lines:,}", "joined" if one.joined else "as it is")
        for one in packed.files
    ]
    show(columns_text(("file", "from", "kind", "lines", "pieces"), rows, right=(3,)))
    problems = (*packed.problems, *packed.submission.problems)
    if problems:
        show("\n" + problem_text(problems, sys.stdout))
    say(f"wrote {shown_name(packed.path)}")
