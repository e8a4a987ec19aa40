# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of timelines share: the tool, pages, and timeline files by what
perfetto.dev/docs/reference/trace-packet-proto says of the bytes, a reader and a writer that share nothing with those of the
product."""
import collections
import html.parser
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
from own_address import own_port

SOFTDAT, PROGRAM = map(os.path.realpath, sys.argv[1:3])
PROMISE = sys.argv[3]
PATIENCE = 400
PORT = own_port()
ROUNDS = 25

BEGIN, END, INSTANT = 1, 2, 3
# As docs/TIMELINES.md lists them; the numbers stand in files.
NAMES = ["", "post send", "post receive", "post write", "post read", "post atomic", "post refused: queue full", "wire", "place",
         "complete", "complete: error", "dequeue", "no receive", "no room", "dat_evd_wait", "dat_cno_wait", "CNO wake-up",
         "dat_lmr_create", "dat_lmr_free", "pause between polls", "connecting", "connected", "disconnected", "broken",
         "events lost"]
ARGUMENTS = ["", "bytes", "sleeps", "count", "endpoint"]
MONOTONIC = 3


class Breach(Exception):
    pass


def expect(is_kept, what):
    if not is_kept:
        raise Breach(what)


def environment(**more):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("SOFTDAT_", "DAT_")) and name not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
    clean["ASAN_OPTIONS"] = f"{clean.get('ASAN_OPTIONS', '')}:detect_leaks=0".strip(":")
    # Else a child of a process with threads may have none of its own.
    clean["TSAN_OPTIONS"] = f"{clean.get('TSAN_OPTIONS', '')}:die_after_fork=0".strip(":")
    return {**clean, **more}


def softdat(*words, status=0, env=None, **more):
    done = subprocess.run([SOFTDAT, *words], env=environment(**(env or {})), text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE, **more)
    expect(done.returncode == status, f"{words}: exit status {done.returncode}, not {status}: {done.stdout}{done.stderr}")
    return done


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """The fields of a protobuf message, by protobuf.dev/programming-guides/encoding."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            expect(at + size <= len(data), "a field is cut off")
            value, at = data[at:at + size], at + size
        else:
            raise Breach(f"wire type {kind}")
        yield number, value


Event = collections.namedtuple("Event", "time name type track flow numbers")


class Trace:
    """What perfetto.dev/docs/reference/trace-packet-proto says of the bytes."""

    def __init__(self, data):
        self.tracks, self.events, self.sequences, self.compressed = {}, [], {}, 0
        for number, packet in fields(data):
            expect(number == 1, f"field {number} of Trace is no packet")
            self.take(packet)
        self.events.sort(key=lambda event: event.time)

    def take(self, data):
        packet = collections.defaultdict(lambda: None, fields(data))
        if packet[50]:
            self.compressed += 1
            for _, inner in fields(zlib.decompress(packet[50])):
                self.take(inner)
            return
        state = self.sequences.setdefault(packet[10], {"names": {}, "arguments": {}})
        if packet[13] == 1:
            state.update(names={}, arguments={})
        for number, value in fields(packet[12] or b""):
            entry = dict(fields(value))
            state["names" if number == 2 else "arguments"][entry[1]] = entry[2].decode()
        if packet[59]:
            state["clock"] = dict(fields(packet[59]))[58]
        if packet[6]:
            clocks = {dict(fields(clock))[1]: dict(fields(clock)) for _, clock in fields(packet[6])}
            expect(clocks[64].get(3) == 1, "the own clock is not incremental")
            state["time"] = clocks[3][2]
        if packet[60]:
            track = dict(fields(packet[60]))
            self.tracks[track[1]] = track
        if packet[11]:
            self.take_event(packet, state)

    def take_event(self, packet, state):
        event = collections.defaultdict(lambda: None, fields(packet[11]))
        if packet[58] == 3:
            time = packet[8]
        else:
            state["time"] += packet[8]
            time = state["time"]
        numbers = {}
        if event[4]:
            annotation = dict(fields(event[4]))
            numbers[state["arguments"][annotation[1]]] = annotation[3]
        expect(event[11] in self.tracks, "an event has no track")
        self.events.append(Event(time, state["names"].get(event[10]), event[9], event[11], event[47], numbers))

    def process(self, track):
        return self.tracks[track].get(5, track)

    def named(self, name):
        return [event for event in self.events if event.name == name]


def put_varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*parts):
    """Each part: a field's number, and an int, a text, bytes, or a float, which stands for a fixed number."""
    out = b""
    for number, value in parts:
        if isinstance(value, float):
            out += put_varint(number << 3 | 1) + struct.pack("<Q", int(value))
        elif isinstance(value, int):
            out += put_varint(number << 3) + put_varint(value)
        else:
            data = value.encode(errors="surrogateescape") if isinstance(value, str) else value
            out += put_varint(number << 3 | 2) + put_varint(len(data)) + data
    return out


