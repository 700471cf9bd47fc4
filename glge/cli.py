"""The command `glge`: the only place that prints or exits.

Exit codes: 0 all well; 1 warnings, under `--strict`; 2 an error, told in one line; 130 Ctrl-C, 143 SIGTERM.
Reports go to standard output, everything else to standard error.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from glge import __version__
from glge.console import (
    Progress,
    bytes_of,
    check_output,
    colored,
    columns_text,
    cores,
    harmless,
    nowhere,
    problem_text,
    say,
    show,
    shown_name,
    width_of,
)
from glge.data_commands import data_app, pack
from glge.errors import GlgeError, SubmissionError, nearest

if TYPE_CHECKING:
    from glge.errors import Problem
    from glge.results import Report

app = typer.Typer(
    name="glge",
    help="Score text-generation systems on the eight GLGE tasks exactly as the benchmark's scripts do.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
meteor_app = typer.Typer(help="METEOR's tables.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(meteor_app, name="meteor")
app.add_typer(data_app, name="data")
app.command("pack")(pack)


class Format(str, Enum):
    """Formats of a report."""

    terminal = "terminal"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    html = "html"


class TableFormat(str, Enum):
    """Formats of a table of figures."""

    terminal = "terminal"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


class Test(str, Enum):
    """Tests of a difference."""

    bootstrap = "bootstrap"
    randomization = "randomization"


class ProblemFormat(str, Enum):
    """Formats of a list of problems."""

    terminal = "terminal"
    json = "json"


class Split(str, Enum):
    """Splits that can be scored."""

    test = "test"
    dev = "dev"


_SUFFIXES = {
    ".json": Format.json,
    ".csv": Format.csv,
    ".md": Format.markdown,
    ".tex": Format.latex,
    ".html": Format.html,
    ".htm": Format.html,
}

LevelOption = Annotated[str, typer.Option("--level", "-l", help="easy, medium, medium+ or hard.")]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", "-d", help="Folder of references in the official layout.  [default: $GLGE_DATA]"),
]
SplitOption = Annotated[Split, typer.Option(help="Which lines the predictions belong to.")]
TaskOption = Annotated[list[str] | None, typer.Option("--task", "-t", help="Only this task; may be repeated.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit with 1 when there are warnings.")]
SizeOption = Annotated[
    str, typer.Option("--size-limit", metavar="SIZE", help="Largest file that is read: 500M, 2G, or none.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to a file; its ending chooses the format.")
]
TablesOption = Annotated[
    Path | None, typer.Option("--tasks-folder", help="Task files to use.  [default: $GLGE_TASKS, else the package's]")
]
LinesOption = Annotated[
    Path | None,
    typer.Option("--lines", metavar="FILE", help="Also write every line's values: .jsonl, .csv or .parquet."),
]
ReferencesOption = Annotated[
    bool, typer.Option("--no-references", help="Leave every reference text out of the HTML page.")
]
NamesOption = Annotated[list[str] | None, typer.Option("--name", "-n", help="What a system is called; once a system.")]
ProfileOption = Annotated[
    str, typer.Option("--profile", help="official, libraries, or both with a comma: side by side.")
]
ResamplesOption = Annotated[int, typer.Option("--resamples", metavar="N", help="Bootstrap resamples, 100 or more.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the resamples.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes; 0 for one a core.")]
DigitsOption = Annotated[int, typer.Option(min=0, max=10, help="Decimals shown.")]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"glge {__version__}")
        raise typer.Exit


@app.command()
def score(
    predictions: Annotated[
        list[Path] | None,
        typer.Argument(help="A folder, a zip, or files named {task}.{level}.test", show_default=False),
    ] = None,
    level: Annotated[str | None, typer.Option("--level", "-l", help="easy, medium, medium+ or hard.")] = None,
    data: DataOption = None,
    split: SplitOption = Split.test,
    task: TaskOption = None,
    format: Annotated[Format | None, typer.Option("--format", "-f", help="How to show the report.")] = None,
    output: OutputOption = None,
    signatures: Annotated[bool, typer.Option("--signatures", help="Say what made each number.")] = False,
    intervals: Annotated[bool, typer.Option("--intervals", help="Show ROUGE-1.5.5's own 95 % intervals.")] = False,
    ci: Annotated[
        float | None,
        typer.Option("--ci", metavar="LEVEL", help="Bootstrap intervals of every figure, for example 95."),
    ] = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 12345,
    lines: LinesOption = None,
    no_references: ReferencesOption = False,
    digits: DigitsOption = 2,
    jobs: JobsOption = 0,
    strict: StrictOption = False,
    size_limit: SizeOption = "1G",
    from_table: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Recompute overall scores from a table of figures (JSON or CSV; 'published' for the leaderboard).",
        ),
    ] = None,
    profile: ProfileOption = "official",
    tasks_folder: TablesOption = None,
) -> None:
    """Score predictions against references and show every metric, the task means and the GLGE score.

    Example: glge score --level hard preds/ --data DATA
    """
    chosen = _format_of(format, output)
    if from_table is not None:
        if predictions or data or task:
            raise GlgeError("--from-table takes no predictions", hint="leave them out, or leave the table out")
        switches = {
            "--signatures": signatures,
            "--intervals": intervals,
            "--strict": strict,
            "--ci": ci,
            "--lines": lines,
            "--no-references": no_references,
        }
        for flag, given in switches.items():
            if given:
                raise GlgeError(f"{flag} has no meaning with --from-table", hint="leave it out")
        _score_table(from_table, level, chosen, output, digits, tasks_folder)
        return
    if not predictions:
        raise GlgeError("nothing to score was given", hint="glge score --level hard FOLDER --data DATA")
    if level is None:
        raise GlgeError("the level is missing", hint="add --level easy, medium, medium+ or hard")

    if ci is not None and intervals:
        raise GlgeError("--ci and --intervals are two kinds of intervals", hint="choose one")

    from glge.scoring import score_lines
    from glge.significance import Resampling
    from glge.tasks import load_tasks

    check_output(output)
    _check_lines(lines)
    names = _profiles(profile)
    if len(names) > 1 and (lines is not None or chosen == Format.html):
        raise GlgeError("lines and pages are of one profile", found=", ".join(names), hint="give one --profile")
    benchmark = load_tasks(tasks_folder)
    reports = []
    with Progress("scoring") as progress:
        for name in names:
            report, found = score_lines(
                predictions,
                level=level,
                data=data,
                split=split.value,
                tasks=task,
                jobs=jobs or cores(),
                size_limit=bytes_of(size_limit),
                benchmark=benchmark.profiled(name),
                progress=progress,
                resampling=None if ci is None else Resampling(resamples, seed, ci),
                lines=lines is not None or chosen == Format.html,
            )
            reports.append(report)
    if lines is not None:
        from glge.reports.as_lines import line_rows

        _write_lines(list(line_rows(found)), lines)
    if len(reports) > 1:
        from glge.reports.as_profiles import render_profiles
        from glge.reports.wording import Look

        look = Look(signatures=signatures, intervals=intervals, digits=digits)
        _deliver_text(render_profiles(reports, chosen.value, look), output, report.problems)
    elif chosen == Format.html:
        from glge.reports.as_html import render_html

        page = render_html(report, lines=found, references=not no_references, digits=digits)
        _deliver_text(page, output, report.problems, said=_overall(report, digits))
    else:
        _deliver(report, chosen, output, signatures=signatures, intervals=intervals, digits=digits)
    warnings = [problem for problem in report.problems if problem.severity == "warning"]
    if strict and warnings:
        raise typer.Exit(1)


@app.command()
def compare(
    systems: Annotated[
        list[Path], typer.Argument(help="Two or more folders or zips; the first is compared with.", show_default=False)
    ],
    level: Annotated[
        list[str], typer.Option("--level", "-l", help="easy, medium, medium+ or hard; once, or once a system.")
    ],
    data: DataOption = None,
    split: SplitOption = Split.test,
    task: TaskOption = None,
    name: NamesOption = None,
    test: Annotated[Test, typer.Option(help="Paired bootstrap, or approximate randomization.")] = Test.bootstrap,
    ci: Annotated[float, typer.Option("--ci", metavar="LEVEL", help="Level of the intervals of differences.")] = 95.0,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 12345,
    format: Annotated[Format | None, typer.Option("--format", "-f", help="How to show the comparison.")] = None,
    output: OutputOption = None,
    lines: LinesOption = None,
    no_references: ReferencesOption = False,
    digits: DigitsOption = 2,
    jobs: JobsOption = 0,
    size_limit: SizeOption = "1G",
    profile: Annotated[str, typer.Option("--profile", help="official or libraries.")] = "official",
    tasks_folder: TablesOption = None,
) -> None:
    """Compare systems with the first: differences of every metric, task and the GLGE score, and whether they are real.

    Example: glge compare base/ new/ --level hard --data DATA
    """
    chosen = _format_of(format, output)

    from glge.comparison import compare_lines
    from glge.reports.as_comparison import render_comparison
    from glge.significance import Resampling
    from glge.tasks import load_tasks

    check_output(output)
    _check_lines(lines)
    with Progress("comparing") as progress:
        comparison, found = compare_lines(
            systems,
            levels=level,
            data=data,
            split=split.value,
            tasks=task,
            names=name,
            test=test.value,
            resampling=Resampling(resamples, seed, ci),
            jobs=jobs or cores(),
            size_limit=bytes_of(size_limit),
            benchmark=load_tasks(tasks_folder).profiled(profile),
            progress=progress,
            lines=lines is not None or chosen == Format.html,
        )
    if lines is not None:
        from glge.reports.as_lines import difference_rows

        _write_lines(difference_rows(found, [system.name for system in comparison.systems]), lines)
    if chosen == Format.html:
        from glge.reports.as_html import render_html

        text = render_html(
            None, comparison=comparison, comparison_lines=found, references=not no_references, digits=digits
        )
    elif chosen == Format.terminal and output is None:
        text = render_comparison(comparison, digits=digits, color=colored(sys.stdout), width=width_of(sys.stdout))
    else:
        text = render_comparison(comparison, chosen.value, digits=digits)
    _deliver_text(text, output, comparison.problems)


@app.command()
def diversity(
    systems: Annotated[
        list[Path], typer.Argument(help="One or more folders or zips of predictions.", show_default=False)
    ],
    level: LevelOption,
    data: DataOption = None,
    split: SplitOption = Split.test,
    task: TaskOption = None,
    name: NamesOption = None,
    format: Annotated[TableFormat | None, typer.Option("--format", "-f", help="How to show the table.")] = None,
    output: OutputOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also draw the ratios: .png or .svg (extra plots).")
    ] = None,
    digits: DigitsOption = 2,
    size_limit: SizeOption = "1G",
    tasks_folder: TablesOption = None,
) -> None:
    """How varied the outputs are beside the references: Distinct-2 ratio, length, novelty, repetition.

    Example: glge diversity preds/ --level hard --data DATA --plot diversity.svg
    """
    by_ending = _SUFFIXES.get(output.suffix.lower()) if output else None
    if format is None and by_ending == Format.html:
        raise GlgeError("there is no HTML page of the diversity", hint="give --format, or --plot for a picture")
    chosen = format.value if format else by_ending.value if by_ending else "terminal"

    from glge.diversity_analysis import measure_submission
    from glge.reports.as_diversity import render_diversity
    from glge.tasks import load_tasks

    if name and len(name) != len(systems):
        raise GlgeError("give a name to each system", expected=f"{len(systems)} names", found=str(len(name)))
    check_output(output)
    if plot is not None:
        from glge.reports.as_plot import check_suffix, plot_diversity

        check_suffix(plot)
        check_output(plot)
    benchmark = load_tasks(tasks_folder)
    reports = []
    with Progress("measuring") as progress:
        for place, system in enumerate(systems):
            reports.append(
                measure_submission(
                    [system],
                    level=level,
                    data=data,
                    split=split.value,
                    tasks=task,
                    size_limit=bytes_of(size_limit),
                    benchmark=benchmark,
                    name=name[place] if name else None,
                    progress=progress,
                )
            )
    color, width = (colored(sys.stdout), width_of(sys.stdout)) if output is None else (False, None)
    text = render_diversity(
        reports[0] if len(reports) == 1 else reports, chosen, digits=digits, color=color, width=width
    )
    _deliver_text(text, output, tuple(problem for report in reports for problem in report.problems))
    if plot is not None:
        plot_diversity(reports, plot)
        say(f"wrote {shown_name(plot)}")


@app.command()
def validate(
    predictions: Annotated[
        list[Path], typer.Argument(help="A folder, a zip, or files named {task}.{level}.test", show_default=False)
    ],
    level: LevelOption,
    data: DataOption = None,
    split: SplitOption = Split.test,
    task: TaskOption = None,
    format: Annotated[ProblemFormat | None, typer.Option("--format", "-f", help="How to show the problems.")] = None,
    output: OutputOption = None,
    strict: StrictOption = False,
    size_limit: SizeOption = "1G",
    tasks_folder: TablesOption = None,
) -> None:
    """Find everything that is wrong or odd with a submission, without scoring it.

    Exit code 0: it can be scored; 1: warnings, with --strict; 2: errors.
    """
    from glge.reports import render_problems, write
    from glge.scoring import validate_submission
    from glge.tasks import load_tasks

    check_output(output)
    try:
        problems = validate_submission(
            predictions,
            level=level,
            data=data,
            split=split.value,
            tasks=task,
            size_limit=bytes_of(size_limit),
            benchmark=load_tasks(tasks_folder),
        )
    except SubmissionError as error:
        if not error.problems:
            raise
        problems = error.problems
    suffix = None if output is None else output.suffix.lower()
    chosen = format or (ProblemFormat.json if suffix == ".json" else ProblemFormat.terminal)
    if output is None:
        terminal = chosen == ProblemFormat.terminal
        show(problem_text(problems, sys.stdout) if terminal else render_problems(problems, "json"))
    else:
        write(render_problems(problems, chosen.value), output)
        say(f"wrote {shown_name(output)}")
    severities = {problem.severity for problem in problems}
    if "error" in severities:
        raise typer.Exit(2)
    if strict and "warning" in severities:
        raise typer.Exit(1)


@app.command()
def tasks(
    name: Annotated[
        str | None,
        typer.Argument(help="A task, to see its recipe; or new NAME, or check FILE.", show_default=False),
    ] = None,
    what: Annotated[
        str | None, typer.Argument(help="The task to write, or the file to check.", show_default=False)
    ] = None,
    format: Annotated[ProblemFormat, typer.Option("--format", "-f", help="terminal or json.")] = (
        ProblemFormat.terminal
    ),
    tasks_folder: TablesOption = None,
    force: Annotated[bool, typer.Option("--force", help="With new: replace a file that is there.")] = False,
) -> None:
    """List the tasks, show the recipe of one in words, write or check a task of your own.

    Examples: glge tasks coqa; glge tasks new riddles --tasks-folder mine; glge tasks check mine/riddles.yaml
    """
    if name in ("new", "check"):
        if what is None:
            raise GlgeError(
                f"tasks {name} needs {'a name' if name == 'new' else 'a file'}", hint=f"glge tasks {name} …"
            )
        _new_task(what, tasks_folder, force=force) if name == "new" else _check_task(Path(what), format)
        return
    if what is not None or force:
        raise GlgeError("this goes with new or check", found=what or "--force", hint="glge tasks new NAME")
    import json

    from glge.tasks import load_tasks

    benchmark = load_tasks(tasks_folder)
    if name is None:
        if format == ProblemFormat.json:
            show(benchmark.model_dump_json(indent=2) + "\n")
            return
        rows = [
            (task.name, task.title, task.family, f"{task.sizes['test']:,}", _metric_names(task))
            for task in benchmark.tasks.values()
        ]
        show(columns_text(("task", "title", "family", "test lines", "metrics"), rows, right=(3,)))
        levels = ", ".join(level.name + ("" if level.board else " (no board)") for level in benchmark.levels)
        show(f"\nlevels: {levels}\n`glge tasks NAME` shows a recipe.\n")
        return
    task = benchmark.task(name)
    if format == ProblemFormat.json:
        show(json.dumps(task.model_dump(), indent=2, ensure_ascii=False) + "\n")
        return
    lines = [f"{task.title} ({task.name}), recipe version {task.version}", task.description, ""]
    lines += [f"{number}. {step}" for number, step in enumerate(task.recipe(), 1)]
    sizes = ", ".join(f"{split} {size:,}" for split, size in task.sizes.items())
    words = f"{task.mean_words['source']:g} and {task.mean_words['target']:g}"
    lines += ["", f"published lines: {sizes}; mean words of source and target: {words}", "sources:"]
    lines += [f"  {source}" for source in task.sources]
    show("\n".join(lines) + "\n")


@app.command()
def metrics() -> None:
    """List the metrics and what each one equals."""
    from glge.metrics import METRICS

    rows = [(name, make().signature.split("|", 1)[1]) for name, make in METRICS.items()]
    show(columns_text(("metric", "signature"), rows))
    if plugins := METRICS.plugins():
        found = [
            (one.name, f"{one.package} {one.version}", one.fault or "in task files of your own") for one in plugins
        ]
        show("\n" + columns_text(("plug-in", "package", ""), found))
    show("\nOne page a metric: docs/metrics/\n")


@app.command()
def doctor(
    data: DataOption = None,
    cross_check: Annotated[
        bool, typer.Option("--cross-check", help="Also score the example with the METEOR jar (needs Java).")
    ] = False,
) -> None:
    """Show versions, optional parts and data found, and check the scorer against the shipped figures."""
    from glge.checkup import check_all

    sound = True
    for line in check_all(data, cross_check=cross_check):
        sound = sound and line.sound
        mark = "ok" if line.state == "ok" else line.state
        show(f"{line.topic:<14} {mark:<8} {line.text}\n")
    if not sound:
        raise typer.Exit(2)


@meteor_app.command("build")
def meteor_build(
    force: Annotated[bool, typer.Option("--force", help="Make the tables again.")] = False,
) -> None:
    """Convert METEOR's tables now instead of at the first use (containers, offline machines)."""
    from glge.metrics import meteor

    with Progress("METEOR tables") as progress:
        info = meteor.build(progress=lambda done, total: progress("", done, total), force=force)
    show(f"METEOR tables: {info}\n")


