"""BERTScore, the mean F1 over lines, as the package bert-score 0.3.13 computes it from a model on this machine.

Equals `bert-score -r REFERENCES -c PREDICTIONS -m MODEL -l LAYER` without idf and without rescaling (Zhang et al.
2020, equations for P, R and F1): each word piece takes the most similar one of the other side by cosine, P and R are
the means over prediction and reference, and of several references the best P, R and F1 are taken, each by itself. A
pair with an empty side is 0. It is the metric that the benchmark's paper announces as future work.

The package does the computing; this file finds the model, keeps the network out of it, and asks in portions, so that
memory does not grow with the corpus. Nothing is ever downloaded: the model is a folder, named by the variant `model`
or by the environment variable GLGE_BERTSCORE_MODEL. There is no idf variant, for it would let a line's value depend
on which other lines are scored with it.

The metric is a plug-in of glge's own, behind the extra `bertscore`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glge.errors import MetricError, MissingResource
from glge.metrics.contract import AdditiveMetric, FloatArray, Pairs, Rows

ENVIRONMENT = "GLGE_BERTSCORE_MODEL"
PACKAGES = ("bert-score", "transformers", "torch")
COLUMNS = ("precision", "recall", "f1", "empty", "n")

_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
_READ = ("config.json", "*token*.json", "vocab.*", "merges.txt", "*.model")
_PORTION = 16  # batches that are given to the package at a time


@dataclass(frozen=True)
class BertScore(AdditiveMetric):
    """BERTScore F1, the mean over lines; 0-1 for texts that have anything in common, and seldom below 0.

    `model` is a folder with config.json, weights and tokenizer; `layer` counts from 1, and 0 stands for the layer
    that bert-score recommends for a model of the folder's name. Figures made on another `device` differ in the last
    digits. Definition: Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT.

    Raises MissingResource when a package or the model is not there, MetricError when they do not fit together.

    >>> BertScore(layer=6).name
    'bertscore'
    >>> BertScore(layer=-1)
    Traceback (most recent call last):
        ...
    glge.errors.MetricError: the variant layer is wrong (expected a whole number from 0 on, found -1)
    """

    model: str = ""
    layer: int = 0
    batch: int = 64
    device: str = "cpu"

    def __post_init__(self) -> None:
        _check("model", isinstance(self.model, str), "a path", self.model)
        _check("layer", _whole(self.layer) and self.layer >= 0, "a whole number from 0 on", self.layer)
        _check("batch", _whole(self.batch) and self.batch > 0, "a whole number from 1 on", self.batch)
        known = isinstance(self.device, str) and _DEVICE.fullmatch(self.device) is not None
        _check("device", known, "cpu, cuda, cuda:0 … or mps", self.device)

    @property
    def name(self) -> str:
        return "bertscore"

    @property
    def signature(self) -> str:
        """Packages with versions, the model's name and the checksum of its files, layer, device."""
        try:
            folder = self._folder()
        except MissingResource:
            model = "none"
        else:
            model = f"{_model_name(folder).split('/')[-1].replace('|', '_')}-{_checksum(folder)[:12]}"
        parts = [self.name, *(f"{package}:{_version(package)}" for package in PACKAGES), f"model:{model}"]
        return "|".join([*parts, f"layer:{self.layer or 'recommended'}", "idf:no", "rescale:no", f"dev:{self.device}"])

    def rows(self, pairs: Pairs) -> Rows:
        """P, R, F1, whether the line is empty, and 1, for each line; shape (lines, 5)."""
        folder = self._folder()
        scorer = _load(str(folder), _checksum(folder), self._layer(folder), self.device)
        predictions = [text for text, group in zip(pairs.predictions, pairs.references, strict=True) for _ in group]
        references = [text for group in pairs.references for text in group]
        values = np.zeros((len(predictions), 3))
        # bert-score gives such pairs 0, but with transformers 5 stumbles over them.
        full = [
            place
            for place, (one, other) in enumerate(zip(predictions, references, strict=True))
            if one.strip() and other.strip()
        ]
        for begin in range(0, len(full), _PORTION * self.batch):
            taken = full[begin : begin + _PORTION * self.batch]
            values[taken] = _score(scorer, [predictions[i] for i in taken], [references[i] for i in taken], self.batch)
        begins = np.cumsum([0, *(len(group) for group in pairs.references[:-1])])
        empty = np.ones(len(predictions))
        empty[full] = 0
        best = np.maximum.reduceat(values, begins, axis=0)
        return Rows(
            np.column_stack([best, np.minimum.reduceat(empty, begins), np.ones(len(pairs))]),
            COLUMNS,
        )

    def finish(self, totals: NDArray[Any]) -> Any:
        """Mean F1 from totals of shape (…, 5), shape (…)."""
        return totals[..., 2] / np.maximum(totals[..., 4], 1)

    def lines(self, rows: Rows) -> FloatArray:
        """F1 of each line."""
        return rows.column("f1").astype(np.float64)

    def details(self, rows: Rows) -> dict[str, float | int | str]:
        """Mean precision and recall, and the layer."""
        means = rows.values.mean(axis=0)
        return {"precision": float(means[0]), "recall": float(means[1]), "layer": self._layer(self._folder())}

    def notes(self, rows: Rows) -> tuple[str, ...]:
        empty = int(rows.column("empty").sum())
        lines = "1 line has" if empty == 1 else f"{empty:,} lines have"
        return (f"{lines} an empty prediction or reference, which counts 0",) if empty else ()

    def _folder(self) -> Path:
        """The model's folder. MissingResource, in one line, when there is none."""
        given = self.model or os.environ.get(ENVIRONMENT, "")
        if not given:
            raise MissingResource(
                "BERTScore has no model",
                hint=f"give the path of a model's folder as the variant model, or in {ENVIRONMENT}",
            )
        folder = Path(given).expanduser().absolute()
        try:
            there, known = folder.is_dir(), (folder / "config.json").is_file()
        except (OSError, ValueError):
            there = known = False
        if not there:
            raise MissingResource(
                "BERTScore's model is no folder on this machine",
                found=repr(given)[:200],
                hint="give the path of a downloaded model; nothing is fetched by name",
            )
        if not known or not any(next(folder.glob(pattern), None) for pattern in _WEIGHTS):
            lacking = "config.json" if not known else " or ".join(_WEIGHTS)
            raise MissingResource("BERTScore's model is not whole", found=f"no {lacking} in {str(folder)!r}"[:300])
        return folder

    def _layer(self, folder: Path) -> int:
        config = _config(folder)
        count = next((config[key] for key in ("num_hidden_layers", "n_layers", "num_layers") if key in config), None)
        layer = self.layer or _recommended(_model_name(folder))
        if isinstance(count, int) and layer > count:
            raise MetricError("BERTScore's model has fewer layers", expected=f"1 to {count}", found=f"layer {layer}")
        return layer


