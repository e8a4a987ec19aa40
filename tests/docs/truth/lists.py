# SPDX-License-Identifier: BSD-2-Clause
"""Lists of the pages that have to be complete: the decisions, and the packages that a build needs."""
import re

INDEX = "docs/decisions/README.md"


def check_decisions(tree):
    """The index has each decision page with its number and title, and no others."""
    listed = {page: (number, title) for number, page, title in re.findall(r"^\| \[(\d+)\]\((\S+)\) \| (.*) \|$", tree.text(INDEX), re.M)}
    pages = {path.split("/")[-1] for path in tree.files if re.fullmatch(r"docs/decisions/\d+-.*\.md", path)}
    for page in sorted(pages | listed.keys()):
        heading = re.search(r"^# (\d+)\. (.*)$", tree.text("docs/decisions/" + page), re.M) if page in pages else None
        if listed.get(page) != (heading.groups() if heading else None):
            yield f"{INDEX}: says {listed.get(page)} of {page}, whose heading is {heading.groups() if heading else None}"


def check_packages(tree):
    """What debian/control needs for a build is named wherever people are told what to install."""
    control = tree.text("debian/control").split("Build-Depends:", 1)[1].split("\nRules", 1)[0]
    needed = {re.sub(r"debhelper-compat", "debhelper", name) for name in re.findall(r"([a-z0-9.+-]+)(?: \([^)]*\))?(?:,|$)", control)}
    for path in ("docs/PACKAGES.md", "Containerfile"):
        install = re.search(r"apt-get install (?:[^\n]*\\\n)*[^\n]*", tree.text(path)).group(0)
        for name in sorted(needed | {"build-essential"}):
            if name not in install.replace("\\\n", " ").split():
                yield f"{path}: the line that installs what a build needs lacks {name}"