# ---------------------------------------------------------------------------------------------------
# Behind the commands


def _new_task(name: str, folder: Path | None, *, force: bool) -> None:
    from glge.reports import render_problems
    from glge.task_files import check_task, new_task

    if folder is None:
        raise GlgeError("the folder for the task is missing", hint=f"glge tasks new {name} --tasks-folder FOLDER")
    written = new_task(name, folder, force=force)
    for path in written:
        show(f"wrote {shown_name(path)}\n")
    check = check_task(written[0])
    # Notes say what is still to be filled in; whoever asked for a new file knows.
    serious = [problem for problem in check.problems if problem.severity != "note"]
    if serious:
        say(render_problems(serious, "terminal", color=colored(sys.stderr), width=width_of(sys.stderr)))


def _check_task(file: Path, format: ProblemFormat) -> None:
    from glge.reports import render_problems
    from glge.task_files import check_task

    check = check_task(file)
    if format == ProblemFormat.json:
        show(render_problems(check.problems, "json"))
    else:
        show(problem_text(check.problems, sys.stdout))
        show("".join(f"{harmless(line)}\n" for line in check.lines()))
    if not check.sound:
        raise typer.Exit(2)


def _score_table(
    table: str, level: str | None, chosen: Format, output: Path | None, digits: int, tasks_folder: Path | None
) -> None:
    from glge.board import read_table
    from glge.reports import write
    from glge.reports.as_table import render_table
    from glge.tasks import load_tasks

    if chosen == Format.html:
        raise GlgeError("there is no HTML page of a table", hint="terminal, json, csv, markdown or latex")
    benchmark = load_tasks(tasks_folder)
    if level is not None:
        benchmark.check_level(level)
    rows = [row for row in read_table(table, benchmark) if level is None or row.level == level]
    if not rows:
        raise GlgeError("the table has no row of this level", expected=str(level))
    text = render_table(rows, list(benchmark.tasks), chosen.value, digits=digits)
    if output is None:
        show(text)
    else:
        write(text, output)
        say(f"wrote {shown_name(output)}")


