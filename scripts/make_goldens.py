"""Make the golden files that ship with the project, from the original programs.

    python scripts/make_goldens.py            all of them
    python scripts/make_goldens.py example    only submissions/example/expected.json

Nothing of `glge` is imported: the post-processing below is a second implementation, written from the published
scripts to be plainly right and slow, and every score comes out of the original programs (tests/oracles.py says
which). NLTK 3.5, whose smoothing the published PersonaChat figures have, is installed from the registry into a
folder that is thrown away afterwards.

Writes submissions/example/expected.json and tests/goldens/{rouge,coco,personachat}_pairs.json.
"""

from __future__ import annotations

import importlib
import json
import statistics
import string
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "submissions" / "example"
GOLDENS = ROOT / "tests" / "goldens"
DATE = "2026-12-01"
LEVEL = "hard"
TASKS = ("cnndm", "gigaword", "xsum", "msnews", "squadqg", "msqg", "coqa", "personachat")
PERSONACHAT_WEIGHTS = {"bleu1": (1.0, 0.0, 0.0, 0.0), "bleu2": (0.5, 0.5, 0.0, 0.0)}

Json = dict[str, Any]


sys.path.insert(0, str(ROOT))
oracles = importlib.import_module("tests.oracles")


# The published post-processing, again -------------------------------------------------------------------------------

