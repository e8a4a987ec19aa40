# SPDX-License-Identifier: BSD-2-Clause
"""Starts a program with a process number that another process had: clone3(2) with set_tid, which needs root."""
import contextlib
import ctypes
import os
import signal
import time

CLONE3 = 435


class CloneArguments(ctypes.Structure):
    """struct clone_args of <linux/sched.h>."""
    _fields_ = [(name, ctypes.c_uint64) for name in ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack",
                                                     "stack_size", "tls", "set_tid", "set_tid_size", "cgroup")]


def await_next_tick(start):
    """Until a process that starts has another start than that one."""
    while int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) <= start:
        time.sleep(0.001)


@contextlib.contextmanager
def process_with_number(number, words, environment, inherited=()):
    """A pair of files, the input and the output of the program `words`, which is process `number` until it is killed at the end.

    It keeps the descriptors `inherited`. OSError: PermissionError without root; FileExistsError when a process has the number."""
    theirs, ours = os.pipe(), os.pipe()
    pid = start(number, words, environment, theirs[0], ours[1], inherited)
    os.close(theirs[0])
    os.close(ours[1])
    try:
        with open(theirs[1], "w") as to, open(ours[0]) as out:
            yield to, out
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def start(number, words, environment, input, output, inherited):
    wanted = (ctypes.c_int * 1)(number)
    arguments = CloneArguments(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(wanted), set_tid_size=1)
    libc = ctypes.CDLL(None, use_errno=True)
    pid = libc.syscall(CLONE3, ctypes.byref(arguments), ctypes.sizeof(arguments))
    if pid < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    if pid > 0:
        return pid
    try:
        os.dup2(input, 0)
        os.dup2(output, 1)
        for file in inherited:
            os.set_inheritable(file, True)
        os.execvpe(words[0], words, environment)
    finally:
        os._exit(126)


def start_of(pid):
    """When the process started, in clock ticks: proc(5), stat, field 22."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[22 - 3])
