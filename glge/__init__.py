"""GLGE: score natural-language-generation systems exactly as the benchmark's published scripts do.

The door:

- `score(predictions, references, task="xsum")`: lists of lines -> TaskResult
- `score_submission("preds/", level="hard", data="DATA")`: files -> Report
- `validate_submission("preds/", level="hard")`: every problem of the files, without scoring
- `load_tasks()`: the benchmark's tasks and levels
- `read_submission(...)`: files -> Submission
- `METRICS`: every metric by name

Importing glge loads nothing heavy: each name is resolved when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glge.errors import GlgeError as GlgeError
    from glge.metrics import METRICS as METRICS
    from glge.results import Report as Report
    from glge.results import TaskResult as TaskResult
    from glge.scoring import score as score
    from glge.scoring import score_submission as score_submission
    from glge.scoring import validate_submission as validate_submission
    from glge.submission import read_submission as read_submission
    from glge.tasks import load_tasks as load_tasks

__version__ = "0.1.0"

_DOOR = {
    "GlgeError": "glge.errors",
    "METRICS": "glge.metrics",
    "Report": "glge.results",
    "TaskResult": "glge.results",
    "load_tasks": "glge.tasks",
    "read_submission": "glge.submission",
    "score": "glge.scoring",
    "score_submission": "glge.scoring",
    "validate_submission": "glge.scoring",
}

__all__ = [  # noqa: PLE0604 - names are resolved by __getattr__
    "__version__",
    *sorted(_DOOR),
]


def __getattr__(name: str) -> Any:
    if name in _DOOR:
        value = getattr(import_module(_DOOR[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'glge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_DOOR])
