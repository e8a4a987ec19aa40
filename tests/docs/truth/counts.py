# SPDX-License-Identifier: BSD-2-Clause
"""Numbers and counts: each row of facts/numbers.tsv names a sentence of a page and where the same number stands in the tree."""
import re

WORDS = {word: str(number) for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split())}
WORDS |= {"twenty": "20", "twenty-five": "25", "a twentieth": "20", "half a second": "0.5"}


class Row:
    """page, pattern of the sentence, path, pattern there ("count:PATTERN" counts), what the page's number n is in the tree."""

    def __init__(self, line):
        columns = line.split("\t")
        self.page, self.sentence, self.path, self.place = columns[:4]
        self.formula = columns[4] if len(columns) > 4 else "n"

    def in_tree(self, number):
        if not re.fullmatch(r"[\dn.+*/() -]+", self.formula):
            raise ValueError(f"{self.page}: not a formula of n: {self.formula}")
        return float(eval(self.formula, {}, {"n": number}))  # digits, operators and n only


def rows_of(text):
    return [Row(line) for line in text.split("\n") if line and not line.startswith("#")]


def value_of(text):
    """A number as prose or C++ writes it."""
    text = WORDS.get(text.lower(), text)
    text = re.sub(r"std::u?\w+\{(\d+)\}", r"\1", text).replace("'", "").replace(",", "").replace("_", "")
    text = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)
    if not re.fullmatch(r"[\d.+*/<> ()-]+", text):
        return None
    return float(eval(text))  # digits and operators only


def number_in_tree(tree, row):
    text = tree.text(row.path)
    if row.place.startswith("count:"):
        return float(len(re.findall(row.place.removeprefix("count:"), text, re.M)))
    found = re.search(row.place, text, re.M)
    return value_of(found.group(1)) if found else None


def check_row(tree, row, text):
    text = re.sub(r"\s+", " ", text)
    said = re.findall(row.sentence, text)
    if not said:
        yield f"{row.page}: facts/numbers.tsv knows a sentence that is not there: {row.sentence}"
    actual = number_in_tree(tree, row)
    if actual is None:
        yield f"{row.path}: facts/numbers.tsv finds no number by {row.place}"
        return
    for each in said:
        value = value_of(each)
        if value is None or row.in_tree(value) != actual:
            yield f"{row.page}: says {each}, {row.path} has {actual:g} ({row.formula}): {row.sentence}"


def check(tree, rows):
    for row in rows:
        if not tree.has_path(row.page) or not tree.has_path(row.path):
            yield f"facts/numbers.tsv: no file {row.page} or {row.path}"
            continue
        yield from check_row(tree, row, tree.text(row.page))


def check_boost(tree, readme):
    """README names the Boost libraries that the sources include, and no others."""
    found = {name for path, text in tree.code.items() if not path.startswith("tests/") for name in re.findall(r"#include <boost/(\w+)", text)}
    listed = re.search(r"Boost [\d.]+\s*\(([^)]*)\)", readme)
    names = {re.sub(r"\s+", "_", name.strip()).lower() for name in listed.group(1).split(",")} if listed else set()
    for name in sorted(found - names):
        yield f"README.md: Boost.{name} is included, and not named"
    for name in sorted(names - found):
        yield f"README.md: Boost.{name} is named, and included nowhere"


def check_test_directories(tree, hacking):
    """HACKING's table names every directory of tests/, and no others."""
    section = hacking.split("| directory of `tests/` |", 1)[-1].split("\n\n", 1)[0]
    named = {name for first in re.findall(r"^\| ([^|]*) \|", section, re.M) for name in re.findall(r"`(\w+)`", first)}
    there = {path.split("/")[1] for path in tree.files if path.startswith("tests/") and path.count("/") > 1}
    for name in sorted(there - named):
        yield f"docs/HACKING.md: the directory tests/{name} is missing"
    for name in sorted(named - there):
        yield f"docs/HACKING.md: there is no directory tests/{name}"
