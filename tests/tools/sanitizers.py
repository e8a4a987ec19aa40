# SPDX-License-Identifier: BSD-2-Clause
"""Which of the compiler's sanitizers a program or a library was built with."""
import re
import subprocess


def sanitizers_of(file):
    """Names as "asan". The file calls functions of theirs, whether their library is linked with it or not."""
    symbols = subprocess.run(["nm", "-D", file], text=True, capture_output=True, check=True).stdout
    return set(re.findall(r" __(asan|tsan|ubsan)_", symbols))
