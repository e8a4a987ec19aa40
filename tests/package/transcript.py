# SPDX-License-Identifier: BSD-2-Clause
"""transcript.py files PAGE DIRECTORY NAME...: writes the files that the page shows in its blocks ```c file=NAME.
transcript.py compare|write PAGE ROOT: types the commands of the blocks ```session of the page in that root, line by line in
one shell, and compares what they print with the lines below them, or puts it there.

Numbers are compared as numbers, whatever they are; a digit of a name (sim0, udat2) counts as itself.
"""
import contextlib
import fcntl
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```session\n(.*?)^```$", re.M | re.S)
END = "end of the output, status "


def write_files(page, directory, names):
    for name in names:
        found = re.search(rf"^```c file={re.escape(name)}\n(.*?)^```$", page, re.M | re.S)
        with open(f"{directory}/{name}", "w") as file:
            file.write(found.group(1))


@contextlib.contextmanager
def turn_of(command):
    """Stock programs have fixed ports, and a bare root has the network of this machine: see tests/stock/stock_test."""
    if not re.search(r"\bdtest ", command):
        yield
        return
    with open(f"{tempfile.gettempdir()}/stock-dat-programs.lock", "a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


class Shell:
    """One bash in the root, so that directories stay."""

    def __init__(self, root):
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        self.bash = subprocess.Popen(["chroot", root, "bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, env=clean)

    def type(self, command):
        with turn_of(command):
            return self.answer(command)

    def answer(self, command):
        self.bash.stdin.write(f"{{ {command}\n}} </dev/null; echo \"{END}$?\"\n")
        self.bash.stdin.flush()
        lines = []
        for line in self.bash.stdout:
            if line.startswith(END):
                return lines
            lines.append(line.rstrip())
        sys.exit(f"the shell has ended after: {command}")


def as_pattern(line):
    """The line with its numbers and blanks made alike."""
    line = re.sub(r"0x[0-9a-f]+", "0xN", line)
    line = re.sub(r"(?<![A-Za-z_\d])\d+(\.\d+)*", "N", line)
    line = re.sub(r"(process N on) \S+\)", r"\1 HOST)", line)
    line = line.replace("connections failed", "connection failed")  # who ends at once may not hear that it broke
    return re.sub(r"\s+", " ", line).strip()


def sessions(page):
    """(commands, their outputs as the page has them) of each block."""
    for block in BLOCK.findall(page):
        commands, outputs = [], []
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append(line[2:])
                outputs.append([])
            else:
                outputs[-1].append(line)
        yield commands, outputs


def differences(command, shown, seen):
    wanted, found = sorted(map(as_pattern, shown)), sorted(map(as_pattern, seen))
    if wanted != found:
        yield f"$ {command}"
        yield from (f"  not seen: {line}" for line in wanted if line not in found)
        yield from (f"  not in the page: {line}" for line in found if line not in wanted)
        if set(wanted) == set(found):
            yield "  a line is there more or less often"


def main():
    mode, path, where = sys.argv[1:4]
    with open(path) as file:
        page = file.read()
    if mode == "files":
        return write_files(page, where, sys.argv[4:])
    shell = Shell(where)
    complaints, blocks = [], []
    for commands, outputs in sessions(page):
        text = ""
        for command, shown in zip(commands, outputs):
            seen = shell.type(command)
            complaints += differences(command, shown, seen)
            text += "".join(line + "\n" for line in [f"$ {command}", *seen])
        blocks.append(text)
    if mode == "write":
        remaining = iter(blocks)
        with open(path, "w") as file:
            file.write(BLOCK.sub(lambda _: f"```session\n{next(remaining)}```", page))
        return None
    print("\n".join(complaints))
    return 1 if complaints or not blocks else 0


sys.exit(main())
