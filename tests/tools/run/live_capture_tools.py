# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of `softdat capture PID` share: programs that talk to each other, the tool, and what tshark finds."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from own_address import own_loopback_address
from reused_number import start_of

SOFTDAT, PROGRAM = map(os.path.realpath, sys.argv[1:3])
PATIENCE = 240
PORT = 45248
# This test's own, so that no other has its port.
ADDRESS = own_loopback_address(1)
SEND, WRITE, READ = 5000, 200000, 70000


def expect(is_kept, *what):
    if not is_kept:
        raise AssertionError(" ".join(map(str, what)))


def skip(why):
    print(why)
    sys.exit(77)


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTDAT_", "DAT_"))}
    return {**clean, "ASAN_OPTIONS": f"{clean.get('ASAN_OPTIONS', '')}:detect_leaks=0".strip(":"), "SOFTDAT_ANY_IA": "1", "SOFTDAT_ADDRESS": ADDRESS,
            **more}


def await_that(condition, what):
    """The limit is generous: it says that something never comes."""
    end = time.monotonic() + PATIENCE
    while not (answer := condition()):
        expect(time.monotonic() < end, "never:", what)
        time.sleep(0.02)
    return answer


def softdat(*words, status=0):
    done = subprocess.run([SOFTDAT, *map(str, words)], env=environment(), text=True, capture_output=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL)
    expect(done.returncode == status, words, "exit status", done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def tshark(file, *words):
    # Without the option, tshark 4 calls Sends of less than 16 bytes malformed (docs/CAPTURES.md).
    done = subprocess.run(["tshark", "-n", "-r", file, "--disable-heuristic", "rpcrdma_iwarp", *words], text=True,
                          capture_output=True, timeout=PATIENCE)
    expect(done.returncode == 0, "tshark", words, done.stderr)
    return done.stdout


def bytes_of(length, seed):
    """As fill() of capture_program."""
    made = bytearray()
    for _ in range(length):
        seed = (seed * 1103515245 + 12345) & 0xFFFFFFFF
        made.append(seed >> 16 & 0xFF)
    return bytes(made)


def expect_well_formed(file):
    expect(tshark(file, "-Y", "_ws.malformed") == "", "tshark calls packets malformed")
    expect(tshark(file, "-Y", "iwarp_mpa.req") and tshark(file, "-Y", "iwarp_mpa.rep"), "the handshake is missing")
    whole = "tcp.len > 0 && !iwarp_mpa.req && !iwarp_mpa.rep && frame.cap_len == frame.len"
    expect(tshark(file, "-Y", f"{whole} && !iwarp_ddp") == "", "tshark does not decode every packet")


class Started:
    """A program whose output is read, and which is killed at the end."""

    def __init__(self, *words, **more):
        self.process = subprocess.Popen([*map(str, words)], env=environment(**more), text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pid = self.process.pid

    def line(self, wanted):
        said = self.process.stdout.readline()
        expect(re.search(wanted, said), "expected", wanted, "but it said:", said)
        return said

    def send(self, number):
        self.process.send_signal(number)

    def end(self, status=0):
        said = self.process.communicate(timeout=PATIENCE)[0]
        expect(self.process.returncode == status, "exit status", self.process.returncode, said)
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def traffic(transport, server_words=(), **more):
    """Server and client that send for ever, the first round done."""
    with Started(*server_words, PROGRAM, "server", PORT, 0, SOFTDAT_TRANSPORT=transport, **more) as server:
        server.line("listens")
        with Started(PROGRAM, "client", PORT, 0, ADDRESS, SOFTDAT_TRANSPORT=transport, **more) as client:
            client.line("first round is done")
            yield server, client


def capturing(pid, file, *words):
    return Started(SOFTDAT, "capture", pid, "--output", file, *words)


def await_bytes(work, least):
    """Until what the process writes for the present capture has grown so far."""
    def is_there():
        with contextlib.suppress(FileNotFoundError):
            return any(part.stat().st_size >= least for part in Path(work).glob("*.part-*"))
    await_that(is_there, f"{least} captured bytes")


def capture_a_while(pid, file, *words, least=2_000_000):
    with capturing(pid, file, *words) as tool:
        tool.line(r"^captures process \d+ \(capture_program\).*1 connection that was there already")
        await_bytes(os.path.dirname(file), least)
        tool.send(signal.SIGINT)
        said = tool.end()
    packets, dropped = map(int, re.search(r"(\d+) packets? captured, (\d+) dropped", said).groups())
    expect(packets > 0, said)
    return packets, dropped


def door_name(pid):
    """The name of the socket file of the process's first adapter."""
    return f"capture-{os.stat(f'/proc/{pid}/ns/pid').st_ino}-{pid}-{start_of(pid)}-0"


def door_of(pid):
    """The socket file of the process's first adapter."""
    places = [os.environ.get("XDG_RUNTIME_DIR", "/nowhere") + "/softdat", f"/run/user/{os.geteuid()}/softdat",
              f"/dev/shm/softdat-{os.geteuid()}", f"/tmp/softdat-{os.geteuid()}"]
    found = [Path(place, door_name(pid)) for place in places]
    return next(path for path in found if path.exists())


def keep_promise(promises):
    """Runs the promise, a function that takes a directory of its own."""
    if shutil.which("tshark") is None:
        skip("tshark is not there")
    with tempfile.TemporaryDirectory(prefix="softdat-live-") as work:
        promises[sys.argv[3]](work)
