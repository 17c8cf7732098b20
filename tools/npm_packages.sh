#!/usr/bin/env bash
# npm_packages.sh FOLDER: fetches what package-lock.json of a folder names into its node_modules, unless it is there.
set -euo pipefail
folder=$1
cd "$(dirname "$0")/../$folder"
stamp=node_modules/.reeve-lock
cmp -s package-lock.json "$stamp" && exit 0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! timeout 600 npm ci --no-audit --no-fund --prefer-offline >"$log" 2>&1 </dev/null; then
    tail -30 "$log" >&2
    echo "$folder: its packages could not be fetched" >&2
    exit 1
fi
cp package-lock.json "$stamp"
