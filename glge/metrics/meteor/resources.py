"""Where METEOR's own files are, and the tables made of them once and kept in the user's cache.

The jar and the paraphrase table come from the user's installed `pycocoevalcap` (never imported, only
found), or from `GLGE_METEOR_JAR` and `GLGE_METEOR_PARAPHRASES`. They are converted once into one
memory-mapped file in the cache folder (`GLGE_CACHE`, else the platform's). The file's name carries the
version of its layout and the checksum of its sources, so a new release of either gets a file of its own.

`build` converts ahead of time, `state` reports without ever raising, `load` is what scoring calls.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from gzip import BadGzipFile
from pathlib import Path
from typing import Any

from glge.errors import GlgeError, MissingResource
from glge.metrics.meteor.scorer import Scorer
from glge.metrics.meteor.tablefile import DamagedTable, TableFile, open_table, write_table

Progress = Callable[[int, int], None]

JAR_VARIABLE = "GLGE_METEOR_JAR"
PARAPHRASES_VARIABLE = "GLGE_METEOR_PARAPHRASES"
CACHE_VARIABLE = "GLGE_CACHE"

# Raised by one whenever the content or the layout of the table changes.
FORMAT = 1

# The checksum of the files as published with pycocoevalcap 1.2 (`Sources.checksum`).
PUBLISHED = "8659144e176f5ad6e2a505a8ec9a6830149df791078d839f5cb88be3634ece18"

_INSTALL = (
    f"pip install 'glge[meteor]', or name the files in {JAR_VARIABLE} (meteor-1.5.jar) "
    f"and {PARAPHRASES_VARIABLE} (paraphrase-en.gz)"
)
_NEEDED_BYTES = 80_000_000
_LONGEST_WAIT = 600.0


@dataclass(frozen=True)
class Sources:
    """The two files METEOR 1.5 consists of."""

    jar: Path
    paraphrases: Path

    def checksum(self) -> str:
        """SHA-256 over the two files' SHA-256 (as hex, a line each): what the scores depend on.

        Raises OSError when a file cannot be read.
        """
        digests = "".join(f"{_file_checksum(path)}\n" for path in (self.jar, self.paraphrases))
        return hashlib.sha256(digests.encode()).hexdigest()


@dataclass(frozen=True)
class Tables:
    """The converted tables: the file, its size in bytes, the checksum of its sources, and whether it is new."""

    path: Path
    size: int
    checksum: str
    new: bool

    def __str__(self) -> str:
        made = "made now" if self.new else "already there"
        return f"{self.path} ({self.size / 1e6:.0f} MB, from files {self.checksum[:12]}, {made})"


@dataclass(frozen=True)
class State:
    """What there is of METEOR on this machine.

    `jar` and `paraphrases` are None when not found; `problem` is then a line that says what to do. `checksum`
    belongs to the sources; `published` says whether they are those of pycocoevalcap 1.2. `table` is where
    the converted file is or would be, `built` whether it is there and whole, `size` its bytes.
    """

    jar: Path | None
    paraphrases: Path | None
    checksum: str | None
    published: bool
    table: Path | None
    built: bool
    size: int | None
    problem: str | None

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        release = "of pycocoevalcap 1.2" if self.published else "not those of pycocoevalcap 1.2"
        files = f"files {(self.checksum or '')[:12]}, {release}"
        if not self.built:
            return f"tables not made yet ({files}); they are at the first use, or by: glge meteor build"
        return f"tables in {self.table} ({(self.size or 0) / 1e6:.0f} MB, from {files})"


def find_sources() -> Sources:
    """The jar and the paraphrase table. Raises MissingResource, with what to install or to set."""
    jar = _named_by(JAR_VARIABLE) or _installed_jar()
    if jar is None:
        raise MissingResource("METEOR 1.5 is not installed: no meteor-1.5.jar", hint=_INSTALL)
    paraphrases = _named_by(PARAPHRASES_VARIABLE) or jar.parent / "data" / "paraphrase-en.gz"
    if not _is_file(paraphrases):
        raise MissingResource(
            "METEOR's paraphrase table is not beside its jar",
            expected=str(paraphrases),
            hint=f"reinstall pycocoevalcap, or name the file in {PARAPHRASES_VARIABLE}",
        )
    return Sources(jar, paraphrases)


def cache_folder() -> Path:
    """`GLGE_CACHE`, else `glge` in the platform's folder for caches. Raises GlgeError without a home."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "glge" / "Cache"
        if os.environ.get("XDG_CACHE_HOME"):
            return Path(os.environ["XDG_CACHE_HOME"]) / "glge"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "glge"
        return Path.home() / ".cache" / "glge"
    except RuntimeError:
        raise GlgeError("there is no home folder to keep METEOR's tables in", hint=f"set {CACHE_VARIABLE}") from None


