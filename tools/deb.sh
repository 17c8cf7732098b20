#!/usr/bin/env bash
# deb.sh: makes the Debian package from the release build; prints its path. The same sources and SOURCE_DATE_EPOCH (that of
# debian/changelog unless said) make the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

export DEB_RULES_REQUIRES_ROOT=no # every file is root's by declaration
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(dpkg-parsechangelog -STimestamp)}
export SOURCE_DATE_EPOCH
dpkg-checkbuilddeps
log=build/deb/build.log
mkdir -p build/deb
if ! { debian/rules clean && debian/rules binary; } >"$log" 2>&1; then
    tail -40 "$log" >&2
    echo "deb: it failed, see $log" >&2
    exit 1
fi
debian/rules clean >/dev/null 2>&1
echo "build/deb/reeve_$(dpkg-parsechangelog -SVersion)_$(dpkg-architecture -qDEB_HOST_ARCH).deb"