BRACKETS = ["( -LRB-", ") -RRB-", "[ -LSB-", "] -RSB-", "{ -LCB-", "} -RCB-"]
UPPER = dict(entry.split() for entry in BRACKETS)
LOWER = {**{sign: name.lower() for sign, name in UPPER.items()}, "[UNK]": "UNK", "&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass
class Reader:
    """The state of fix-tokens: what was read, what was written, which quotes are open."""

    words: list[str]
    at: int = 0
    double_open: bool = False
    single_open: bool = False
    glued_dash: bool = False

    def __post_init__(self) -> None:
        self.out: list[str] = []

    def ahead(self, distance: int) -> str | None:
        """The word `distance` words further on, or None past the end."""
        place = self.at + distance
        return self.words[place] if place < len(self.words) else None

    @property
    def last(self) -> str | None:
        """The word written last, or None at the start."""
        return self.out[-1] if self.out else None


def fix_tokens(text: str, names: dict[str, str]) -> str:
    """The scripts' repair of word-piece output: one pass, each word by the first rule that holds."""
    reader = Reader(text.split())
    while reader.at < len(reader.words):
        after_dash = reader.glued_dash
        reader.glued_dash = False
        reader.at += _read_one(reader, names, after_dash)
    return " ".join(reader.out)


def _read_one(r: Reader, names: dict[str, str], after_dash: bool) -> int:
    """Write out the word at hand; returns how many words were used up."""
    word, following, last = r.words[r.at], r.ahead(1), r.last
    if word in names:
        r.out.append(names[word])
        return 1
    if word == '"':
        r.out.append("''" if r.double_open else "``")
        r.double_open = not r.double_open
        return 1
    if word == "'" and last is not None and last.endswith("n") and following == "t":
        r.out[-1] = last[:-1]
        r.out.append("n't")
        return 2
    if word == "'" and following in ("s", "d", "ll"):
        r.out.append(f"'{following}")
        return 2
    if word == "'":
        r.out.append("'" if r.single_open else "`")
        r.single_open = not r.single_open
        return 1
    if word == "." and following == "." and r.ahead(2) == ".":
        r.out.append("...")
        return 3
    if word == "," and _of_digits_and_commas(last) and _of_digits_and_commas(following):
        r.out[-1] = f"{last},{following}"
        return 2
    if word == "." and last is not None and following is not None and last.isdigit() and following.isdigit():
        r.out[-1] = f"{last}.{following}"
        return 2
    if word == "." and _one_capital(last) and _one_capital(following) and r.ahead(2) == ".":
        # U . N . -> U.N.; the scripts look for more of it one word too late, and step over two words only.
        reach = 3
        while _one_capital(r.ahead(reach + 1)) and r.ahead(reach + 2) == ".":
            reach += 2
        r.out[-1] = f"{last}{''.join(r.words[r.at : r.at + reach])}"
        return 2
    if word == "-":
        return _read_dash(r)
    if after_dash and word[0] not in string.punctuation:
        r.out[-1] = f"{last}{word}"
        return 1
    r.out.append(word)
    return 1


def _read_dash(r: Reader) -> int:
    following, last = r.ahead(1), r.last
    if following == "-":
        r.out.append("--")
        return 2
    if r.at == 0 or following is None or last is None:
        r.out.append("-")
        return 1
    if last not in string.punctuation and following[0] not in string.punctuation:
        r.out[-1] = f"{last}-"
        r.glued_dash = True
        return 1
    r.out.append("-")
    return 1


def _of_digits_and_commas(word: str | None) -> bool:
    return word is not None and all(sign == "," or sign.isdigit() for sign in word)


def _one_capital(word: str | None) -> bool:
    return word is not None and len(word) == 1 and word.isupper()


def names_back(text: str) -> str:
    """Lower-case, and brackets and quotes for their names, as the ROUGE wrapper of cnndm and gigaword does."""
    text = text.lower()
    for name, sign in [
        ("-lrb-", "("),
        ("-rrb-", ")"),
        ("-lcb-", "{"),
        ("-rcb-", "}"),
        ("-lsb-", "["),
        ("-rsb-", "]"),
        ("``", '"'),
        ("''", '"'),
    ]:
        text = text.replace(name, sign)
    return text


def cnndm_prediction(line: str) -> list[str]:
    """The sentences that are left of a cnndm prediction, names still to be turned back."""
    sentences = [fix_tokens(sentence, UPPER) for sentence in line.strip().split("[X_SEP]")]
    seen: set[str] = set()
    kept = []
    for sentence in sentences:
        if len(sentence.split()) <= 4:
            continue
        words = set(sentence.lower().split())
        if len(words & seen) / len(words) <= 0.7:
            kept.append(sentence)
        seen |= words
    return kept


def cnndm_reference(line: str) -> list[str]:
    """The sentences of a cnndm target."""
    return line.strip().replace(" <S_SEP> ", "\n").split("\n")


def gigaword_prediction(line: str) -> list[str]:
    """A gigaword headline: every 1 is a #; names still to be turned back."""
    return [fix_tokens(line.strip(), LOWER).replace("1", "#")]


def gigaword_reference(line: str) -> list[str]:
    """A gigaword target."""
    return [line.strip()]


def all_names_back(pairs: Sequence[tuple[list[str], list[str]]]) -> list[tuple[list[str], list[str]]]:
    """`names_back` for every sentence of both sides."""
    return [([names_back(text) for text in peer], [names_back(text) for text in model]) for peer, model in pairs]


def sentences_at_stops(line: str) -> list[str]:
    """As files2rouge splits: a sentence ends with " ."."""
    return line.strip().replace(" .", " .\n").split("\n")


def group(
    sources: Sequence[str], predictions: Sequence[str], references: Sequence[str]
) -> list[tuple[str, list[str], list[int]]]:
    """Rows with one source are one item: (last prediction, all references, row numbers from 0)."""
    order = list(dict.fromkeys(sources))
    items = []
    for source in order:
        rows = [row for row, candidate in enumerate(sources) if candidate == source]
        items.append((predictions[rows[-1]], [references[row] for row in rows], rows))
    return items


def qg_items(
    task: str, sources: Sequence[str], predictions: Sequence[str], references: Sequence[str]
) -> list[tuple[str, list[str], list[int]]]:
    """The items of squadqg (repaired and lower-cased) or msqg (as they stand)."""
    if task == "squadqg":
        return group(
            [line.strip().lower() for line in sources],
            [fix_tokens(line.strip(), LOWER).lower() for line in predictions],
            [line.strip().lower() for line in references],
        )
    return group(sources, predictions, references)


# NLTK 3.5 -----------------------------------------------------------------------------------------------------------


def install_nltk35(folder: Path) -> Path:
    """Install NLTK 3.5 from the registry into `folder`."""
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), "nltk==3.5"],
        check=True,
    )
    return folder


def personachat_bleu(predictions: Sequence[str], references: Sequence[str], nltk35: Path) -> Json:
    """Both NLTK variants: means (0 to 100), per line (0 to 1), and the lines (from 0) on which NLTK raised."""
    pairs = list(zip(predictions, references, strict=True))
    result: Json = {}
    for variant, target in (("nltk-3.5", nltk35), ("nltk-3.6.1+", None)):
        result[variant] = {}
        for name, weights in PERSONACHAT_WEIGHTS.items():
            lines = oracles.nltk_lines(pairs, weights, target)
            values = [value for value, _ in lines]
            result[variant][name] = {
                "value": 100 * statistics.fmean(values),
                "lines": values,
                "raised": [number for number, (_, raised) in enumerate(lines) if raised],
            }
    return result


