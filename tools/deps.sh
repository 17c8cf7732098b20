#!/usr/bin/env bash
# deps.sh [clang|package|browser|sdk]: installs the Debian packages that building and testing needs, with `clang` also those of fuzzing
# and formatting, with `package` those of making a Debian package, with `browser` those of the tests in a browser, with `sdk` those of the Python SDK. Does
# nothing when all are there.
set -euo pipefail

packages=(build-essential cmake ninja-build libcmocka-dev libjansson-dev libzstd-dev libssl-dev libuv1-dev libyaml-dev
    liblua5.4-dev libsqlite3-dev libarchive-dev libcurl4-openssl-dev tzdata iproute2
    node-llhttp curl redis-tools python3-redis)
# The console is built by node, Debian's or one that is here already.
has_node() {
    command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null
}
has_node || packages+=(nodejs npm)
[[ ${1:-} == package ]] && packages+=(debhelper man-db)
[[ ${1:-} == browser ]] && packages+=(chromium fonts-dejavu-core pngquant)
[[ ${1:-} == sdk ]] && packages+=(python3 python3-setuptools python3-wheel mypy)
[[ ${1:-} == clang ]] && packages+=(clang clang-format llvm-14 libclang-rt-14-dev)

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

echo "deps: installing ${missing[*]}"
if ((EUID == 0)); then
    as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
else
    echo "deps: these packages are missing and this user may not install them:" >&2
    echo "    apt-get install ${missing[*]}" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
install() {
    "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null
}
# The package lists of a fresh machine may be absent or old: fetch them only when the first try fails.
install 2>/dev/null || { "${as_root[@]}" apt-get update >/dev/null && install; }
