# SPDX-License-Identifier: BSD-2-Clause
"""Every path, name, test and option that a page names exists."""
import fnmatch
import os
import re
import shlex

import environment
from pages import command_lines, lines_of, plain_manual

PATH_ROOTS = "base|cmake|debian|docs|examples|hca|libdat|memory|simnic|tests|tools|transport|verbs"
PATH = re.compile(rf"(?<![\w/.$@~>=-])(?<!\(memory/)((?:{PATH_ROOTS})/[\w./*<>-]*[\w*/])")
PAGE = re.compile(r"(?<![\w/.-])([A-Z]{2,}\.md)\b")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
DECISION = re.compile(r"\b(?:decisions?[ /])(\d{1,4})\b")
CONSTANT = re.compile(r"(?<![\w.])(DAT_[A-Z0-9_]+)\b(?!\.\d)")
VARIABLE = re.compile(r"(?<![\w.])(SOFTDAT_[A-Z0-9_]+)\b")
FUNCTION = re.compile(r"(?<![\w./-])(dats?_[a-z0-9_]*[a-z0-9])\b(?![./*-]\w|\*)")
CASE = re.compile(r"(?<![\w/.])(?!Boost\.)([A-Z][A-Za-z0-9]+(?:/\*)?\.(?:[A-Z][A-Za-z0-9]+|\*(?!\*)))(?!\w)")
SPAN = re.compile(r"`([^`]+)`")
QUALIFIED = re.compile(r"(?:\w+::)+~?\w+(?:\([^()]*\))?")
CALL = re.compile(r"(\w+)\((?!\d)([\w, .]*)\)")
NAME = re.compile(r"[A-Za-z_]\w*")
FILE_END = re.compile(r"\.(cc|h|c|md|txt|cmake|tsv|py|json|map|sh|conf|so|svg|symbols)$")
# What stands for something else: FILE, DIRECTORY, NAME ...
PLACEHOLDER = re.compile(r"[A-Z]{2,}")