# The example submission ---------------------------------------------------------------------------------------------


def read_lines(path: Path) -> list[str]:
    """The lines of a file, which end at newlines only."""
    text = path.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def rouge_json(result: Any) -> Json:
    """A ROUGE result as JSON: averages [value, low, high] and lines [R, P, F], as printed."""
    return {
        "average": {
            metric: {letter: list(value) for letter, value in by_letter.items()}
            for metric, by_letter in result.averages.items()
        },
        "lines": {metric: [list(line) for line in lines] for metric, lines in result.lines.items()},
    }


def score_rouge(pairs: Sequence[tuple[list[str], list[str]]], names: str) -> Json:
    """The three ROUGE metrics of a task: F x 100 is the task's value, the program's output stands below."""
    result = oracles.rouge155(pairs, stem_of_names=names)
    keys = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
    return {
        "metrics": {name: 100 * float(result.averages[key]["F"].value) for name, key in keys.items()},
        "rouge": rouge_json(result),
        "command": " ".join(result.command),
    }


def score_qg(items: Sequence[tuple[str, list[str], list[int]]]) -> Json:
    """ROUGE-L, BLEU-1..4 and METEOR of a question-generation task, corpus and items."""
    texts = [(hypothesis, references) for hypothesis, references, _ in items]
    coco = oracles.coco(texts)
    meteor = oracles.meteor(texts)
    bleu = {f"bleu{order}": 100 * value for order, value in enumerate(coco.bleu, 1)}
    return {
        "metrics": {"rougeL": 100 * coco.rouge_l, "bleu4": bleu["bleu4"], "meteor": 100 * meteor.meteor},
        "beside": {name: bleu[name] for name in ("bleu1", "bleu2", "bleu3")},
        "groups": [
            {
                "rows": rows,
                "rougeL": coco.rouge_l_lines[number],
                "bleu": [coco.bleu_lines[order][number] for order in range(4)],
                "meteor": meteor.meteor_lines[number],
                "meteor_statistics": meteor.stats[number],
            }
            for number, (_, _, rows) in enumerate(items)
        ],
        "command": " ".join(meteor.command),
    }


def score_coqa(predictions: Sequence[str], references: Sequence[str]) -> Json:
    """F1 of coqa, mean and lines."""
    lines = oracles.coqa_f1(predictions, references)
    return {"metrics": {"f1": 100 * statistics.fmean(lines)}, "lines": lines}


def score_personachat(predictions: Sequence[str], references: Sequence[str], nltk35: Path) -> Json:
    """BLEU-1 and -2 (NLTK 3.5 in the mean, the later formula beside it) and Distinct-1 and -2."""
    bleu = personachat_bleu(predictions, references, nltk35)
    distinct1, distinct2 = oracles.distinct(predictions)
    official = bleu["nltk-3.5"]
    return {
        "metrics": {
            "bleu1": official["bleu1"]["value"],
            "bleu2": official["bleu2"]["value"],
            "distinct1": 100 * distinct1,
            "distinct2": 100 * distinct2,
        },
        "variants": bleu,
    }


def example_scores(task: str, folder: Path, nltk35: Path) -> Json:
    """All figures of one task of the submission in `folder`."""
    gold = folder / "data" / "easy" / f"{task}_data" / "org_data"
    sources, references = read_lines(gold / "test.src"), read_lines(gold / "test.tgt")
    predictions = read_lines(folder / "predictions" / f"{task}.{LEVEL}.test")
    assert len(sources) == len(references) == len(predictions)
    rows = list(zip(predictions, references, strict=True))
    if task == "cnndm":
        scores = score_rouge(all_names_back([(cnndm_prediction(p), cnndm_reference(r)) for p, r in rows]), "cand")
    elif task == "gigaword":
        scores = score_rouge(all_names_back([(gigaword_prediction(p), gigaword_reference(r)) for p, r in rows]), "cand")
    elif task in ("xsum", "msnews"):
        # The sides change places: files2rouge takes its first file, the predictions, for the references.
        scores = score_rouge([(sentences_at_stops(r), sentences_at_stops(p)) for p, r in rows], "s")
    elif task in ("squadqg", "msqg"):
        scores = score_qg(qg_items(task, sources, predictions, references))
    elif task == "coqa":
        scores = score_coqa(predictions, references)
    else:
        scores = score_personachat(predictions, references, nltk35)
    return {"rows": len(rows), "mean": statistics.fmean(scores["metrics"].values()), **scores}


