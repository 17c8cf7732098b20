#!/usr/bin/env bash
# console_packages.sh: fetches what the console is checked and tested with into console/node_modules, as package-lock.json says,
# unless it is there.
set -euo pipefail
cd "$(dirname "$0")/../console"
stamp=node_modules/.reeve-lock
cmp -s package-lock.json "$stamp" && exit 0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! npm ci --no-audit --no-fund --prefer-offline >"$log" 2>&1 </dev/null; then
    tail -30 "$log" >&2
    echo "console: its packages could not be fetched" >&2
    exit 1
fi
cp package-lock.json "$stamp"