class Writer:
    """A timeline whose times (nanoseconds from its begin) are those that a test wants."""
    START = 1_000_000_000

    def __init__(self):
        self.data, self.tracks = bytearray(), 0
        names = [message((1, index), (2, name)) for index, name in enumerate(NAMES) if name]
        arguments = [message((1, index), (2, name)) for index, name in enumerate(ARGUMENTS) if name]
        self.packet((13, 1), (12, message(*[(2, name) for name in names], *[(3, name) for name in arguments])))

    def packet(self, *parts):
        self.data += message((1, message(*parts, (10, 1))))

    def track(self, *parts):
        self.tracks += 1
        self.packet((60, message((1, self.tracks), *parts)))
        return self.tracks

    def process(self, name, number):
        return self.track((3, message((1, number), (6, name))))

    def thread(self, process, name, number):
        return self.track((4, message((1, 1), (2, number), (5, name))), (5, process))

    def endpoint(self, process, name):
        return self.track((2, name), (5, process))

    def event(self, time, track, name, flow=0, kind=INSTANT, **number):
        parts = [(9, kind), (11, track), (10, NAMES.index(name))]
        for argument, value in number.items():
            parts.append((4, message((1, ARGUMENTS.index(argument)), (3, value))))
        if flow:
            parts.append((47, float(flow)))
        self.packet((8, self.START + time), (58, MONOTONIC), (11, message(*parts)))

    def slice(self, begin, end, track, name, **number):
        self.event(begin, track, name, kind=BEGIN)
        self.event(end, track, name, kind=END, **number)

    def write(self, file):
        with open(file, "wb") as opened:
            opened.write(self.data)
        return file


class Pair:
    """A client and a server, a connection, and a whole of `length` nanoseconds."""

    def __init__(self, length, names=("client", "server"), writer=None, number=0):
        self.to = writer or Writer()
        self.flows = number << 32
        self.sides = []
        for index, name in enumerate(names):
            process = self.to.process(name, 100 * number + 10 * index + 1)
            self.sides.append((self.to.thread(process, name, 100 * number + 10 * index + 1), self.to.endpoint(process, f"endpoint {number + 1}")))
        (self.client, self.client_ep), (self.server, self.server_ep) = self.sides
        self.to.event(0, self.client_ep, "connected")
        self.to.event(length, self.client_ep, "disconnected")

    def send(self, posted, wire, placed, taken, lacking=None, completed=None, dequeued=None, bytes=64, forward=True):
        """A send: its times at the receiver, and if it is not silent, at the sender."""
        self.flows += 1
        (thread, ep), (peer, peer_ep) = self.sides if forward else self.sides[::-1]
        rows = [(posted, thread, "post send"), (wire, ep, "wire"), (lacking, peer_ep, "no receive"), (placed, peer_ep, "place"),
                (placed, peer_ep, "complete"), (taken, peer, "dequeue"), (completed, ep, "complete"), (dequeued, thread, "dequeue")]
        for time, track, name in rows:
            if time is not None:
                self.to.event(time, track, name, self.flows, **({"bytes": bytes} if name in ("post send", "place") else {}))

    def write_directly(self, posted, completed, dequeued, bytes=4096):
        self.flows += 1
        self.to.event(posted, self.client, "post write", self.flows, bytes=bytes)
        for name in ("place", "complete"):
            self.to.event(completed, self.client_ep, name, self.flows)
        self.to.event(dequeued, self.client, "dequeue", self.flows)


def record(directory, reason, *options, rounds=ROUNDS):
    file = os.path.join(directory, "timeline")
    done = softdat("run", "--timeline", file, *options, "--server", f"exec {PROGRAM} server {PORT} {reason} {rounds}", "--",
                   PROGRAM, "client", str(PORT), reason, str(rounds))
    expect("softdat view" in done.stderr, f"the summary does not name the timeline: {done.stderr}")
    expect(os.listdir(directory) == ["timeline"], f"left over: {os.listdir(directory)}")
    return file


def read(file):
    with open(file, "rb") as opened:
        return Trace(opened.read())


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.counts, self.data, self.is_data, self.links, self.scripts = collections.Counter(), "", False, [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.is_data = attributes.get("id") == "data"
        self.scripts += tag == "script"
        self.links += [value for name, value in attributes.items() if name in ("src", "href")]
        for word in (attributes.get("class") or "").split():
            self.counts[word] += 1

    def handle_endtag(self, tag):
        self.is_data = False

    def handle_data(self, data):
        if self.is_data:
            self.data += data


def view(file, *words):
    softdat("view", file, *words)
    with open(words[1] if words else file + ".html", encoding="utf-8") as opened:
        return opened.read()


def page_data(file, *words):
    return json.loads(Page(view(file, *words)).data)


def keep_promise(promises):
    """Runs the promise, a function that takes a directory of its own."""
    # A browser's processes may still write while their directory is removed.
    with tempfile.TemporaryDirectory(prefix="softdat-timeline-", ignore_cleanup_errors=True) as directory:
        try:
            promises[PROMISE](directory)
        except Breach as breach:
            sys.exit(f"{PROMISE}: {breach}")