def make_example(nltk35: Path) -> Json:
    """submissions/example/expected.json."""
    tasks = {task: example_scores(task, EXAMPLE, nltk35) for task in TASKS}
    return {
        "about": "What the original programs give for submissions/example. Values are on the 0-100 scale; "
        "ROUGE lines (R, P, F as the program names them: xsum and msnews have the sides swapped), groups and "
        "lines are on the 0-1 scale. Rows and lines count from 0.",
        "provenance": provenance("example", ["rouge155", "coco", "meteor", "nltk"], nltk35),
        "level": LEVEL,
        "overall": statistics.fmean(scores["mean"] for scores in tasks.values()),
        "tasks": tasks,
    }


def _bleu_hash(nltk: Path) -> str:
    return str(oracles.sha256(nltk / "translate" / "bleu_score.py"))


def provenance(part: str, programs: Sequence[str], nltk35: Path) -> Json:
    """What made a golden: date, command, programs with versions and hashes."""
    facts: Json = {
        "date": DATE,
        "made_by": f"python scripts/make_goldens.py {part}",
        "programs": oracles.versions(programs),
    }
    if "nltk" in programs:
        installed = Path(importlib.import_module("nltk").__file__ or "").parent
        facts["programs"]["nltk"] = {
            variant: {"version": (folder / "VERSION").read_text().strip(), "bleu_score.py": _bleu_hash(folder)}
            for variant, folder in (("nltk-3.5", nltk35 / "nltk"), ("nltk-3.6.1+", installed))
        }
    return facts


# Odd pairs ----------------------------------------------------------------------------------------------------------

