# SPDX-License-Identifier: BSD-2-Clause
"""What there is: the files, words, tests, targets and options of a source tree and of a build of it."""
import fnmatch
import functools
import os
import re
import subprocess
import tempfile

ROOMS = ("base", "hca", "libdat", "memory", "simnic", "transport", "verbs")
SOURCE_ENDS = (".cc", ".h", ".c")
# What documents say does not make it exist.
DOCUMENTS = re.compile(r"docs/(?!man/CMakeLists)|[A-Z]+\.md$|tests/docs/(facts|truth)/")
BINARIES = re.compile(r"tests/fuzz/corpus/|\.(pcap|gz|png|svg)$")


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


class Tree:
    def __init__(self, source, build=None):
        self.source, self.build = source, build
        self.files = set()
        for directory, directories, names in os.walk(source):
            directories[:] = [name for name in directories if name not in (".git", "__pycache__") and not name.startswith("build")]
            self.files.update(os.path.relpath(os.path.join(directory, name), source) for name in names)
        self.directories = {os.path.dirname(path) for path in self.files}
        self.directories |= {parent for path in self.directories for parent in parents_of(path)}
        self.helps = {}

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        return read(os.path.join(self.source, path))

    @functools.cached_property
    def code(self):
        """Text of every file that is no document, comments of C and C++ left out, by path."""
        result = {}
        for path in self.files:
            if DOCUMENTS.match(path) or BINARIES.search(path):
                continue
            text = self.text(path)
            result[path] = without_comments(text) if path.endswith(SOURCE_ENDS) else text
        return result

    @functools.cached_property
    def words(self):
        return {word for text in self.code.values() for word in re.findall(r"[A-Za-z_]\w*", text)}

    @functools.cached_property
    def header_words(self):
        return {word for path, text in self.code.items() if path.startswith("libdat/include/")
                for word in re.findall(r"[A-Za-z_]\w*", text)}

    @functools.cached_property
    def build_words(self):
        """Targets, options and labels: the words of the CMake files, comments left out."""
        return {word for path, text in self.code.items() if path.endswith(("CMakeLists.txt", ".cmake", "CMakePresets.json"))
                for word in re.findall(r"[A-Za-z_][\w.-]*", re.sub(r"#.*", "", text))}

    @functools.cached_property
    def cases(self):
        """GoogleTest's cases, as Suite.Name."""
        pattern = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
        return {".".join(found) for path, text in self.code.items() if path.startswith("tests/") for found in pattern.findall(text)}

    @functools.cached_property
    def tests(self):
        """The names that ctest has. Listed from outside the build, where ctest would overwrite the log of the run that this is."""
        with tempfile.TemporaryDirectory() as place:
            with open(os.path.join(place, "CTestTestfile.cmake"), "w") as file:
                file.write(f"subdirs([==[{os.path.abspath(self.build)}]==])\n")
            listed = subprocess.run(["ctest", "--test-dir", place, "-N"], capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"^ *Test +#\d+: (\S+)", listed, re.M))

    def has_path(self, path):
        path = path.rstrip("/")
        if path in self.files or path in self.directories:
            return True
        return "*" in path and any(fnmatch.fnmatchcase(name, path) for name in self.files | self.directories)

    def has_end_of_path(self, end):
        """Whether a file or directory has this last part of a path."""
        return any(fnmatch.fnmatchcase(name, "*/" + end.rstrip("/")) for name in self.files | self.directories)

    def has_member(self, owner, name):
        """Whether the class, enumeration or namespace `owner` has `name`."""
        declares = re.compile(rf"\b(class|struct|enum|namespace)\b[^;{{}}()]*\b{owner}\b|\b{owner}::{name}\b")
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        return any(declares.search(text) and word.search(text) for text in self.code.values())

    def options_of(self, program, command=None):
        """The options that --help of a tool lists; of a script without --help, its opening comment."""
        key = (program, command)
        if key not in self.helps:
            self.helps[key] = options_in(self.help_of(program, command))
        return self.helps[key]

    def help_of(self, program, command):
        if program == "softdat":
            words = [os.path.join(self.build, "tools/softdat")] + ([command] if command else []) + ["--help"]
        else:
            path, text = os.path.join(self.source, program), self.text(program)
            if "--help" not in text and "argparse" not in text:
                return re.match(r"(#[^\n]*\n)*", text).group(0)
            words = [path, "--help"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)
        return done.stdout + "--help" if done.returncode == 0 else ""

    @functools.cached_property
    def commands(self):
        """Of softdat, as its help lists them."""
        return set(re.findall(r"^  ([a-z]+(?:-[a-z]+)*)\b", self.help_of("softdat", None), re.M))


def parents_of(path):
    while path:
        path = os.path.dirname(path)
        yield path


def options_in(text):
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text))