def _format_of(format: Format | None, output: Path | None) -> Format:
    """What was asked for, else what the ending of the output says; an ending that says nothing is refused."""
    if format is not None or output is None or output.suffix == "":
        return format or Format.terminal
    found = _SUFFIXES.get(output.suffix.lower())
    if found is None and output.suffix.lower() != ".txt" and not output.exists():
        known = ", ".join([*_SUFFIXES, ".txt"])
        raise GlgeError("the ending says no format", file=str(output), hint=f"known: {known}; or give --format")
    return found or Format.terminal


def _profiles(text: str) -> list[str]:
    """`official,libraries` -> both, each once."""
    return list(dict.fromkeys(filter(None, (name.strip() for name in text.split(","))))) or ["official"]


def _check_lines(lines: Path | None) -> None:
    if lines is None:
        return
    from glge.reports.as_lines import check_suffix

    check_suffix(lines)
    check_output(lines)


def _write_lines(rows: list[dict[str, Any]], lines: Path) -> None:
    from glge.reports import write
    from glge.reports.as_lines import render_lines

    write(render_lines(rows, lines), lines)
    say(f"wrote {shown_name(lines)}")


def _overall(report: Report, digits: int) -> str:
    overall = "–" if report.value is None else f"{report.value:.{digits}f}"
    return f"{report.benchmark} score ({report.level}, {report.split}): {overall}, {report.coverage} tasks; "


