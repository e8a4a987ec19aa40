# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of `softdat top` and `softdat metrics` share: a program whose counters are known, and the tool."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from own_address import own_loopback_address

SOFTDAT = str(Path(sys.argv[1]).resolve())
SOURCE = Path(sys.argv[3])
OBSERVED = str(Path(os.environ.get("OBSERVED", Path.cwd() / "observed")))
PATIENCE = 240
# This test's own: each program listens at the same service for a moment.
ADDRESS = own_loopback_address(2)
SKIPPED = 77


class Skip(Exception):
    """Why the promise cannot be looked at here."""


def expect(is_so, *words):
    if not is_so:
        raise AssertionError(" ".join(str(word) for word in words))


def softdat(*words, status=0, env=None):
    done = subprocess.run([SOFTDAT, *words], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(env or {})})
    expect(done.returncode == status, words, "exit status", done.returncode, done.stdout, done.stderr)
    return done


def snapshot(*words):
    return json.loads(softdat("top", "--json", *words).stdout)["processes"]


def await_that(condition, what):
    """The first answer of `condition` that is true. The limit is generous: it says that something never comes."""
    end = time.monotonic() + PATIENCE
    while True:
        answer = condition()
        if answer:
            return answer
        expect(time.monotonic() < end, "never:", what)
        time.sleep(0.05)


class Observed:
    """tests/tools/observed.cc, started with these words before it and these variables."""

    def __init__(self, *before, counters="on", transport="shm"):
        env = {**os.environ, "SOFTDAT_TRANSPORT": transport, "SOFTDAT_ANY_IA": "1", "SOFTDAT_ADDRESS": ADDRESS}
        env.pop("SOFTDAT_COUNTERS", None)
        if counters:
            env["SOFTDAT_COUNTERS"] = counters
        self.process = subprocess.Popen([*before, OBSERVED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=env, start_new_session=True)
        expect(self.process.stdout.readline() == "ready\n", "observed does not begin")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def do(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        expect(self.process.stdout.readline() == "done\n", word, "is not done")

    @property
    def pid(self):
        return self.process.pid

    def shown(self):
        found = snapshot("--pid", str(self.pid))
        return found[0] if found else None

    def await_shown(self, condition, what):
        return await_that(lambda: (lambda now: now if now and condition(now) else None)(self.shown()), what)


def keep_promise(promises):
    try:
        promises[sys.argv[2]]()
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
