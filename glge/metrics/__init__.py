"""Every metric by name, and the contract they share.

`METRICS[name](**variant)` makes a metric; `metric.score(predictions, references)` gives its number on
the 0-1 scale. Two programs' definitions of one idea have two names: `rougeL` is ROUGE-1.5.5's,
`coco_rougeL` is coco-caption's.

>>> METRICS["f1"]().score(["the blue door"], ["a blue door"])
1.0
>>> METRICS["coco_bleu4"]().score(["a b"], ["a b c d"]) < 0.001
True
>>> METRICS["rouge1"](stem=False).score(["..."], ["..."])  # no token at all
0.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from glge.metrics.coco import CocoBleu, CocoRougeL
from glge.metrics.contract import AdditiveMetric, Metric, Pairs, Rows
from glge.metrics.distinct import Distinct
from glge.metrics.f1 import F1, ExactMatch
from glge.metrics.libraries import LibraryBleu, LibraryMeteor, LibraryRouge, LibrarySentenceBleu
from glge.metrics.plugins import Registry
from glge.metrics.rouge import Rouge
from glge.metrics.smoothed_bleu import SmoothedBleu

__all__ = ["METRICS", "AdditiveMetric", "Metric", "Pairs", "Rows"]


def _meteor(**variant: Any) -> Metric[Any]:
    from glge.metrics.meteor import Meteor  # noqa: PLC0415

    return Meteor(**variant)


_BUILT_IN: Mapping[str, Callable[..., Metric[Any]]] = {
    "rouge1": partial(Rouge, "1"),
    "rouge2": partial(Rouge, "2"),
    "rougeL": partial(Rouge, "L"),
    "coco_bleu1": partial(CocoBleu, 1),
    "coco_bleu2": partial(CocoBleu, 2),
    "coco_bleu3": partial(CocoBleu, 3),
    "coco_bleu4": partial(CocoBleu, 4),
    "coco_rougeL": CocoRougeL,
    "meteor": _meteor,
    "f1": F1,
    "exact_match": ExactMatch,
    "smoothed_bleu1": partial(SmoothedBleu, 1),
    "smoothed_bleu2": partial(SmoothedBleu, 2),
    "distinct1": partial(Distinct, 1),
    "distinct2": partial(Distinct, 2),
    # The maintained packages, imported when they are used; they make the profile `libraries`.
    "library_rouge1": partial(LibraryRouge, "1"),
    "library_rouge2": partial(LibraryRouge, "2"),
    "library_rougeL": partial(LibraryRouge, "L"),
    "library_rougeLsum": partial(LibraryRouge, "Lsum"),
    "library_bleu": LibraryBleu,
    "library_meteor": LibraryMeteor,
    "library_sentence_bleu1": partial(LibrarySentenceBleu, 1),
    "library_sentence_bleu2": partial(LibrarySentenceBleu, 2),
}

# Metrics of other packages are found by their names too; iterating sees the built-in ones alone.
METRICS: Final = Registry(_BUILT_IN)
