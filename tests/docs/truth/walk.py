# SPDX-License-Identifier: BSD-2-Clause
"""The walk of docs/ARCHITECTURE.md: each function that it names is there, and calls the next one."""
import re

PAGE = "docs/ARCHITECTURE.md"
ROW = re.compile(r"^\| `([\w:~]+)` \| `([\w/.]+)` \|", re.M)


class Step:
    def __init__(self, name, path):
        self.name, self.path = name, path
        self.short = name.split("::")[-1]


def walks_of(text):
    """The tables whose first columns are function and file: a list of lists of steps."""
    walks, before = [], None
    for number, line in enumerate(text.split("\n")):
        found = ROW.match(line)
        if not found:
            continue
        if before != number - 1:
            walks.append([])
        walks[-1].append(Step(*found.groups()))
        before = number
    return walks


def body_of(text, name):
    """The bodies of all functions of that (qualified) name, as one text; "" without any."""
    short = name.split("::")[-1]
    pattern = re.compile(rf"(?<![\w.>]){re.escape(name)}\s*\(" if "::" in name else rf"(?<![\w.>:]){re.escape(short)}\s*\(")
    bodies = [bracketed(text, found.end() - 1) for found in pattern.finditer(text)]
    if not any(bodies) and "::" in name:  # defined in its class
        return body_of(text, short)
    return "\n".join(body for body in bodies if body)


def bracketed(text, start):
    """The body of the definition whose parameters begin at `start`; "" if this is a call or a declaration."""
    end = closing(text, start, "(", ")")
    found = re.compile(r"\s*(?:const\b|noexcept\b|override\b|final\b|try\b|->\s*[\w:<>]+|:\s*[^;{]*(?:\{[^{};]*\}[^;{]*)*?|\s)*\{").match(text, end)
    if not found:
        return ""
    return text[found.end() - 1:closing(text, found.end() - 1, "{", "}")]


def closing(text, start, opens, closes):
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == opens) - (text[index] == closes)
        if depth == 0:
            return index + 1
    return len(text)


def calls(body, name):
    """Whether the body calls the function, or hands it over (&Provider::slot, where a table leads on)."""
    return re.search(rf"(?<!\w){re.escape(name)}(?:_func)?\s*(?:<[^;()]*>)?\s*[(,)]", body) is not None


def check(tree, text):
    walks = walks_of(text)
    if len(walks) < 2 or min(len(walk) for walk in walks) < 5:
        yield f"{PAGE}: the walk was not found"
    for walk in walks:
        for step, after in zip(walk, walk[1:] + [None]):
            yield from check_step(tree, step, after)


def check_step(tree, step, after):
    if step.path not in tree.files:
        yield f"{PAGE}: no file {step.path}"
        return
    body = body_of(tree.code[step.path], step.name)
    if not body:
        yield f"{PAGE}: {step.path} does not define {step.name}"
    elif after is not None and not calls(body, after.short):
        yield f"{PAGE}: {step.name} does not call {after.name}"


def rooms_of_check(text):
    """Room to the rooms that tools/dev/check lets it include."""
    listed = text.split("room_edges='\n", 1)[-1].split("\n'", 1)[0]
    return {words[0]: set(words[1:]) for words in (line.split() for line in listed.split("\n")) if words}


def rooms_of_page(text):
    rows = re.findall(r"^\| `([\w/]+)` \| (?!`[\w/.]+` \|)[^|]* \|([^|]*)\|$", text, re.M)
    return {room: set(re.findall(r"`([\w/]+)`", included)) for room, included in rows}


def check_rooms(tree, text):
    """The list of rooms is that of tools/dev/check, and the chain above it has no room left of one that includes it."""
    page, code = rooms_of_page(text), rooms_of_check(tree.text("tools/dev/check"))
    for room in sorted(set(page) | set(code)):
        if page.get(room) != code.get(room):
            yield f"{PAGE}: {room} may include {' '.join(sorted(code.get(room, ()))) or 'nothing'}, says tools/dev/check"
    chain = re.search(r"^    (tools.*>.*)$", text, re.M)
    order = {room: place for place, rooms in enumerate(chain.group(1).split(" > ") if chain else ())
             for room in re.split(r"[|,] ?| \| ", rooms.replace(" ", "")) if room}
    for room, below in sorted(code.items()):
        for each in sorted(below):
            if room in order and each in order and order[each] <= order[room]:
                yield f"{PAGE}: the chain has {each} above {room}, which includes it"
    if len(order) < 8:
        yield f"{PAGE}: the chain of rooms was not found"
