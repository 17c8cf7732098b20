#!/usr/bin/env bash
# deps.sh [WHAT]: installs the Debian packages that building and testing needs; of WHAT as well: `clang` for fuzzing and
# formatting, `package` for making a Debian package, `browser` for tests in a browser, `sdk` for the Python SDK, `valgrind`
# for counting instructions, `peers` for the systems that `make bench-peers` compares with. Does nothing when all are there.
set -euo pipefail

packages=(build-essential cmake ninja-build lld libcmocka-dev libjansson-dev libzstd-dev libssl-dev libuv1-dev libyaml-dev
    liblua5.4-dev libsqlite3-dev libarchive-dev libcurl4-openssl-dev tzdata iproute2
    node-llhttp curl jq redis-tools python3 python3-redis gdb zsh fish)
# The console is built by node, Debian's or one that is here already.
has_node() {
    command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null
}
has_node || packages+=(nodejs npm)
[[ ${1:-} == package ]] && packages+=(debhelper man-db)
[[ ${1:-} == browser ]] && packages+=(chromium fonts-dejavu-core pngquant)
[[ ${1:-} == valgrind ]] && packages+=(valgrind)
[[ ${1:-} == sdk ]] && packages+=(python3-venv mypy)
[[ ${1:-} == peers ]] && packages+=(strace beanstalkd redis-server postgresql-15 python3-celery python3-distributed
    gearman-job-server parallel task-spooler slurmctld slurmd slurm-client munge)
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
# A mirror that does not answer, or another apt that holds the lock, is given up at some point.
apt=("${as_root[@]}" timeout 900 apt-get -o Acquire::http::Timeout=60 -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
install() {
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
}
# The package lists of a fresh machine may be absent or old: fetch them only when the first try fails.
install_all() { install 2>/dev/null || { "${apt[@]}" update >/dev/null && install; }; }

if [[ ${1:-} != peers ]]; then
    install_all
    exit
fi

# Servers are wanted as programs, not as services: nothing is started while they are installed.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
fi
install_all 2>/dev/null && exit
# One that cannot be had must not keep the others away.
wanted=("${missing[@]}")
for package in "${wanted[@]}"; do
    missing=("$package")
    install || echo "deps: $package could not be installed" >&2
done