def _check(key: str, right: bool, expected: str, found: object) -> None:
    if not right:
        raise MetricError(f"the variant {key} is wrong", expected=expected, found=str(found))


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


# --- the model ------------------------------------------------------------------------------------


def _model_name(folder: Path) -> str:
    """The folder's name; in a cache of the hub (`models--OWNER--NAME/snapshots/…`) that of the model."""
    hub = folder.parent.parent.name
    if folder.parent.name == "snapshots" and hub.startswith("models--"):
        return hub.removeprefix("models--").replace("--", "/")
    return folder.name


def _config(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict):
        raise MetricError("the model's config.json cannot be read", file=str(folder / "config.json"))
    return content


def _checksum(folder: Path) -> str:
    """SHA-256 over names and content of what the model is made of: configuration, tokenizer, weights."""
    # Where both are there, transformers reads the first kind of weights.
    weights = next((found for pattern in _WEIGHTS if (found := sorted(folder.glob(pattern)))), [])
    files = sorted({*weights, *(file for pattern in _READ for file in folder.glob(pattern))})
    whole = hashlib.sha256()
    for file in files:
        if file.is_file():
            state = file.stat()
            whole.update(f"{file.name}\n{_file_checksum(str(file), state.st_size, state.st_mtime_ns)}\n".encode())
    return whole.hexdigest()


