# SPDX-License-Identifier: BSD-2-Clause
"""The environment variables: what the code reads, and what the pages say of their names, values, limits and defaults."""
import re

TABLE = "base/environment.cc"
READERS = re.compile(r"(base|hca|libdat|memory|simnic|transport|verbs)/.*\.(cc|h)$")

# Where the code has the value that counts without a setting: file, pattern, and how a value of the code reads in the pages.
DEFAULTS = {
    "SOFTDAT_TRANSPORT": ("simnic/open.h", r"CarrierKind carrier = transport::CarrierKind::k(\w+);", str.lower),
    "SOFTDAT_CRC": ("simnic/open.h", r"bool crc = (\w+);", {"false": "off", "true": "on"}.get),
    "SOFTDAT_MPA": ("simnic/open.h", r"MpaStyle mpa = transport::MpaStyle::k(\w+);",
                    {"PeerToPeer": "p2p", "Enhanced": "2", "Plain": "1"}.get),
    "SOFTDAT_RNR": ("simnic/open.h", r"RnrPolicy rnr = RnrPolicy::k(\w+);", str.lower),
    "SOFTDAT_DIRECT": ("simnic/open.h", r"DirectAccess direct = hca::DirectAccess::k(\w+);",
                       {"WhereHarmless": "auto", "WhereAble": "on", "None": "off"}.get),
    "SOFTDAT_TCP_TIMEOUT": ("simnic/open.h", r"tcp_timeout = std::chrono::seconds\((\d+)\);", str),
    "SOFTDAT_CONNECT_GRACE": ("simnic/open.h", r"connect_grace = std::chrono::milliseconds\((\d+)\);", str),
    "SOFTDAT_COUNTERS": ("libdat/object/counter_publisher.cc", r'kCounters\) == "(on)"', {"on": "off"}.get),
    "SOFTDAT_LOG": ("base/log.cc", r"return LogLevel::k(\w+);\n}\n", str.lower),
}


class Row:
    def __init__(self, name, choices, least, most):
        self.name, self.choices = name, choices.split()
        self.least, self.most = least, most

    def is_allowed(self, value):
        if self.most:
            return value.isdigit() and self.least <= int(value) <= self.most
        return not self.choices or value in self.choices


def rows_of(tree):
    """The table of the code, by name."""
    pattern = re.compile(r'\{"(SOFTDAT_\w+)", "([^"]*)"(?:, \{?(\d+), (\d+)\}?|, \{\})?(?:, true)?\}')
    rows = [Row(name, choices, int(least or 0), int(most or 0)) for name, choices, least, most in pattern.findall(tree.text(TABLE))]
    return {row.name: row for row in rows}


def read_by_code(tree):
    """Every variable that the libraries read."""
    names = set(rows_of(tree))
    for path, text in tree.code.items():
        if READERS.match(path):
            names |= set(re.findall(r'getenv\("(\w+)"\)', text))
            names |= set(re.findall(r'"(DAT_(?:OVERRIDE|DBG_\w+)|SOFTDAT_RUN_\w+)"', text))
    return names


def problem_of(tree, name, value):
    """What is wrong with NAME=value, or None."""
    row = rows_of(tree).get(name)
    if row is not None:
        is_placeholder = re.fullmatch(r"[A-Z]+|\$\w+|\.\.\.", value)
        return None if row.is_allowed(value) or is_placeholder else "not a value of this variable"
    if name.startswith("SOFTDAT_") and name not in tree.words:
        return "no such variable"
    return None


class Entry:
    """What a page says of one variable."""

    def __init__(self, name, values, default, limits):
        self.name, self.values, self.default, self.limits = name, values, default, limits


def limits_in(text):
    found = re.search(r"(\d+) to (\d+)", text)
    return (int(found.group(1)), int(found.group(2))) if found else None


def entries_of_table(text):
    """The rows of tables of variables."""
    entries = {}
    for name, values in re.findall(r"^\| `(\w+)` \| ([^|]*) \|", text, re.M):
        default = re.search(r"`([\w:]+)` \(default\)", values) or re.search(r"default (\d+)", values)
        entries[name] = Entry(name, set(re.findall(r"`([^`]+)`", values)), default and default.group(1), limits_in(values))
    return entries


