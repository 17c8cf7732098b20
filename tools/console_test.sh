#!/usr/bin/env bash
# console_test.sh: checks the types of the console, runs its unit tests and looks at the size of what is embedded. TAP.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
bytes_max=250000

check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@"; then echo "ok - $name"; else
        echo "not ok - $name"
        status=1
    fi
}

is_small() {
    local bytes
    tools/console.sh || return 1
    bytes=$(find build/console/dist -type f -exec gzip -9nc {} \; | wc -c)
    echo "# $bytes bytes, compressed"
    ((bytes < bytes_max))
}

check "types" npm --prefix console run --silent check
check "all of it is below $bytes_max bytes" is_small
(cd console && node_modules/.bin/vitest run --reporter=tap-flat --passWithNoTests) || status=1
exit $status