def build(progress: Progress | None = None, force: bool = False) -> Tables:
    """Convert the sources into the table in the cache, unless it is there; `force` does it anyway.

    `progress(done, total)` is called while converting (about 10 s), not when there is nothing to do. Two
    processes may start at once: the second waits and takes the first one's file. Raises MissingResource when
    the sources are missing or damaged, GlgeError when the cache cannot be written.
    """
    sources = find_sources()
    checksum = _checksum(sources)
    path = _table_path(checksum)
    if not force and (table := _intact(path, checksum)):
        return Tables(path, table.size, checksum, new=False)
    with _writing(path), _lock(path.parent / f"meteor-{FORMAT}.lock") as alone:
        if not force and (table := _intact(path, checksum)):  # made while we waited
            return Tables(path, table.size, checksum, new=False)
        if alone:
            for part in path.parent.glob(f".{path.name}.*.part"):  # left by a process that was killed
                part.unlink(missing_ok=True)
        if shutil.disk_usage(path.parent).free < _NEEDED_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        arrays = _convert(sources, progress)
        try:
            write_table(path, arrays, {"format": FORMAT, "checksum": checksum})
        except PermissionError:
            # Windows does not let a file be replaced that another process has mapped; then it is whole.
            if not _intact(path, checksum):
                raise
        with _loading:
            _loaded.clear()
    return Tables(path, path.stat().st_size, checksum, new=True)


def load(progress: Progress | None = None) -> Scorer:
    """The scorer on the converted tables, which are made if need be. Raises as `build`."""
    with _loading:
        sources = find_sources()
        checksum = _checksum(sources)
        path = _table_path(checksum)
        if path in _loaded:
            return _loaded[path]
    table = _intact(path, checksum)
    if table is None:
        build(progress)
        table = _intact(path, checksum)
        if table is None:
            raise GlgeError("METEOR's tables changed while they were read", file=str(path), hint="try again")
    scorer = Scorer.from_table(table)
    with _loading:
        _loaded.clear()
        _loaded[path] = scorer
    return scorer


def checksum() -> str | None:
    """The checksum of the sources, or None when there are none. Never raises."""
    try:
        return _checksum(find_sources())
    except GlgeError:
        return None


def state() -> State:
    """What there is of METEOR on this machine. Never raises."""
    jar = paraphrases = digest = table = size = problem = None
    built = False
    try:
        sources = find_sources()
        jar, paraphrases = sources.jar, sources.paraphrases
        digest = _checksum(sources)
        table = _table_path(digest)
        if opened := _intact(table, digest):
            built, size = True, opened.size
        elif _is_file(table):
            problem = f"{table} is damaged or was not made from these files; it is made again when it is needed"
    except GlgeError as error:
        problem = str(error)
    return State(jar, paraphrases, digest, digest == PUBLISHED, table, built, size, problem)


# One scorer at a time: the tables of one pair of sources serve a whole process.
_loaded: dict[Path, Scorer] = {}
_loading = threading.RLock()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # not ours to look into
        return False


def _named_by(variable: str) -> Path | None:
    value = os.environ.get(variable)
    if not value:
        return None
    path = Path(value).expanduser()
    if not _is_file(path):
        raise MissingResource(f"{variable} names no file", found=value, hint=f"correct or unset {variable}")
    return path


def _installed_jar() -> Path | None:
    """The jar of an installed pycocoevalcap. Importing that package would bring all of its own imports."""
    try:
        spec = importlib.util.find_spec("pycocoevalcap")
    except (ImportError, ValueError):
        return None
    for folder in (spec and spec.submodule_search_locations) or ():
        jar = Path(folder) / "meteor" / "meteor-1.5.jar"
        if _is_file(jar):
            return jar
    return None


def _checksum(sources: Sources) -> str:
    try:
        return sources.checksum()
    except OSError as error:
        raise MissingResource(
            f"METEOR's files cannot be read: {error.strerror}", file=error.filename, hint=_INSTALL
        ) from error


def _file_checksum(path: Path) -> str:
    """SHA-256 of a file, remembered between processes.

    Hashing 68 MB takes 0.05 to 0.3 s, most of a short command. So a checksum, once computed, is kept beside
    the file's path, size, inode and the times of its last modification and last change, in nanoseconds, and
    trusted while all of them stay the same. The time of change cannot be set back by a program that keeps
    modification times (pip, rsync, touch), so a replaced file is hashed again: the rule git trusts for its
    index. A file touched without a change costs one hashing, never a rebuild: the table's name depends on
    the content alone.
    """
    status = path.stat()
    identity = f"{path.resolve()}|{status.st_size}|{status.st_ino}|{status.st_mtime_ns}|{status.st_ctime_ns}"
    if identity in _known:
        return _known[identity]
    record = None
    with suppress(GlgeError):
        record = cache_folder() / "meteor-sources.json"
    recorded = _read_record(record)
    if identity not in recorded:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if record is not None:
            _write_record(record, {**_of_other_files(recorded, path), identity: digest})
        recorded = {identity: digest}
    _known[identity] = recorded[identity]
    return recorded[identity]


