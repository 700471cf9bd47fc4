"""The HTML report: what is on the page, what is never on it, and how it behaves in a browser."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from glge.comparison import compare_lines
from glge.errors import Problem
from glge.reports import html_lines, html_page
from glge.reports.as_html import buckets, render_html
from glge.reports.html_lines import choose, line_values, marked, matches, words_of
from glge.results import Comparison, Report, Row, TaskLines
from glge.scoring import score_lines
from glge.significance import Resampling
from tests.test_reports import PROBLEMS, REPORTS, evil, task, whole

EXAMPLE = Path(__file__).resolve().parents[1] / "submissions" / "example"
BAD = "<script>alert(1)</script><img src=x onerror=alert(2)>\u2028\u202e\x00\x1b[31m&\"'</style></title>"


def made_lines(
    texts: list[tuple[str, str]], *, name: str = "xsum", notes: dict[int, str] | None = None, values: Any = None
) -> TaskLines:
    """Lines by hand: (prediction, reference) pairs, their value their place unless given."""
    figures = values if values is not None else [float(place) for place in range(len(texts))]
    return TaskLines(
        task=name,
        title=name.upper(),
        shown={"rougeL": "R-L", "distinct1": "D-1"},
        counted={"rougeL": True, "distinct1": True},
        values={"rougeL": figures, "distinct1": [100.0] * len(texts)},
        numbers=[(place,) for place in range(1, len(texts) + 1)],
        words=[len(prediction.split()) for prediction, _ in texts],
        notes=[(notes or {}).get(place, "") for place in range(len(texts))],
        predictions=[prediction for prediction, _ in texts],
        references=[(reference,) for _, reference in texts],
    )


class Page(HTMLParser):
    """A page taken apart: its tags with their attributes, and the text outside style and script."""

    VOID = frozenset({"meta", "input", "br", "link", "img"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All that can be read."""
        return "".join(self.texts)


@pytest.fixture(scope="module")
def scored() -> tuple[Report, list[TaskLines]]:
    """The example with intervals, and its lines."""
    return score_lines(
        EXAMPLE / "predictions", level="hard", data=EXAMPLE / "data", resampling=Resampling(resamples=200)
    )


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, list[list[TaskLines]]]:
    """The example and a copy that lacks the last words."""
    other = tmp_path_factory.mktemp("other")
    for file in (EXAMPLE / "predictions").iterdir():
        lines = file.read_text(encoding="utf-8").split("\n")[:-1]
        cut = [" ".join(line.split(" ")[:-2]) if place % 3 == 0 else line for place, line in enumerate(lines)]
        (other / file.name).write_text("\n".join(cut) + "\n", encoding="utf-8")
    return compare_lines(
        [EXAMPLE / "predictions", other],
        levels=["hard"],
        data=EXAMPLE / "data",
        resampling=Resampling(resamples=200),
        names=["example", "cut"],
    )


@pytest.fixture(scope="module")
def example(scored: Any, compared: Any) -> str:
    """A page with everything."""
    return render_html(scored[0], lines=scored[1], comparison=compared[0], comparison_lines=compared[1])


# --- what is on the page --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", REPORTS)
def test_every_report_makes_a_page(kind: str) -> None:
    """The same report gives the same page, well-formed, with no character that acts and none that cannot be written."""
    page = render_html(REPORTS[kind]())
    assert page == render_html(REPORTS[kind]())
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", page)
    assert page.encode("utf-8")
    Page(page)


def test_every_part_is_there(example: str) -> None:
    """The score with its interval, every task and metric, the comparison, lines, signatures; ids are unique."""
    page = Page(example)
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))
    assert {"scores", "comparison", "differing", "tasks", "reading", "finder"} <= set(ids)
    links = {found["href"] for tag, found in page.tags if tag == "a"}
    assert {link.removeprefix("#") for link in links if link} <= set(ids)
    for shown in ("METEOR", "(EM)", "squadqg", "Holm", "refs:1", "sha256", "Quartiles"):
        assert shown in page.text
    assert {"svg", "mark", "caption", "figcaption", "details"} <= {tag for tag, _ in page.tags}


