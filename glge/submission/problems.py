"""Every code that reading a submission can give, beside those of glge.lines.

docs/files.md says what to do about each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from glge.errors import Severity

NAMES_SHOWN = 10  # of files in one message

CODES: Mapping[str, Severity] = {
    "no-predictions": "error",
    "missing-task": "error",
    "misnamed-file": "error",
    "duplicate-task": "error",
    "unreadable-file": "error",
    "line-count": "error",
    "zip-unsafe-member": "error",
    "zip-duplicate-member": "error",
    "zip-encrypted": "error",
    "zip-method": "error",
    "zip-too-many-members": "error",
    "zip-too-large": "error",
    "zip-ratio": "error",
    "zip-damaged": "error",
    "misnamed-copy": "warning",
    "unknown-task": "warning",
    "nested-archive": "warning",
    "empty-prediction": "warning",
    "identical-lines": "warning",
    "word-pieces": "warning",
    "foreign-separator": "warning",
    "misspelt-separator": "warning",
    "model-token": "warning",
    "tag-like-text": "warning",
    "no-separator": "note",
    "no-rouge-token": "note",
    "non-ascii-punctuation": "note",
    "partial-submission": "note",
    "other-level": "note",
    "other-split": "note",
    "ignored-file": "note",
    "unrecognised-file": "note",
    "folder-not-read": "note",
}


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")