# Peer and model; sentences are split at the newline.
ROUGE_PAIRS: list[tuple[str, str]] = [
    ("a cat sat", "a cat sat"),
    ("A CAT SAT", "a cat sat"),
    ("a cat sat on the mat", "the mat sat on a cat"),
    ("", "a cat sat"),
    ("a cat sat", ""),
    ("", ""),
    (". , ; !", "? ! ."),
    ("a cat sat", ". . ."),
    ("the the the the", "the"),
    ("the", "the the the the"),
    ("the cat the cat", "the cat cat the"),
    ("one word", "word one"),
    ("one", "one"),
    ("one", "two"),
    ("a b c d e f g h", "h g f e d c b a"),
    ("the dog ran .\nthe cat sat .", "the cat sat .\nthe dog ran ."),
    ("the cat sat .\nthe dog ran .", "the cat sat . the dog ran ."),
    ("the cat sat . the dog ran .", "the cat sat .\nthe dog ran ."),
    ("one two three four\nfive six seven eight", "one three five\ntwo six eight"),
    ("five six\none two\nfive six", "one two five six"),
    ("a b a b\nb a", "a b\nb a b a"),
    ("rain\nrain\nrain", "rain"),
    ("rain", "rain\nrain\nrain"),
    ("x y z\n\nw", "w x\n\ny z"),
    ("\na cat sat", "a cat sat\n"),
    (
        "police catch thief in market square\nthief sold gnomes",
        "market police catch gnome thief\nsquare thief caught by police",
    ),
    ("w1 w2 w3 w4 w5", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"),
    ("well-known state-of-the-art", "well known state of the art"),
    ("re-run - - re-run", "rerun re run"),
    ("-", "- a"),
    ("a - b -- c", "a b c"),
    ("--- --", "- -"),
    ("mother-in-law 's", "mother in law s"),
    ("twenty-one twenty-two", "twenty one twenty two"),
    ("don 't can 't", "don't can't"),
    ("do n't", "don ' t"),
    ("it 's o'clock", "its oclock"),
    ("3,000 people", "3 , 000 people"),
    ("$5.50 or 5.50", "5 50 dollars"),
    ("1.5 million", "1 . 5 million"),
    ("50 % of 1990s", "50 percent of the 1990 s"),
    ("#,### dollars", "1,000 dollars"),
    ("a_b c_d", "a b c d"),
    ("a/b\\c", "a b c"),
    ("x=y+z*w", "x y z w"),
    ("e.g. i.e. u.s.", "e g i e u s"),
    ("U.S.A.", "u s a"),
    ("(brackets) [square] {curly}", "brackets square curly"),
    ("-lrb- name -rrb-", "( name )"),
    ("`` quoted ''", '" quoted "'),
    ("café", "cafe"),
    ("naïve café crème", "nai ve caf cr me"),
    ("Zürich über Österreich", "z rich ber sterreich"),
    ("İstanbul", "istanbul"),
    ("ÉCOLE élève", "école élève"),
    ("ΑΒΓ αβγ", "αβγ αβγ"),
    ("東京 タワー", "東京 タワー"),
    ("wwwхру a", "www a"),
    ("smile 😀 now", "smile now"),
    ("a\u00a0b\u2028c", "a b c"),
    ("zero\u200bwidth", "zerowidth zero width"),
    ("a b c", "a b c"),
    ("tab\tbetween\twords", "tab between words"),
    ("double  blank   here", "double blank here"),
    ("x < y and z", "x < y and z"),
    ("x < y and z", "x and y and z"),
    ("<unk> here", "unk here"),
    ("here <unk> again", "here unk again"),
    ("&lt; a &gt; b", "lt a gt b"),
    ("AT&T R&D", "at t r d"),
    ("< start", "start"),
    ("a > b", "a b"),
    ('<a name="1">[1]</a> text', "text name"),
    ("</a> closing", "closing"),
    ("cats", "cat"),
    ("running runner runs ran", "run"),
    ("flying flies flew fly", "fly"),
    ("dying dies died die", "dy"),
    ("ties tied tying tie", "ti"),
    ("agreed agreement agrees agree", "agre"),
    ("hopping hopped hoping hoped hopes", "hop hope"),
    ("falling hissing fizzing failing filing", "fall hiss fizz fail file"),
    ("skies sky spies spy", "ski sky spi spy"),
    ("happy happily happiness", "happi"),
    ("generalization generalizations oscillators", "gener oscil"),
    ("replacement cement employment element", "replac cement employ element"),
    ("argument document moment basement", "argu docum moment basement"),
    ("adoption ion station passion", "adopt ion station passion"),
    ("relational conditional rational valency", "relat condit ration valenc"),
    ("digitizer conformably radically differently vilely", "digit conform radic differ vile"),
    ("analogously vietnamization predication operator feudalism", "analog vietnam predic oper feudal"),
    ("decisiveness hopefulness callousness formality sensitivity", "decis hope callous formal sensit"),
    ("sensibility triplicate formative formalize electricity", "sensibl triplic form formal electr"),
    ("electrical hopeful goodness revival allowance inference", "electr hope good reviv allow infer"),
    ("airliner gyroscopic adjustable defensible irritant", "airlin gyroscop adjust defens irrit"),
    (
        "dependent communism activate angularity homologous effective bowdlerize",
        "depend commun activ angular homolog effect bowdler",
    ),
    ("probate rate cease controlling rolling", "probat rate ceas control roll"),
    ("theology logic geology apology", "theolog logic geolog apolog"),
    ("ably possibly terribly bly", "abl possibl terribl bly"),
    ("yes yellow yearly year by my", "ye yellow yearli year by my"),
    ("say says saying said", "sai say"),
    ("boys boy toys toy keys", "boi toi kei"),
    ("as is us bus buses gas gases", "a i u bu buse ga gase"),
    ("sees seed feed freed agreed", "see seed feed free agre"),
    ("being bring king sing singing", "be bring king sing"),
    ("bled red tired hired ed", "bl re tire hire"),
    ("conflated troubled sized tanned", "conflat troubl size tan"),
    ("1st 2nd 3rd 1990s 50s b2b", "1 2 3 1990 50 b2"),
    ("x2y 2xy yy yyy", "x2y 2xy yi yyi"),
    ("children men women mice geese feet", "child man woman mouse goose foot"),
    ("went gone took taken wrote written", "go go take take write write"),
    ("better best worse worst", "good good bad bad"),
    ("was were is are been", "be be be be be"),
    ("leaves knives wolves shelves", "leaf knife wolf shelf"),
    ("analyses crises hypotheses criteria", "analysis crisis hypothesis criterion"),
    ("quizzes buses oxen indices axes", "quiz bus ox index axis"),
    ("the children went home early", "the child goes home earlier"),
    ("the mice were eaten by geese in winter", "a mouse was eaten by a goose in the winters"),
    ("frozen waters broke the boats", "freezing water breaks a boat"),
    ("bands banded together to sing songs", "the band was singing a song together"),
    ("the quick brown fox jumps over the lazy dog", "a quick brown dog jumped over lazy foxes"),
    (
        "carrow to reopen lighthouse after ##,###-dollar appeal",
        "carrow to reopen lighthouse after 11,111-dollar appeal",
    ),
    ("no overlap at all here", "something else entirely different"),
    ("a a a a a a a a a a b", "b a"),
    (
        "long long ago in a land far far away there lived a long long worm",
        "long ago there lived a worm far away in a far land",
    ),
    ("to be or not to be\nthat is the question", "that is not to be the question\nor to be"),
    ("s1 a b c .\ns2 d e f .\ns3 g h i .", "s3 i h g .\ns2 f e d .\ns1 c b a ."),
    ("m n o p\nm n o p\nm n o p", "m n\no p\nm n o p"),
]

# Hypothesis and references, as coco-caption and METEOR get them.
COCO_ITEMS: list[tuple[str, list[str]]] = [
    ("a cat sat on the mat", ["a cat sat on the mat"]),
    ("a cat sat on the mat", ["the cat sat on a mat", "a cat sat there", "on the mat sat a cat"]),
    ("A Cat Sat", ["a cat sat"]),
    ("", ["a cat sat"]),
    ("a cat sat", [""]),
    ("", [""]),
    ("", ["", "a"]),
    ("a cat sat", ["", "a cat sat"]),
    ("cat", ["cat"]),
    ("cat", ["dog"]),
    ("a b", ["a b", "b a"]),
    ("a b c", ["a b c"]),
    ("a b c d", ["a b c", "a b c d e"]),
    ("a b c d", ["a b c d e", "a b c"]),
    ("a b c d e f", ["a b", "a b c d e f g h i j"]),
    ("the the the the", ["the"]),
    ("the the the", ["the cat the", "the the dog"]),
    ("the", ["the the the the"]),
    ("a  cat  sat", ["a cat sat"]),
    ("a  cat  sat", ["a  cat  sat"]),
    ("a    cat", ["a  cat"]),
    (" leading blank", ["leading blank"]),
    ("trailing blank ", ["trailing blank"]),
    (" ", ["a"]),
    ("a\tcat sat", ["a cat sat"]),
    ("a\u00a0cat sat", ["a cat sat"]),
    (
        "what is the capital of norrland ?",
        ["what is the capital of norrland ?", "which town is the capital of norrland ?"],
    ),
    ("who opened the cable car ?", ["who was the engineer of the cable car ?"]),
    ("why did n't they sign ?", ["why did they not sign ?", "why didn't they sign ?"]),
    ("why didn ' t they sign ?", ["why did n't they sign ?"]),
    ("how deep is the 3,000 metre shaft ?", ["how deep is the 3 , 000 metre shaft ?"]),
    ("well-known swimmer", ["well known swimmer", "a well-known swimmer"]),
    ("a-b-c", ["a b c", "a-b c"]),
    ("-lrb- here -rrb-", ["( here )"]),
    ("[UNK] is x", ["UNK is x"]),
    ("a &amp; b", ["a & b"]),
    ("x < y", ["x &lt; y"]),
    ("café zoë", ["cafe zoe", "café zoë"]),
    ("“quoted” ‘text’", ["\" quoted \" ' text '"]),
    ("``quoted''", ['"quoted"']),
    ("Mr. Vance went to Washington D.C.", ["mr . vance went to washington dc ."]),
    ("u.s. open winner", ["U.S. open winner", "us open winner"]),
    ("wait . . . what", ["wait ... what"]),
    ("no -- never", ["no - never", "no – never"]),
    ("running quickly", ["he runs quickly", "run quick"]),
    ("the car is big", ["the automobile is large"]),
    ("buy a house", ["purchase a home", "get a house"]),
    ("children went home", ["a child goes home"]),
    ("how much does it cost ?", ["what is the price ?", "how expensive is it ?"]),
    ("the dog chased the cat up the tree", ["the cat chased the dog up the tree"]),
    ("one two three four five", ["five four three two one"]),
    ("a b c d a b c d", ["a b c d"]),
    ("a b c d", ["a b c d a b c d"]),
    ("東京 タワー", ["東京 タワー", "東京 の タワー"]),
    ("привет мир", ["привет , мир !"]),
    ("smile 😀 now", ["smile now"]),
    (". . .", ["."]),
    ("?", ["?", "what ?"]),
    ("1 2 3 4", ["1 2 3 5", "1 2 4 3"]),
    ("$ 5.50", ["5.50 dollars", "$5.50"]),
    ("what what what what what", ["what is what"]),
    (
        "do mangroves grow in salt water or in fresh water or in both of them at once ?",
        ["do mangroves grow in salt water ?", "can mangroves grow in fresh water ?", "where do mangroves grow ?"],
    ),
]

# Prediction and reference.
PERSONACHAT_PAIRS: list[tuple[str, str]] = [
    ("yes", "yes"),
    ("yes !", "yes !"),
    ("yes", "no"),
    ("no", "no , thank you"),
    ("", "hello"),
    ("hello", ""),
    ("", ""),
    ("i", "i like tea"),
    ("tea", "i like tea"),
    ("i like tea", "i like tea"),
    ("i like tea .", "i like tea ."),
    ("i like tea very much", "i like tea very much"),
    ("i like tea", "i like coffee"),
    ("i like tea", "tea like i"),
    ("you", "i like tea"),
    ("i am fine", "i am fine . how are you ?"),
    ("i am fine . how are you ?", "i am fine"),
    ("i am a baker . i get up at three .", "i am a baker and i get up at three o clock ."),
    ("i do not know", "what do you do for a living ?"),
    ("i am afraid of geese . i am afraid of geese .", "the geese chase me ."),
    ("the the the the the the", "the geese"),
    ("the geese", "the the the the the the"),
    ("i i i", "i"),
    ("a a a a", "a a a a a a"),
    ("a b", "a b"),
    ("a b", "b a"),
    ("a b c", "a b d"),
    ("a b c d", "a b c e"),
    ("a b c d e", "a b c d f"),
    ("a b c d e", "a b c d e"),
    ("a b c d e f", "a b c d e f"),
    ("a x b x c", "a b c"),
    ("a b c", "a x b x c"),
    ("x a y b z", "a b"),
    ("I like Tea", "i like tea"),
    ("i like  tea", "i like tea"),
    ("i like  tea", "i like  tea"),
    ("  i like tea", "i like tea"),
    ("i like tea  ", "i like tea"),
    ("i\tlike tea", "i like tea"),
    ("i\u00a0like tea", "i like tea"),
    ("don ' t you ?", "don ' t you ?"),
    ("do n't you ?", "don ' t you ?"),
    ("café ?", "café ?"),
    ("café", "cafe"),
    ("😀", "😀"),
    ("😀 hi", "hi 😀"),
    ("one two three four five six seven eight nine ten", "ten nine eight seven six five four three two one"),
    (
        "one two three four five six seven eight nine ten",
        "one two three four five six seven eight nine ten eleven twelve thirteen",
    ),
    (
        "one two three four five six seven eight nine ten eleven twelve thirteen",
        "one two three four five six seven eight nine ten",
    ),
    ("that sounds good to me . what kind of tea do you like ?", "always . i will put the kettle on ."),
    ("see you then !", "bye"),
    ("bye", "see you then , bye !"),
    ("i have two cats and a dog", "i have two dogs and a cat"),
    ("my name is mo and this is biscuit .", "hi , my name is mo . this is biscuit ."),
    ("no , silly , he is my dog .", "no , he is my dog ."),
    (". . . .", ". . ."),
    (".", "."),
    ("? !", "! ?"),
    ("what", "what what what"),
    ("are you a baker ?", "oh , are you a baker ?"),
]


def make_rouge_pairs(nltk35: Path) -> Json:
    """tests/goldens/rouge_pairs.json: the odd pairs under four settings."""
    pairs = [(peer.split("\n"), model.split("\n")) for peer, model in ROUGE_PAIRS]
    settings: Json = {}
    for stem in (True, False):
        for exceptions in ("none", "full"):
            result = oracles.rouge155(pairs, stem=stem, exceptions=exceptions)
            settings[f"{'stem' if stem else 'nostem'},exceptions-{exceptions}"] = {
                "command": " ".join(result.command),
                "exceptions": result.entries,
                **rouge_json(result),
            }
    return {
        "about": "Pairs of peer (pairs[i][0]) and model (pairs[i][1]), sentences split at newlines, with what "
        "ROUGE-1.5.5.pl printed: averages [value, low, high] of R, P and F, and [R, P, F] of each pair.",
        "provenance": provenance("rouge_pairs", ["rouge155"], nltk35),
        "pairs": [list(pair) for pair in ROUGE_PAIRS],
        "settings": settings,
    }


def make_coco_pairs(nltk35: Path) -> Json:
    """tests/goldens/coco_pairs.json: BLEU, ROUGE-L and METEOR of the odd items."""
    coco = oracles.coco(COCO_ITEMS)
    meteor = oracles.meteor(COCO_ITEMS)
    return {
        "about": "Items [hypothesis, references] with coco-caption's figures (0-1): bleu[k] and bleu_lines[k] "
        "are BLEU-(k+1); the corpus METEOR is the jar's aggregate.",
        "provenance": {**provenance("coco_pairs", ["coco", "meteor"], nltk35), "command": " ".join(meteor.command)},
        "items": [[hypothesis, references] for hypothesis, references in COCO_ITEMS],
        "bleu": coco.bleu,
        "bleu_lines": coco.bleu_lines,
        "rouge_l": coco.rouge_l,
        "rouge_l_lines": coco.rouge_l_lines,
        "meteor": meteor.meteor,
        "meteor_lines": meteor.meteor_lines,
        "meteor_statistics": meteor.stats,
    }


def make_personachat_pairs(nltk35: Path) -> Json:
    """tests/goldens/personachat_pairs.json: both NLTK variants of the odd lines."""
    predictions = [prediction for prediction, _ in PERSONACHAT_PAIRS]
    references = [reference for _, reference in PERSONACHAT_PAIRS]
    return {
        "about": 'Pairs [prediction, reference], tokens being line.strip().split(" "), with NLTK\'s sentence BLEU, '
        "smoothing method 7: value is the mean on the 0-100 scale, lines are on the 0-1 scale, raised are the "
        "lines (from 0) on which NLTK raised and which count 0. distinct is on the 0-1 scale.",
        "provenance": provenance("personachat_pairs", ["nltk"], nltk35),
        "weights": {name: list(weights) for name, weights in PERSONACHAT_WEIGHTS.items()},
        "pairs": [list(pair) for pair in PERSONACHAT_PAIRS],
        "variants": personachat_bleu(predictions, references, nltk35),
        "distinct": list(oracles.distinct(predictions)),
    }


GOLDEN_FILES: dict[str, tuple[Path, Callable[[Path], Json]]] = {
    "example": (EXAMPLE / "expected.json", make_example),
    "rouge_pairs": (GOLDENS / "rouge_pairs.json", make_rouge_pairs),
    "coco_pairs": (GOLDENS / "coco_pairs.json", make_coco_pairs),
    "personachat_pairs": (GOLDENS / "personachat_pairs.json", make_personachat_pairs),
}


def to_json(value: Json) -> str:
    """JSON with an innermost list on one line, so that a change shows as a few lines."""
    return _indented(value, 0) + "\n"


def _indented(value: Any, depth: int) -> str:
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        rows = (f"{inner}{json.dumps(key)}: {_indented(item, depth + 1)}" for key, item in value.items())
        return "{\n" + ",\n".join(rows) + f"\n{outer}}}"
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return "[\n" + ",\n".join(inner + _indented(item, depth + 1) for item in value) + f"\n{outer}]"
    return json.dumps(value)


def main(wanted: Sequence[str]) -> int:
    """Make the wanted goldens, or all."""
    unknown = [name for name in wanted if name not in GOLDEN_FILES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(GOLDEN_FILES)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="nltk35-") as folder:
        nltk35 = install_nltk35(Path(folder))
        for name in wanted or GOLDEN_FILES:
            path, make = GOLDEN_FILES[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(to_json(make(nltk35)), encoding="utf-8")
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
