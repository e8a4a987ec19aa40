# SPDX-License-Identifier: BSD-2-Clause
"""Every command line of a page is run by a test, or stands in facts/commands_not_run.tsv with the reason."""
import re

from pages import command_lines, lines_of

# Which test runs the blocks of a page, and which blocks. The first is tests/docs/readme_test, then guide_test, container_test.
RUNNERS = {
    "README.md": ("indented",),
    "docs/TUTORIAL.md": ("fence sh", "fence sh fails"),
    "docs/PORTING.md": ("fence sh", "fence sh fails"),
    "docs/FAQ.md": ("fence sh", "fence sh fails"),
    "docs/examples/README.md": ("fence sh", "fence sh fails"),
    "docs/CONTAINERS.md": ("fence ci",),
    "docs/TRANSCRIPT.md": ("fence session",),
    "docs/CLUSTERS.md": ("fence laptop", "fence mpirun", "fence slurm"),
}


class Excuse:
    def __init__(self, line):
        self.page, self.command, self.reason = line.split("\t")


def excuses_of(text):
    return [Excuse(line) for line in text.split("\n") if line and not line.startswith("#")]


def run_here_of(text):
    """facts/commands_run.tsv: page, command, and the command as this test runs it."""
    return [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]


def kinds_by_line(text):
    return {line.number: line.kind for line in lines_of(text)}


def uncovered(page, text, is_manual):
    """Yields (line number, command) for the command lines that no other test runs."""
    kinds = {} if is_manual else kinds_by_line(text)
    covered = RUNNERS.get(page, ())
    for number, command in command_lines(text, is_manual):
        if kinds.get(number) not in covered:
            yield number, command


def check(texts, excuses, run_here, left_out):
    """`texts`: page to text. `left_out`: the command lines of README that readme_test leaves out, all of which need an excuse."""
    wanted = {(excuse.page, excuse.command) for excuse in excuses}
    run = {(page, command) for page, command, _ in run_here}
    met = set()
    for page, text in sorted(texts.items()):
        lines = list(uncovered(page, text, page.startswith("docs/man/")))
        if page == "README.md":
            lines += [(number, command) for number, command in command_lines(text) if command in left_out]
        for number, command in lines:
            key = (page, command)
            if key in wanted or key in run:
                met.add(key)
            else:
                yield f"{page}:{number}: no test runs this, and no reason is given: {command}"
    for page, command in sorted((wanted | run) - met):
        yield f"{page}: the lists of commands know a line that is not there: {command}"
    for excuse in excuses:
        if len(excuse.reason) < 10:
            yield f"{excuse.page}: no reason: {excuse.command}"
    for page, command in sorted(wanted & run):
        yield f"{page}: run, and excused: {command}"


def left_out_by_readme_test(excuses):
    return {excuse.command for excuse in excuses if excuse.page == "README.md"}
