# SPDX-License-Identifier: BSD-2-Clause
# Sourced by tools/quickstart and tools/test: installs the Debian packages that are missing, and says so.

# need PACKAGE...: installs those that are not installed yet; exits with a clear word when it cannot.
need() {
  local missing=() package
  # Another distribution: its user has the same things under other names. A build without one of them says which.
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian. Needed under whatever names it has here: $*"
    return 0
  fi
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "Installing what is missing: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "error: run this as root, or install: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq ||
    echo "warning: the package lists could not be brought up to date; trying with what is known" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    { echo "error: apt-get could not install: ${missing[*]}" >&2; exit 1; }
}

# Debian 12 (bookworm) versions that the project is built and tested with stand beside the names.
BUILD_PACKAGES=(
  g++             # 12.2
  cmake           # 3.25
  ninja-build     # 1.11
  libboost-dev    # 1.74 (headers only)
  libcli11-dev    # 2.3 (tools)
  libfmt-dev      # 9.1 (tools)
  nlohmann-json3-dev # 3.11 (tools)
  libncurses-dev  # 6.4 (tools)
  libtomlplusplus-dev # 3.3 (tools; headers only)
  zlib1g-dev      # 1.2 (tools)
  systemtap-sdt-dev # 4.8 (base/probe.h; headers only)
  libibverbs-dev  # 44 (verbs/; headers only, without them the verbs backend is left out)
  librdmacm-dev   # 44 (the same)
)
TEST_PACKAGES=(
  libgtest-dev        # 1.12
  libgmock-dev        # 1.12
  libbenchmark-dev    # 1.7 (tests/bench)
  python3             # 3.11 (tools/bench/versus)
  clang               # 14
  clang-format        # 14
  libclang-rt-14-dev  # 14
  valgrind            # 3.19
  gdb                 # 13.1 (tests/tools: what probes say)
  bpftrace            # 0.17 (tests/tools: the one-liners of OBSERVING.md)
  spin                # 6.5 (tests/models)
  dapl2-utils         # 2.1.10 (stock dtest, dapltest)
  libdapl-dev         # 2.1.10 (stock headers, to prove our facts)
  tshark              # 4.0
  tmux                # 3.3 (tests/tools: the screen of softdat top)
  chromium            # 156 (tests/tools: the page of softdat view)
  mandoc              # 1.14 (checks the manual pages)
  pkgconf             # 1.8
  zsh                 # 5.9 (completion)
  bash-completion     # 2.11 (the same)
  debhelper           # 13.11 (tests/package)
  lintian             # 2.116 (tests/package)
  fakeroot            # 1.31 (tests/package)
  iproute2            # 6.1 (tests/package: a loopback device of its own)
  man-db              # 2.11 (tests/package)
  openmpi-bin         # 4.1 (tests/clusters)
  slurm-wlm           # 22.05 (tests/clusters)
  munge               # 0.5 (tests/clusters)
  python3-yaml        # 6.0 (tests/clusters)
  mmdebstrap          # 1.3 (tests/package/bare_test, with --full)
)
# What tools/bench/versus compares with.
VERSUS_PACKAGES=(
  python3         # 3.11
  ucx-utils       # 1.13
  libfabric-bin   # 1.17
)
# What tests/vm needs on the host, so that its guest has it too; the guest's kernel is fetched apart and not installed.
VM_PACKAGES=(
  qemu-system-x86     # 7.2
  cpio                # 2.13
  kmod                # 30
  xz-utils            # 5.4
  make                # 4.3 (siw is built for the guest)
  gcc-12              # 12.2
  libelf1             # 0.188
  iproute2            # 6.1 (rdma)
  rdma-core           # 44.0
  rdmacm-utils        # 44.0 (rping)
  ibverbs-utils       # 44.0
  ibverbs-providers   # 44.0
  perftest            # 4.5 (ib_write_lat, ib_send_lat)
  tcpdump             # 4.99
  libdapl2            # 2.1.10 (libdaplofa, the provider that others wrote)
  dapl2-utils         # 2.1.10
)