def test_the_page_is_one_file(example: str) -> None:
    """Nothing is loaded and nothing but the page's own script may run."""
    page = Page(example)
    for tag, found in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "base"}
        assert not {"src", "style", "srcset", "action"} & set(found)
        assert not any(name.startswith("on") for name in found)
    policy = next(found["content"] for tag, found in page.tags if found.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert "url(" not in example
    assert "@import" not in example
    assert not re.search(r"https?://", example)


def test_a_missing_overall_score_is_explained() -> None:
    """Instead of a figure there is a dash and the reason."""
    text = Page(render_html(whole(skip=("coqa",), meteor=None))).text
    assert "no GLGE score: 5/8 tasks have a value; not submitted: coqa; a metric is missing: squadqg, msqg" in text
    assert "METEOR is missing: no Java found" in text
    assert "not submitted" in text


def test_problems_are_listed() -> None:
    """Errors first, each with its places and its hint."""
    text = Page(render_html(whole(problems=PROBLEMS))).text
    assert "1 error, 1 warning, 1 note." in text
    assert text.index("unknown task in the name") < text.index("empty predictions") < text.index("byte order mark")
    assert "(4,049 lines, first 3, 9, 14)" in text
    assert "check the decoder's minimum length" in text


def test_figures_are_those_of_the_report(scored: Any) -> None:
    """Each metric's figure and both ends of its interval stand in the table of scores."""
    report = scored[0]
    text = Page(render_html(report, digits=3)).text
    for result in report.tasks:
        for score in result.scores:
            if score.value is not None:
                assert f"{score.value:.3f}" in text
                assert f"[{score.ci.low:.3f}, {score.ci.high:.3f}]" in text


def test_rouge_intervals_stand_in_without_a_bootstrap() -> None:
    """A report without resampling shows the program's own."""
    text = Page(render_html(whole())).text
    assert "[41.09, 41.59]" in text
    assert "95 % intervals of ROUGE-1.5.5" in text


def test_a_comparison_can_stand_alone(compared: Any) -> None:
    """Without a report the difference is the headline, or the reason that there is none."""
    found, lines = compared
    page = Page(render_html(None, comparison=found, comparison_lines=lines))
    assert "Comparison of example and cut" in page.text
    assert "Where the systems differ most" in page.text
    part = found.model_copy(update={"overall": found.overall.model_copy(update={"differences": (None, None)})})
    assert "no overall score: 8 of 8 tasks compared" in Page(render_html(None, comparison=part)).text
    assert render_html(None)  # nothing at all is a page too


def test_more_than_two_systems(compared: Any) -> None:
    """Each system after the first has a table of its own; there is no one difference for the headline."""
    found, lines = compared
    three = found.model_copy(
        update={
            "systems": (*found.systems, found.systems[0].model_copy(update={"name": "third"})),
            "tasks": tuple(
                each.model_copy(update={"metrics": tuple(map(tripled, each.metrics)), "mean": tripled(each.mean)})
                for each in found.tasks
            ),
            "overall": tripled(found.overall),
        }
    )
    page = Page(render_html(None, comparison=three, comparison_lines=[[*each, each[0]] for each in lines]))
    assert "cut less example" in page.text
    assert "third less example" in page.text
    assert "no line’s value differs between example and third" in page.text


def tripled(row: Row) -> Row:
    """A row of two systems with the first once more."""
    nothing = row.differences[1].model_copy(update={"value": 0.0, "ci": None}) if row.differences[1] else None
    return row.model_copy(update={"values": (*row.values, row.values[0]), "differences": (*row.differences, nothing)})


def test_lines_without_a_value_are_said_to_have_none() -> None:
    """A task whose only metric is Distinct has no best line."""
    lines = made_lines([("a b", "a c")] * 3)
    only = TaskLines(**{**vars(lines), "values": {"distinct1": [100.0] * 3}})
    text = Page(render_html(None, lines=[only])).text
    assert "No metric of this task gives single lines a value." in text
    assert "The other 3 lines" in text


# --- nothing gets out -----------------------------------------------------------------------------


def test_hostile_text_stays_text(compared: Any) -> None:
    """Tags, quotes, line separators and control characters of every field are written out."""
    lines = made_lines([(BAD, BAD)] * 3, notes={0: BAD}, name=BAD)
    lines = TaskLines(**{**vars(lines), "shown": {"rougeL": BAD, "distinct1": BAD}, "title": BAD})
    found = compared[0].model_copy(
        update={"systems": tuple(each.model_copy(update={"name": BAD}) for each in compared[0].systems)}
    )
    problem = Problem(BAD, "warning", BAD, file=BAD, hint=BAD)
    report = evil().model_copy(update={"problems": (problem,)})
    other = TaskLines(**{**vars(lines), "values": {"rougeL": [9.0, 8.0, 7.0], "distinct1": [1.0] * 3}})
    page = render_html(
        report, lines=[lines], comparison=found, comparison_lines=[[lines, other]], title=BAD, references=True
    )
    parts = Page(page)
    assert sum(tag == "script" for tag, _ in parts.tags) == 1
    assert all(tag not in {"img", "link"} for tag, _ in parts.tags)
    assert not any(name.startswith("on") for _, found in parts.tags for name in found)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", page)
    assert "<script>alert(1)</script><img src=x onerror=alert(2)>\\u2028" in parts.text


def test_without_references_no_word_of_them_is_there(scored: Any, compared: Any) -> None:
    """No reference text, no marks that would give its words away, no notes that speak of it."""
    texts = [(f"the word{place} here", f"SENTINEL{place} the word{place} yonder") for place in range(400)]
    notes = {0: "one word: BLEU counts 0", 1: "empty reference: left out of ROUGE"}
    lines = made_lines(texts, notes=notes)
    other = made_lines(texts, values=[50.0] * len(texts))
    page = render_html(
        scored[0],
        lines=[lines, *scored[1]],
        comparison=compared[0],
        comparison_lines=[[lines, other], *compared[1]],
        references=False,
    )
    parts = Page(page)
    assert "SENTINEL" not in page
    assert "yonder" not in page
    assert all(tag != "mark" for tag, _ in parts.tags)
    assert "one word: BLEU counts 0" not in page
    assert "empty reference" not in page
    assert "Reference texts are left out." in parts.text
    for task_lines in scored[1]:
        for item, group in enumerate(task_lines.references):
            for reference in group:
                if len(reference.split()) > 3:
                    assert html_page.text(reference) not in page or reference in task_lines.predictions[item]
    assert "SENTINEL" in render_html(None, lines=[lines])


# --- lines ----------------------------------------------------------------------------------------


def test_best_worst_and_a_sample() -> None:
    """A large task shows its ends and a seeded sample, says so, and stays small."""
    lines = made_lines([(f"prediction {place}", f"reference {place}") for place in range(5000)])
    chosen = choose(lines, line_values(lines))
    assert chosen.worst == list(range(10))
    assert chosen.best == list(range(4999, 4989, -1))
    assert len(chosen) == html_lines.MOST
    assert chosen.drawn == sorted(set(chosen.drawn) - {*chosen.worst, *chosen.best})
    assert chosen == choose(lines, line_values(lines))
    text = Page(render_html(None, lines=[lines])).text
    assert "180 of the other 4,980 lines, drawn at random (seed 12345)" in text


@pytest.mark.parametrize("count", [0, 1, 2, 3, 19, 20, 21])
def test_few_lines_are_all_there_once(count: int) -> None:
    """No line is both best and worst, none is lost."""
    lines = made_lines([("a b c", "a b d")] * count)
    chosen = choose(lines, line_values(lines))
    assert sorted([*chosen.worst, *chosen.best, *chosen.drawn]) == list(range(count))
    Page(render_html(None, lines=[lines]))


def test_long_texts_are_cut_and_fewer() -> None:
    """A page stays readable when predictions run away."""
    lines = made_lines([("word " * 5000, "word other " * 3000)] * 300)
    page = render_html(None, lines=[lines])
    assert len(page) < 1_500_000
    assert "24,000 more characters" in Page(page).text


def test_values_that_are_not_finite_are_missing() -> None:
    """A NaN is a dash and has no rank."""
    lines = made_lines([("a", "a"), ("b", "b"), ("c", "c")], values=[float("nan"), 1.0, 2.0])
    assert line_values(lines) == [None, 1.0, 2.0]
    assert "nan" not in Page(render_html(None, lines=[lines])).text


def test_values_above_100_fit_on_the_axis() -> None:
    """Smoothed BLEU goes up to 133.3: the axes end at 140."""
    lines = made_lines([("a b", "a b")] * 8, values=[133.3] * 8)
    page = render_html(None, lines=[lines])
    assert "133 to 140: 8" in page or "126 to 133: 8" in page or "133" in Page(page).text
    assert ">140<" in page


@pytest.mark.parametrize(
    ("first", "second", "left", "right"),
    [
        ("", "", [], []),
        ("a", "", [0], []),
        ("the cat sat", "The cat sat", [3, 3, 3], [3, 3, 3]),
        ("a b c d", "c d a b", [2, 2, 2, 2], [2, 2, 2, 2]),
        ("a a a", "a", [1, 0, 0], [1]),
        ("x , y", "z , w", [0, 0, 0], [0, 0, 0]),
        ("a [X_SEP] b", "a [X_SEP] b", [1, 0, 1], [1, 0, 1]),
        ("a b x b c", "a b c", [2, 2, 0, 0, 1], [2, 2, 1]),
    ],
)
def test_longest_common_ngrams(first: str, second: str, left: list[int], right: list[int]) -> None:
    """The longest first, each word once, no lone punctuation, no separators."""
    assert matches(words_of(first), words_of(second)) == (left, right)


def test_marks_stand_around_their_words() -> None:
    """Single words are one kind of mark, longer n-grams another; touching n-grams stay apart."""
    assert marked(words_of("a <b> c d"), [0, 0, 2, 2, 0, 1]) == ("a &lt;<mark class=g>b&gt;</mark> c <mark>d</mark>")
    assert marked(words_of("a b c d"), [2, 2, 2, 2]) == "<mark class=g>a b</mark> <mark class=g>c d</mark>"


def test_all_references_of_a_line_are_shown_and_matched() -> None:
    """A word is marked by the best of several references; beyond five they are counted."""
    lines = made_lines([("red door", "x")] * 2)
    many = ("the red door", "door", *(f"other {place}" for place in range(5)))
    lines = TaskLines(**{**vars(lines), "references": [many, ("x",)], "numbers": [(1, 4, 9), (2,)]})
    page = render_html(None, lines=[lines])
    assert "<mark class=g>red door</mark>" in page
    assert "and 2 more" in Page(page).text
    assert "9 with 1, 4" in Page(page).text


def test_buckets_hold_every_line_once() -> None:
    """Ranges follow each other; lines of one length stay together."""
    words = [1] * 30 + [2, 2, 5, 8, 8, 8, 13] * 3
    found = buckets(words)
    assert all(low <= high for low, high in found)
    assert sum(low <= word <= high for word in words for low, high in found) == len(words)
    assert buckets([7]) == [(7, 7)]


def test_a_task_by_itself_is_not_called_by_a_hostile_name() -> None:
    """Addresses inside the page are ours, whatever a task is called."""
    page = Page(render_html(whole().model_copy(update={"tasks": (task('"><b>'),), "value": None})))
    assert all(re.fullmatch(r"[a-z]+\d*", found["id"] or "") for _, found in page.tags if "id" in found)


# --- in a browser ---------------------------------------------------------------------------------

BROWSER = os.environ.get("CHROMIUM") or next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, where there is one."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("no Chromium here")
    with sync_api.sync_playwright() as driver:
        try:
            found = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        except sync_api.Error as error:
            pytest.skip(f"Chromium does not start: {str(error).splitlines()[0]}")
        yield found
        found.close()


class Watched:
    """A page in the browser that remembers everything it must not do."""

    def __init__(self, browser: Any, file: Path, **context: Any) -> None:
        self.faults: list[str] = []
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", self.dismiss)
        self.page.on("request", lambda request: self.faults.append(request.url))
        self.page.goto(file.as_uri())
        # The page itself is the one thing that is asked for.
        assert self.faults == [file.as_uri()]
        self.faults.clear()

    def dismiss(self, dialog: Any) -> None:
        """Note a dialog and close it."""
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def column(self, table: str, place: int) -> list[str]:
        """The texts of a column, first lines only."""
        cells = self.page.locator(f"{table} > tbody > tr > :nth-child({place})")
        return [text.split("\n")[0] for text in cells.all_inner_texts()]

    def said(self, pattern: str) -> None:
        """Wait until the finder says this."""
        import playwright.sync_api

        playwright.sync_api.expect(self.page.locator("#finder output")).to_have_text(re.compile(f"^{pattern}$"))

    def shown(self) -> int:
        """How many lines can be seen or opened."""
        return int(self.page.locator("table.lines > tbody > tr:not([hidden])").count())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, scored: Any, compared: Any) -> Path:
    """A page on disk with the example, and lines that try to get out."""
    texts = [(f"plain words {place}", f"other words {place}") for place in range(40)]
    texts[7] = (f"{BAD} zebra", f"{BAD} zebra crossing")
    lines = made_lines(texts, name="evil", notes={7: "odd line", 9: "empty prediction; odd line"})
    place = tmp_path_factory.mktemp("page") / "report.html"
    page = render_html(
        scored[0], lines=[*scored[1], lines], comparison=compared[0], comparison_lines=compared[1], title=BAD
    )
    place.write_text(page, encoding="utf-8")
    return place