_known: dict[str, str] = {}


def _read_record(record: Path | None) -> dict[str, str]:
    try:
        content = json.loads(record.read_text(encoding="utf-8")) if record else {}
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in content.items()} if isinstance(content, dict) else {}


def _of_other_files(recorded: dict[str, str], path: Path) -> dict[str, str]:
    return {key: value for key, value in recorded.items() if not key.startswith(f"{path.resolve()}|")}


def _write_record(record: Path, content: dict[str, str]) -> None:
    """Keep the checksums if the cache can be written; if not, they are computed each time."""
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".meteor-sources.", dir=record.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=0)
            Path(name).replace(record)
        finally:
            Path(name).unlink(missing_ok=True)


def _table_path(checksum: str) -> Path:
    return cache_folder() / f"meteor-{FORMAT}-{checksum[:16]}.table"


def _intact(path: Path, checksum: str) -> TableFile | None:
    """The table if it is there, whole, and made from these sources."""
    try:
        table = open_table(path)
    except (OSError, DamagedTable):
        return None
    facts = table.facts
    return table if facts.get("format") == FORMAT and facts.get("checksum") == checksum else None


def _convert(sources: Sources, progress: Progress | None) -> dict[str, Any]:
    # Imported here: scoring with a table that exists does not need the readers of the sources.
    from glge.metrics.meteor.paraphrases import paraphrase_arrays  # noqa: PLC0415
    from glge.metrics.meteor.synonyms import synonym_arrays  # noqa: PLC0415
    from glge.metrics.meteor.tablefile import text_array  # noqa: PLC0415

    reading = sources.jar
    try:
        with zipfile.ZipFile(sources.jar) as jar:
            texts = {
                name: jar.read(name).decode("utf-8")
                for name in (
                    "function/english.words",
                    "nonbreaking/english.prefixes",
                    "synonym/english.synsets",
                    "synonym/english.exceptions",
                    "synonym/COPYING.WORDNET",
                )
            }
        arrays: dict[str, Any] = synonym_arrays(texts["synonym/english.synsets"], texts["synonym/english.exceptions"])
        # The licence of WordNet asks to be on every copy, also on one made for oneself.
        arrays["wordnet_licence"] = text_array(texts["synonym/COPYING.WORDNET"].split("\n"))
        arrays["function_words"] = text_array(texts["function/english.words"].split())
        arrays["prefixes"] = text_array(texts["nonbreaking/english.prefixes"].split("\n"))
        reading = sources.paraphrases
        return arrays | paraphrase_arrays(sources.paraphrases, progress)
    except (zipfile.BadZipFile, BadGzipFile, KeyError, EOFError, zlib.error, ValueError) as error:
        raise MissingResource(
            f"not METEOR 1.5's file, or a damaged one ({error})",
            file=str(reading),
            hint="reinstall it: pip install --force-reinstall pycocoevalcap",
        ) from error
    except OSError as error:
        raise MissingResource(f"cannot be read: {error.strerror}", file=str(reading), hint=_INSTALL) from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Make the folder of `path`; what goes wrong there becomes one line that says what to do."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise GlgeError(
                "no space left for METEOR's tables",
                file=str(path.parent),
                expected=f"{_NEEDED_BYTES // 1_000_000} MB free",
                hint=f"make room, or set {CACHE_VARIABLE} to a folder on another disk",
            ) from error
        raise GlgeError(
            f"METEOR's tables cannot be written: {error.strerror or error}",
            file=str(path.parent),
            hint=f"set {CACHE_VARIABLE} to a folder that can be written to",
        ) from error


@contextmanager
def _lock(path: Path) -> Iterator[bool]:
    """Be the only one who builds, as far as the file system knows locks; yields whether it does.

    The system drops the lock when its holder ends, however it ends. Without locks two processes may both
    build; the second rename then puts the same content in the place of the first.
    """
    with path.open("a+b") as file:
        alone = False
        until = time.monotonic() + _LONGEST_WAIT
        while not alone and time.monotonic() < until:
            try:
                _take(file.fileno())
                alone = True
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                    break
                time.sleep(0.1)
        yield alone


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