class Page:
    """Looks at one page. `others` are words of other projects, with leave to stand here."""

    def __init__(self, tree, path, text, others):
        self.tree, self.path, self.others = tree, path, others
        self.is_manual = path.startswith("docs/man/")
        self.raw = text
        self.text = plain_manual(text) if self.is_manual else text
        self.complaints = []
        self.used = set()

    def check(self):
        for line in lines_of(self.text):
            self.number = line.number
            self.check_strong(line.text)
            if line.kind == "text" and not self.is_manual:
                self.check_spans(line.text)
        for self.number, command in command_lines(self.raw, self.is_manual):
            self.check_command(command, must_be_known=True)
        return self.complaints

    def complain(self, word, text):
        if word in self.others:
            self.used.add(word)
            return
        self.complaints.append(f"{self.path}:{self.number}: {text}: {word}")

    # What is recognised wherever it stands.
    def check_strong(self, line):
        for path in PATH.findall(line):
            self.check_path(path)
        for page in PAGE.findall(line):
            if not any(self.tree.has_path(place + page) for place in ("", "docs/", os.path.dirname(self.path) + "/")):
                self.complain(page, "no such page")
        for target in LINK.findall(line):
            place = os.path.normpath(os.path.join(os.path.dirname(self.path), target))
            if "://" not in target and not self.tree.has_path(place):
                self.complain(target, "a link to nowhere")
        for number in DECISION.findall(line):
            if not self.tree.has_path(f"docs/decisions/{int(number):04}-*"):
                self.complain(number, "no decision of this number")
        for constant in CONSTANT.findall(line):
            self.check_known(constant, constant in self.tree.words or self.is_prefix(constant), "no such constant")
        for variable in VARIABLE.findall(line):
            self.check_known(variable, variable in self.tree.words or self.is_prefix(variable), "no such variable")
        for function in FUNCTION.findall(line):
            self.check_known(function, function in self.tree.words, "no such function")
        for case in CASE.findall(line):
            self.check_case(case)

    def is_prefix(self, word):
        return word.endswith("_") and any(known.startswith(word) for known in self.tree.words)

    def check_known(self, word, is_known, text):
        if not is_known:
            self.complain(word, text)

    def check_path(self, path):
        if PLACEHOLDER.search(re.sub(r"[A-Z]+\.md|CMakeLists|README|TARGET", "", path)) or "<" in path:
            path = re.sub(r"[A-Z]{2,}|<\w+>", "*", path)
        if re.fullmatch(r"docs/decisions/\d{4}", path):
            path += "-*"
        known = self.tree.has_path(path) or self.tree.has_end_of_path(path)
        self.check_known(path, known or self.is_program_of_build(path), "no such file")

    def is_program_of_build(self, path):
        """Of a path in the build: tests/conformance/cable_test is the target of that directory."""
        return self.tree.has_path(os.path.dirname(path)) and os.path.basename(path) in self.tree.build_words

    def check_case(self, case):
        case = case.replace("/*", "")
        suite, name = case.split(".")
        known = any(each.startswith(suite + ".") for each in self.tree.cases) if name == "*" else case in self.tree.cases
        self.check_known(case, known, "no such test")

    # What stands in `quotes`.
    def check_spans(self, line):
        for span in SPAN.findall(line):
            self.check_span(span.strip())

    def check_span(self, span):
        first = span.split()[0] if span else ""
        if re.match(r"[A-Z][A-Z_0-9]*=", first) or self.program_of(first):
            self.check_command(span, must_be_known=False)
        elif re.match(r"--?[a-z]", span) and not re.match(r"-[lf]\w", span):  # those of compilers aside
            for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", span):
                self.check_known(option, self.is_option_of_any(option), "no tool has this option")
        elif first.startswith("build/"):
            self.check_build_path(first)
        elif re.fullmatch(r"[a-z]\w*\.[a-z]\w*(\*)?", span) and span.split(".")[0] in self.test_prefixes() and not FILE_END.search(first.replace("fuzz.", "")):
            self.check_known(span, bool(fnmatch.filter(self.tree.tests, span)), "ctest has no such test")
        elif re.fullmatch(r"[\w./*-]*/?[\w*<>-]+", first) and FILE_END.search(first) and " " not in span:
            self.check_file(first)
        elif QUALIFIED.fullmatch(span):
            self.check_qualified(re.sub(r"\(.*\)", "", span))
        elif CALL.fullmatch(span):
            name = CALL.fullmatch(span).group(1)
            self.check_known(name, name in self.tree.words, "no such function")
        elif NAME.fullmatch(span) and ("_" in span or re.fullmatch(r"k?[A-Z]\w*[a-z]\w*", span)) and not span.startswith(("DAT_", "SOFTDAT_")):
            known = span in self.tree.words or f"DAT_{span}" in self.tree.header_words
            known = known or any(word.endswith(span if span.startswith("_") else "_" + span) for word in self.tree.words)
            self.check_known(span, known, "no such name")

    def test_prefixes(self):
        return {name.split(".")[0] for name in self.tree.tests}

    def check_file(self, path):
        if path.startswith(("/", "~", "$", "lib")) and not path.startswith("libdat/"):
            return
        wanted = re.sub(r"[A-Z]{2,}(?!\.md|akeLists)|<\w+>", "*", path)
        known = self.tree.has_path(wanted) or self.tree.has_end_of_path(wanted) or f"file={path}" in self.raw
        known = known or self.tree.has_path(os.path.normpath(os.path.join(os.path.dirname(self.path), wanted)))
        self.check_known(path, known, "no such file")

    def check_build_path(self, path):
        known = self.is_target(path) or any(path in text for text in self.tree.code.values())
        self.check_known(path, known or path.endswith("/lib"), "no build makes this")

    def is_target(self, path):
        return os.path.basename(path) in self.tree.build_words

    def check_qualified(self, name):
        if name.startswith("std::"):
            return
        owner, member = name.split("::")[-2:]
        known = self.tree.has_member(owner, member) or any(name in text for text in self.tree.code.values())
        self.check_known(name, known, "no such name")

    def is_option_of_any(self, option):
        tools = [("softdat", command) for command in sorted(self.tree.commands)]
        tools += [(path, None) for path in sorted(self.tree.files) if self.is_script(path)]
        return any(option in self.tree.options_of(*tool) for tool in tools)

    def is_script(self, path):
        return re.match(r"(tools|tests/(fuzz|chaos|stock|vm))/", path) and os.access(os.path.join(self.tree.source, path), os.X_OK) \
            and "." not in os.path.basename(path) and self.tree.text(path).startswith("#!")

    # Command lines.
    def program_of(self, word):
        word = word.removeprefix("./")
        if word == "softdat" or word.endswith("/tools/softdat"):
            return "softdat"
        if word in self.tree.files and self.is_script(word):
            return word
        if word in ("cmake", "ctest"):
            return word
        if word.startswith("build/") and self.is_target(word):
            return "built"
        return None

    def check_command(self, command, must_be_known):
        try:
            words = shlex.split(command.removeprefix("$ "))
        except ValueError:
            words = command.split()
        while words and re.match(r"[A-Za-z_]\w*=", words[0]):
            self.check_setting(words.pop(0))
        if not words:
            return
        program = self.program_of(words[0])
        if program == "softdat":
            self.check_softdat(words[1:])
        elif program in ("cmake", "ctest"):
            self.check_cmake(words)
        elif program not in (None, "built"):
            self.check_options(program, None, words[1:])
        elif program is None and must_be_known and re.match(r"(build|tools|tests)/", words[0]):
            self.complain(words[0], "no such program")

    def check_setting(self, setting):
        name, value = setting.split("=", 1)
        problem = environment.problem_of(self.tree, name, value)
        if problem:
            self.complain(setting, problem)

    def check_softdat(self, words):
        if not words or words[0] in ("--help", "--version"):
            return
        self.check_known(words[0], words[0] in self.tree.commands, "softdat has no such command")
        if words[0] in self.tree.commands:
            self.check_options("softdat", words[0], words[1:])
            for setting in (value for option, value in zip(words, words[1:]) if option == "--env"):
                self.check_setting(setting)

    def check_options(self, program, command, words):
        known = self.tree.options_of(program, command)
        for word in words:
            if word == "--" or (command == "run" and not word.startswith("-") and "--server" not in words):
                break
            option = word.split("=")[0]
            if re.match(r"--?[A-Za-z]", option) and option not in known:
                self.complain(f"{command or program} {option}", "no such option")

    def check_cmake(self, words):
        for word, value in zip(words, words[1:] + [""]):
            is_directory = word == "--target" and value.endswith("/all") and self.tree.has_path(value.removesuffix("/all"))
            if word in ("--preset", "--target", "-L") and not is_directory and value not in self.tree.build_words and \
                    not PLACEHOLDER.match(value):
                self.complain(value, f"the build has none for {word}")
            if word == "-R" and not PLACEHOLDER.match(value) and not any(re.search(value, name) for name in self.tree.tests):
                self.complain(value, "ctest has no such test")
            found = re.match(r"-D(SOFTDAT_\w+)", word)
            if found and found.group(1) not in self.tree.build_words:
                self.complain(found.group(1), "the build has no such option")