def test_sorting(browser: Any, file: Path) -> None:
    """A heading sorts up, down and back; aria-sort says which; only one column is sorted."""
    watched = Watched(browser, file, viewport={"width": 1280, "height": 900})
    table = "section#t9 > table.lines"
    before = watched.column(table, 2)
    head = watched.page.locator(f"{table} th", has_text="Value")
    assert head.get_attribute("aria-sort") == "none"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert watched.column(table, 2) == sorted(before, key=float)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert watched.column(table, 2) == sorted(before, key=float, reverse=True)
    watched.page.locator(f"{table} th", has_text="Prediction").get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "none"
    texts = watched.column(table, 6)
    assert texts == sorted(
        texts, key=lambda text: (text[0].isalnum(), [int(part) for part in re.findall(r"\d+", text)])
    )
    head.get_by_role("button").click()
    head.get_by_role("button").click()
    head.get_by_role("button").click()
    assert watched.column(table, 2) == before
    assert not watched.faults


def test_tasks_sort_as_groups(browser: Any, file: Path) -> None:
    """In the table of scores a task moves with its metrics, by its mean."""
    watched = Watched(browser, file)
    groups = watched.page.locator("table.scores > tbody")
    before = groups.all_inner_texts()
    watched.page.locator("table.scores th", has_text="Value").get_by_role("button").click()
    means = [groups.nth(place).locator("td").first.inner_text().split("\n")[0] for place in range(groups.count())]
    known = [float(text) for text in means if text[0].isdigit()]
    assert known == sorted(known)
    assert sorted(map(str.strip, groups.all_inner_texts())) == sorted(map(str.strip, before))
    assert not watched.faults


