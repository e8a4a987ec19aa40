# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the scripts of tests/vm: where the guest is kept, and how a script says that it cannot run.

vm_directory=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project_directory=$(cd "$vm_directory/../.." && pwd)
# One guest serves every build directory of this tree.
cache_directory=${SOFTDAT_TEST_VM_CACHE:-$project_directory/build/vm}

skip() { echo "SKIPPED: $*" >&2; exit 77; }

# need_commands PACKAGE:COMMAND...: skips, and names the package, when a command is not there.
need_commands() {
  local pair
  for pair in "$@"; do
    command -v "${pair#*:}" >/dev/null || skip "no ${pair#*:} (Debian package ${pair%%:*}); tools/test installs it"
  done
}
