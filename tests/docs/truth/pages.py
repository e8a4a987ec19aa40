# SPDX-License-Identifier: BSD-2-Clause
"""The documents: lines with what they are, command lines, and the text of manual pages."""
import re

from tree import Tree

# History: it names what is gone.
HISTORY = {"CHANGELOG.md"}


def pages_of(tree: Tree):
    return sorted(path for path in tree.files
                  if path not in HISTORY and re.fullmatch(r"[A-Z]+\.md|docs/.*\.md|docs/man/man[157]/.*", path))


def plain_manual(text):
    """A manual page as a reader sees it, line for line: macros and escapes away."""
    lines = []
    for line in text.split("\n"):
        if line.startswith('.\\"') or re.match(r"\.(Dd|Dt|Os|Xr|In|Lk)\b", line):
            line = ""
        line = re.sub(r"^\.[A-Z][a-z]\b ?", "", line)
        line = re.sub(r"\\f[BIRP]|\\&|\\e$", "", line).replace("\\-", "-").replace("\\e", "\\")
        lines.append(line)
    return "\n".join(lines)


class Line:
    """One line: `kind` is "text", "indented" (a block of commands or output) or the words behind ``` of its fence."""

    def __init__(self, number, kind, text, block):
        self.number, self.kind, self.text, self.block = number, kind, text, block


def lines_of(text):
    fence, block, is_after_blank, is_indented = None, 0, True, False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fence = line[3:].strip() if fence is None else None
            block += 1
            continue
        if fence is not None:
            yield Line(number, "fence " + fence, line, block)
            continue
        starts = is_after_blank and line.startswith("    ") and not line.lstrip().startswith("*")
        is_indented = starts or (is_indented and line.startswith("    "))
        block += starts and not is_indented
        if not line.strip():
            block += 1
        yield Line(number, "indented" if is_indented else "text", line, block)
        is_after_blank = not line.strip()


def command_lines(text, is_manual=False):
    """Yields (line number, command) for what a reader is to type; continued lines are joined."""
    source = manual_lines(text) if is_manual else lines_of(text)
    joined, first, block = "", 0, None
    for line in source:
        if line.kind not in ("indented", "fence sh", "fence sh fails", "fence ci"):
            continue
        if line.block != block:
            joined = ""
        block = line.block
        first = first if joined else line.number
        joined += line.text.strip()
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        if joined:
            yield first, re.sub(r"\s+#( .*)?$", "", joined).strip()
        joined = ""


def manual_lines(text):
    section, inside = "", False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(".Sh "):
            section = line[4:]
        if section != "EXAMPLES":
            continue
        if line.startswith(".Bd"):
            inside = True
        elif line.startswith(".Ed"):
            inside = False
        elif inside:
            yield Line(number, "indented", re.sub(r"\\e$", r"\\", line), number if not inside else 0)