def entries_of_manual(text):
    """The list in the section ENVIRONMENT of softdat(7)."""
    section = text.split(".Sh ENVIRONMENT\n", 1)[-1].split("\n.Sh ", 1)[0]
    entries = {}
    for part in section.split(".It Ev ")[1:]:
        name = part.split()[0]
        own = part.split("\n.El", 1)[0]
        plain = re.sub(r"\n", " ", own)
        values = set(re.findall(r"\.Ql (\S+)", own))
        default = re.search(r"\.Ql (\S+) \(the default", plain) or re.search(r"\.Ql (\S+) is the default", plain) or \
            re.search(r"\b(\d+) is the default", plain)
        entries[name] = Entry(name, values, default and default.group(1), limits_in(plain))
    return entries


def default_of(tree, name):
    """The default, None without one, False where the code does not show it."""
    if name not in DEFAULTS:
        return None
    path, pattern, translate = DEFAULTS[name]
    found = re.findall(pattern, tree.text(path))
    return translate(found[-1]) if found else False


def check_entry(tree, page, entry):
    row = rows_of(tree).get(entry.name)
    if row is None:
        return
    if row.choices:
        missing = [value for value in row.choices if value not in entry.values]
        if missing:
            yield f"{page}: {entry.name}: the code also takes {' '.join(missing)}"
        if page.endswith(".md"):
            wrong = sorted(entry.values - set(row.choices))
            if wrong:
                yield f"{page}: {entry.name}: the code does not take {' '.join(wrong)}"
    if row.most and entry.limits != (row.least, row.most):
        yield f"{page}: {entry.name}: the code's limits are {row.least} to {row.most}"
    default = default_of(tree, entry.name)
    if default is False:
        yield f"tests/docs/truth/environment.py: {entry.name}: {DEFAULTS[entry.name][0]} does not show the default"
    elif default is not None and entry.default != default:
        yield f"{page}: {entry.name}: the code's default is {default}, not {entry.default}"


def check(tree, readme, reference, manual, registry, runner):
    """Complaints about the five pages that list variables, given as texts. README has those that a first program needs."""
    rows = rows_of(tree)
    if len(rows) < 8:
        yield f"{TABLE}: only {len(rows)} variables were found"
    first = entries_of_table(readme.split("\n## Environment\n", 1)[-1].split("\n## ", 1)[0])
    if len(first) < 5:
        yield f"README.md: only {len(first)} variables were found"
    for page, entries in (("README.md", first), ("docs/ENVIRONMENT.md", entries_of_table(reference)),
                          ("docs/man/man7/softdat.7", entries_of_manual(manual))):
        for name in sorted(set(rows) - set(entries)) if page != "README.md" else []:
            yield f"{page}: {name} is missing"
        for name in sorted(set(entries) - read_by_code(tree)):
            yield f"{page}: {name}: no code reads it"
        for entry in entries.values():
            yield from check_entry(tree, page, entry)
    known = reference + manual + registry + runner
    for name in sorted(read_by_code(tree)):
        if not re.search(rf"\b{name}\b", known):
            yield f"{name} is read by the code, and no page lists it"
    for name in sorted(re.findall(r"^\| `(\w+)` \|", registry.split("\n## Environment\n", 1)[-1], re.M)):
        if name not in read_by_code(tree):
            yield f"docs/REGISTRY.md: {name}: no code reads it"


def check_header(tree):
    """The comments of base/environment.h repeat the table."""
    text = re.sub(r"\n\s*//", "", tree.text("base/environment.h"))
    for name, said in re.findall(r"// (SOFTDAT_\w+):? (.*)", text):
        row = rows_of(tree).get(name)
        if row is None:
            yield f"base/environment.h: {name}: not in the table"
        elif row.most and limits_in(said) != (row.least, row.most):
            yield f"base/environment.h: {name}: the table's limits are {row.least} to {row.most}"
        elif row.choices and any(not re.search(rf"(?<![\w]){value}(?![\w])", said) for value in row.choices):
            yield f"base/environment.h: {name}: the table has {' '.join(row.choices)}"


def check_instance_data(tree, manual):
    """softdat(7) lists the words that dat.conf's instance data may have, and no others."""
    code = set(re.findall(r'key == "(\w+)"', tree.text("libdat/backends/device_settings.cc")))
    section = manual.split("instance data, in words", 1)[-1].split("\n.Ss ", 1)[0]
    page = set(re.findall(r"^\.Ql (\w+)=", section, re.M))
    for key in sorted(code - page):
        yield f"docs/man/man7/softdat.7: the word {key}= of instance data is missing"
    for key in sorted(page - code):
        yield f"docs/man/man7/softdat.7: {key}= is no word of instance data"
