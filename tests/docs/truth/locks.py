# SPDX-License-Identifier: BSD-2-Clause
"""Every lock of the libraries has a place in the order of locks, and every place is in the list that is printed."""
import re

FILES = re.compile(r"(base|hca|libdat|memory|simnic|transport|verbs)/.*\.(cc|h)$")
# What makes locks, and what is none: a member of a template that is given its place.
MAKERS = {"base/guarded.h", "base/brief_lock.h", "base/spin_lock.h", "base/lock_order.h"}
BARE = re.compile(r"^\s*(?:static |mutable |inline |constinit |thread_local )*"
                  r"(?:std::(?:shared_|recursive_|timed_)?mutex|(?:base::)?BriefLock|(?:base::)?SpinLock|pthread_mutex_t)\s+\w+\s*(?:\{.*\}|=.*)?;")
PLACE = re.compile(r"inline constexpr base::LockPlace (\w+)\{")
LIST = re.compile(r"inline constexpr std::array kOf\w+ ?= ?\{(.*?)\};", re.S)


def check(tree):
    places = 0
    for path in sorted(tree.files):
        if not FILES.match(path) or path in MAKERS:
            continue
        text = tree.text(path)
        for number, line in enumerate(text.split("\n"), 1):
            if BARE.match(line):
                yield f"{path}:{number}: a lock without a place in the order of locks (base/lock_order.h)"
        if not path.endswith("/lock_places.h"):
            continue
        found = PLACE.findall(text)
        listed = re.findall(r"&(\w+)", "".join(LIST.findall(text)))
        places += len(found)
        for name in found:
            if name not in listed:
                yield f"{path}: {name} is missing in the list at its end"
    if places < 30:
        yield f"only {places} places of locks were found"