def test_filtering(browser: Any, file: Path) -> None:
    """Text, task, kind and note narrow the lines, together; the count is said; folded tables open and close."""
    watched = Watched(browser, file)
    page = watched.page
    total = watched.shown()
    status = page.locator("#finder output")
    assert status.inner_text() == f"{total:,} lines on this page"
    page.get_by_label("Find in lines").fill("ZEBRA")
    watched.said(r"1 of .*")
    assert watched.shown() == 1
    page.get_by_label("Find in lines").fill("plain words 2")
    watched.said(r"11 of .*")
    assert watched.shown() == 11
    folded = page.locator("section#t9 details", has_text="The other").first
    assert folded.get_attribute("open") is not None
    page.get_by_role("button", name="Show all").click()
    watched.said(f"{total:,} lines on this page")
    assert folded.get_attribute("open") is None
    page.locator("#finder [name=note]").select_option("odd line")
    assert watched.shown() == 2
    page.locator("#finder [name=note]").select_option("*")
    page.locator("#finder [name=task]").select_option(label="evil")
    assert watched.shown() == 2
    assert page.locator("[data-section]:visible").count() == 1
    page.locator("#finder [name=note]").select_option("")
    page.locator("#finder [name=set]").select_option("worst")
    assert watched.shown() == 10
    page.get_by_label("Find in lines").fill("nothing has this")
    watched.said(r"0 of .*")
    assert page.locator("[data-section]:visible").count() == 0
    assert page.locator("table.scores").is_visible()
    assert not watched.faults


