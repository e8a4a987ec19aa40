# SPDX-License-Identifier: BSD-2-Clause
"""docs/THREADS.md names every lock of the libraries, and no mutex that is gone."""
import re

PAGE = "docs/THREADS.md"
FILES = re.compile(r"(base|hca|libdat|memory|simnic|transport|verbs)/.*\.(cc|h)$")
LOCK = re.compile(r"^\s*(?:static |mutable |inline |constinit )*(?:std::(?:shared_|recursive_)?mutex|(?:base::)?BriefLock|(?:base::)?SpinLock|(?:base::)?Guarded<.+>) (\w+)(?:\{.*\})?;")
OWNER = re.compile(r"^(\s*)(?:class|struct) (?:\[\[.*?\]\] )?(?:alignas\(\w+\) )?([\w:]+)[^;]*$")


def locks_of(text):
    """Names of the locks that a file declares: Class::member_, or the bare name outside of classes."""
    owners = []
    for line in text.split("\n"):
        owner = OWNER.match(line)
        if owner:
            depth = len(owner.group(1))
            owners = [each for each in owners if each[0] < depth] + [(depth, owner.group(2).split("::")[-1])]
        made = re.search(r"base::Guarded<\w+>& (\w+)\(\) \{", line) or re.search(r"static .*= new base::(Guarded<\w+>)\(\);", line)
        if made and "&" in made.group(0):
            yield made.group(1) + "()"
        elif made and "Devices" not in line:
            yield made.group(1)
        found = LOCK.match(line)
        if found:
            depth = len(line) - len(line.lstrip())
            around = [name for column, name in owners if column < depth]
            yield f"{around[-1]}::{found.group(1)}" if around else found.group(1)


def check(tree, page):
    names = set(re.findall(r"`([\w:<>()]+)`", page))
    count, there = 0, set()
    for path in sorted(tree.files):
        if not FILES.match(path) or path in ("base/guarded.h", "base/brief_lock.h"):
            continue
        for lock in locks_of(tree.text(path)):
            count += 1
            there.add(lock)
            if lock not in names:
                yield f"{PAGE}: the lock {lock} of {path} is missing"
    for name in sorted(re.findall(r"`(\w+::mutex_?)`", page)):
        if name not in there:
            yield f"{PAGE}: no file has the lock {name}"
    if count < 30:
        yield f"{PAGE}: only {count} locks were found"