def _deliver_text(text: str, output: Path | None, problems: tuple[Problem, ...], said: str = "") -> None:
    """Print or write a text, then tell the problems."""
    from glge.reports import write

    if output is None:
        show(text)
    else:
        write(text, output)
        say(f"{said}wrote {shown_name(output)}")
    if problems:
        say(problem_text(problems, sys.stderr))


def _deliver(
    report: Report, chosen: Format, output: Path | None, *, signatures: bool, intervals: bool, digits: int
) -> None:
    from glge.reports import render, write

    options: dict[str, Any] = {"signatures": signatures, "intervals": intervals, "digits": digits}
    if output is not None:
        write(render(report, chosen.value, **options), output)
        say(f"{_overall(report, digits)}wrote {shown_name(output)}")
    elif chosen == Format.terminal:
        show(render(report, "terminal", color=colored(sys.stdout), width=width_of(sys.stdout), **options))
    else:
        show(render(report, chosen.value, **options))
    if (output is not None or chosen != Format.terminal) and report.problems:
        say(problem_text(report.problems, sys.stderr))


def _metric_names(task: Any) -> str:
    return " ".join(entry.shown for entry in task.metrics if entry.counted)


def _fail(message: str, code: int = 2) -> NoReturn:
    say(f"glge: {harmless(message)}")
    sys.exit(code)