def test_keyboard(browser: Any, file: Path) -> None:
    """Tab reaches the skip link, the links, the headings; Enter and Space sort; details open; focus can be seen."""
    watched = Watched(browser, file)
    page = watched.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.tagName + ' ' + document.activeElement.textContent"))
        if reached[-1] == "BUTTON Value":
            break
    assert "BUTTON Dark page" in reached
    assert reached[-1] == "BUTTON Value"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    head = page.locator("table.scores th", has_text="Value")
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert page.evaluate("document.activeElement.textContent") == "Value"
    summary = page.locator("summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert summary.locator("..").get_attribute("open") is not None
    assert not watched.faults


def test_a_hostile_line_is_inert(browser: Any, file: Path) -> None:
    """The script of a line is read, not run; nothing is asked of the network, nothing complains."""
    watched = Watched(browser, file)
    page = watched.page
    page.get_by_label("Find in lines").fill("<script>alert(1)")
    watched.said(r"1 of .*")
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    assert page.locator("td.t", has_text="<script>alert(1)</script>").count() == 2
    page.wait_for_timeout(200)
    assert not watched.faults


def test_the_policy_stops_what_would_slip_through(browser: Any, tmp_path: Path) -> None:
    """Even markup that is not escaped could run nothing and load nothing."""
    place = tmp_path / "hole.html"
    hole = "<script>document.title='run'</script><img src='http://127.0.0.1:9/x' onerror=\"document.title='run'\">"
    place.write_text(html_page.shell("whole", hole), encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(place.as_uri())
    page.wait_for_timeout(200)
    assert page.title() == "whole"
    assert any("Content Security Policy" in text for text in said)


def test_light_and_dark(browser: Any, file: Path) -> None:
    """The page follows the system, the button turns it, and text stands out from the paper in both."""
    papers = []
    for scheme in ("light", "dark"):
        watched = Watched(browser, file, color_scheme=scheme)
        paper = "getComputedStyle(document.documentElement).backgroundColor"
        first = watched.page.evaluate(paper)
        watched.page.locator("#theme").click()
        papers.append((first, watched.page.evaluate(paper)))
        assert not watched.faults
        for _ in range(2):
            for pair in (("--ink", "--paper"), ("--soft", "--paper"), ("--accent", "--paper"), ("--ink", "--run")):
                assert contrast(watched.page, *pair) >= 4.5, (scheme, pair)
            watched.page.locator("#theme").click()
    assert papers[0] == papers[1][::-1]
    assert papers[0][0] != papers[0][1]


def contrast(page: Any, first: str, second: str) -> float:
    """WCAG's ratio of two colours of the page."""
    lights = []
    for name in (first, second):
        value = page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()")
        digits = value.lstrip("#")
        digits = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
        parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("width", [320, 360, 700, 1280])
def test_no_page_scrolls_sideways(browser: Any, file: Path, width: int) -> None:
    """At every width, everything opened, the page is as wide as its window and no text is cut off."""
    watched = Watched(browser, file, viewport={"width": width, "height": 800})
    watched.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert watched.page.evaluate("document.documentElement.scrollWidth") == width
    wide = watched.page.evaluate(
        """[...document.querySelectorAll("td, p, dd, li, caption, figcaption, summary")].filter((each) => {
            const box = each.getBoundingClientRect();
            const cut = each.scrollWidth > each.clientWidth + 1 && !each.querySelector("svg");
            return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1 || cut);
        }).map((each) => each.textContent.slice(0, 60))"""
    )
    assert wide == []
    assert not watched.faults


def test_without_javascript(browser: Any, file: Path) -> None:
    """All figures and lines can be read; what would do nothing is not there."""
    watched = Watched(browser, file, java_script_enabled=False)
    page = watched.page
    assert page.locator("table.scores").is_visible()
    assert page.locator("section#t9 > table.lines").is_visible()
    assert not page.locator("#finder").is_visible()
    assert not page.locator("#theme").is_visible()
    assert page.locator("th button").count() == 0
    page.locator("summary").first.click()
    assert page.locator("details").first.get_attribute("open") is not None


def test_print_leaves_the_controls_out(browser: Any, file: Path) -> None:
    """On paper there is no bar to find lines, and the page is white whatever the screen was."""
    watched = Watched(browser, file, color_scheme="dark")
    for turned in range(3):
        watched.page.emulate_media(media="print", color_scheme="dark")
        paper = watched.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert paper == "rgb(255, 255, 255)", turned
        watched.page.emulate_media(media="screen", color_scheme="dark")
        watched.page.locator("#theme").click()
    watched.page.emulate_media(media="print")
    assert not watched.page.locator("#finder").is_visible()
    assert watched.page.locator("table.scores").is_visible()