@lru_cache(maxsize=256)
def _file_checksum(file: str, size: int, changed: int) -> str:
    with Path(file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _recommended(name: str) -> int:
    """The layer that bert-score was tuned to for a model of this name, by WMT16's human judgements."""
    _, layers = _package()
    found = {layer for known, layer in layers.items() if known.lower() == name.lower()}
    found = found or {layer for known, layer in layers.items() if known.split("/")[-1].lower() == name.lower()}
    if len(found) != 1:
        raise MetricError(
            "bert-score recommends no layer for this model",
            found=name[:80],
            hint="give the variant layer; the package's list is bert_score.utils.model2layers",
        )
    return int(found.pop())


def _one_thread() -> None:
    # The threads of a torch that has worked before a fork are not there in the child, which would wait for them.
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_thread)

_CLOSED = threading.RLock()  # the switches below belong to the whole process


@contextmanager
def _offline() -> Iterator[None]:
    """No network for the packages of the hub, whether they are loaded already or not; all as before afterwards."""
    with _CLOSED:
        before = {name: os.environ.get(name) for name in _OFFLINE}
        os.environ.update(_OFFLINE)
        try:
            constants: Any = import_module("huggingface_hub.constants")
            was = constants.HF_HUB_OFFLINE
            constants.HF_HUB_OFFLINE = True
            try:
                yield
            finally:
                constants.HF_HUB_OFFLINE = was
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _package() -> tuple[Any, dict[str, int]]:
    """bert-score's scorer and its table of layers. MissingResource when it or what it needs is not installed."""
    try:
        with _offline():
            import bert_score  # noqa: PLC0415
            import bert_score.utils  # noqa: PLC0415
    except ImportError as error:
        raise MissingResource(
            "BERTScore needs packages that are not installed",
            found=f"no {error.name}" if error.name else "an import that fails",
            hint="pip install 'glge[bertscore]'",
        ) from None
    return bert_score.BERTScorer, bert_score.utils.model2layers


@lru_cache(maxsize=1)
def _load(folder: str, checksum: str, layer: int, device: str) -> Any:
    """The package's scorer, kept for the next task. `checksum` is there so that a changed model is read again."""
    scorer, _ = _package()
    config = _config(Path(folder))
    if "t5" in folder and "t5" not in str(config.get("model_type", "")):
        # It would read any model as a T5 and fill what it does not find with random numbers.
        raise MetricError(
            "bert-score takes every model whose path has 't5' in it for a T5",
            file=folder,
            hint="move the folder, or link it under another name",
        )
    with _offline():
        from transformers import AutoModel  # noqa: PLC0415
        from transformers.utils import logging  # noqa: PLC0415

        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            # Only this tells which weights are not in the file: they would be random numbers.
            _, told = AutoModel.from_pretrained(folder, output_loading_info=True, local_files_only=True)
            absent = sorted(str(key) for key in told["missing_keys"] if "pooler" not in str(key))
            if absent:
                raise MetricError(
                    "the model's folder lacks weights",
                    file=folder,
                    found=f"{len(absent)} are not there, {absent[0]} for one",
                    hint="give the folder of a whole encoder",
                )
            made = scorer(model_type=folder, num_layers=layer, device=device)
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()
    tokenizer = made._tokenizer
    longest = config.get("max_position_embeddings")
    if isinstance(longest, int) and tokenizer.model_max_length > longest:
        # Without a limit of its own the tokenizer would give more than the model can take. RoBERTa's positions begin
        # behind the padding's.
        offset = tokenizer.pad_token_id + 1 if "roberta" in str(config.get("model_type")) else 0
        tokenizer.model_max_length = longest - offset
    return made


def _score(scorer: Any, predictions: Sequence[str], references: Sequence[str], batch: int) -> FloatArray:
    """P, R and F1 of pairs, shape (pairs, 3)."""
    with redirect_stderr(io.StringIO()):  # it prints a warning where a line has no word pieces
        found = scorer.score(list(predictions), list(references), batch_size=batch)
    values: FloatArray = np.stack([np.asarray(part, dtype=np.float64) for part in found], axis=1)
    for place in np.flatnonzero(~np.isfinite(values).all(axis=1)).tolist():
        sides = (predictions[place], references[place])
        if all(scorer._tokenizer.encode(text, add_special_tokens=False) for text in sides):
            raise MetricError("BERTScore's model gives no finite numbers", hint="its weights may be damaged")
        values[place] = 0
    return values
