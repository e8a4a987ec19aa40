# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests of this directory: builds the Debian packages, and makes scratch roots to install them in.

# dpkg-deb(1): most of the time of a package would be xz.
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1

fail() { echo "FAILED: $*"; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }

# require_scratch_root COMMAND...: skips unless this machine can do what the test needs.
require_scratch_root() {
  local command
  [ "$(id -u)" -eq 0 ] || skip "only root can install packages, also in a scratch root"
  for command in dpkg-buildpackage apt-get unshare ip "$@"; do
    command -v "$command" >/dev/null || skip "$command is not installed"
  done
  command -v dh >/dev/null || skip "debhelper is not installed"
  # A mount namespace of our own, whose mounts nobody else sees; a network of our own, whose ports nobody else has.
  [ -n "${PACKAGE_TEST_NAMESPACE:-}" ] || exec env PACKAGE_TEST_NAMESPACE=1 unshare --mount --net --fork --kill-child "$0" "${arguments[@]}" ||
    skip "this container may not unshare"
  ip link set lo up || skip "the loopback device cannot be set up"
}

# build_packages SOURCE BUILD DIRECTORY: packages the build directory; the .deb files land in DIRECTORY.
build_packages() {
  local source=$1 build=$2 directory=$3
  mkdir -p "$directory/tree"
  (cd "$source" && tar cf - --exclude=./.git --exclude='./build*' .) | tar xf - -C "$directory/tree"
  # `cmake --install` writes the list of what it installed; a developer's own stays.
  local -r manifest=$build/install_manifest.txt
  [ ! -f "$manifest" ] || cp "$manifest" "$directory/manifest"
  (cd "$directory/tree" && SOFTDAT_PREBUILT=$build DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -us -uc -b -d) \
    >"$directory/log" 2>&1 || fail "dpkg-buildpackage: $(tail -n 30 "$directory/log")"
  if [ -f "$directory/manifest" ]; then cp "$directory/manifest" "$manifest"; else rm -f "$manifest"; fi
  rm -rf "$directory/tree"
}

# make_root DIRECTORY: mounts a root directory there that begins as a copy of this machine's. What is written to it lands in
# memory, and is gone with the test.
make_root() {
  mkdir -p "$1"
  mount -t tmpfs none "$1" || skip "this container may not mount a tmpfs"
  mkdir "$1/upper" "$1/work" "$1/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root" 2>/dev/null ||
    skip "this container may not mount an overlay"
  mount -t proc proc "$1/root/proc"
  mount --rbind /dev "$1/root/dev"
  mount -t tmpfs none "$1/root/tmp"
  mount -t tmpfs none "$1/root/run"
}

# in_root DIRECTORY COMMAND...: runs it there, with a plain environment.
in_root() {
  local root=$1/root
  shift
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    DPKG_DEB_COMPRESSOR_TYPE="$DPKG_DEB_COMPRESSOR_TYPE" DPKG_DEB_COMPRESSOR_LEVEL="$DPKG_DEB_COMPRESSOR_LEVEL" chroot "$root" "$@"
}

# apt_in ROOT ARGUMENT...: apt-get without questions.
apt_in() {
  local root=$1
  shift
  in_root "$root" apt-get -qq -y --no-install-recommends --allow-downgrades -o APT::Sandbox::User=root "$@" >"$root/apt.log" 2>&1 ||
    fail "apt-get $*: $(tail -n 20 "$root/apt.log")"
}