def _fail_usage(error: Any) -> NoReturn:
    """What click says about a wrong call, in one line; the help where nothing was asked for."""
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        say(context.get_help())
        sys.exit(2)
    message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    wrong = re.search(r"'([^']*)' is not one of (.+)", message)
    close = nearest(wrong[1], re.findall(r"'([^']+)'", wrong[2])) if wrong else None
    hint = f"; did you mean '{close}'?" if close else ""
    _fail(message + hint + (f"; see `{context.command_path} --help`" if context else ""))


@contextmanager
def _ended_on_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the command as Ctrl-C does: files are left whole, no process stays behind."""
    ours = os.getpid()

    def stop(number: int, frame: object) -> None:
        if os.getpid() != ours:  # a scoring process has inherited this
            os._exit(128 + number)
        raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Whoever ignores them (nohup) or listens to them keeps doing so; only the main thread may ask.
        with suppress(ValueError):
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _nothing_left_running() -> Iterator[None]:
    """No process of ours outlives the command; after a failure they end now, not when through with their work."""
    threads = set(threading.enumerate())
    others = set(_processes())
    try:
        yield
    except BaseException:
        for process in set(_processes()) - others:
            process.kill()
        raise
    finally:
        # A pool that is still ending gets in the way of Python's own end, with a traceback.
        for thread in set(threading.enumerate()) - threads:
            if not thread.daemon:
                thread.join()


def _processes() -> list[Any]:
    if "multiprocessing" not in sys.modules:
        return []
    import multiprocessing

    return multiprocessing.active_children()


def main(arguments: list[str] | None = None) -> None:
    """Run the command; every error a user can cause ends in one line and exit code 2."""
    # Wrong usage is a ClickException; newer releases of typer carry click inside themselves.
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    run: Callable[..., Any] = typer.main.get_command(app)
    try:
        with _ended_on_signals(), _nothing_left_running():
            code = run(arguments, prog_name="glge", standalone_mode=False)
            if code == 130:  # newer releases of typer turn Ctrl-C into this code themselves
                raise KeyboardInterrupt
            if sys.stdout is not None:
                sys.stdout.flush()
    except typer.Exit as end:
        code = end.exit_code
    except usage_error as error:
        _fail_usage(error)
    except (KeyboardInterrupt, typer.Abort):
        _fail("stopped; nothing was written", 130)
    except SystemExit as end:
        code = end.code
        if isinstance(end.__context__, BrokenPipeError):  # while help was shown
            sys.stdout = nowhere()
            code = 0
    except GlgeError as error:
        _fail(str(error))
    except BrokenPipeError:
        sys.stdout = nowhere()
        code = 0
    except MemoryError:
        _fail("out of memory; try --jobs 1, or one task at a time with --task")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}")
    except Exception as error:
        # A fault of ours. Its message may hold text of a reference, so only its place is told.
        if os.environ.get("GLGE_DEBUG"):
            raise
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
        _fail(f"internal error ({type(error).__name__} at {place}); please report it. GLGE_DEBUG=1 shows the traceback")
    if isinstance(code, int) and code > 128:
        _fail("stopped; nothing was written", code)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
