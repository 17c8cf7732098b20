#!/usr/bin/env bash
# up.sh [FLAG OF reeve up]...: builds the program, starts a server and a worker here, and runs a sample flow: a line for
# each step; what the build says is shown only if it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

reeve=build/release/reeve
log=build/up.log
sample=examples/etl.yaml

mkdir -p build
echo "building $reeve (log: $log)"
if ! { cmake --preset release && cmake --build --preset release --target reeve; } >"$log" 2>&1; then
    tail -40 "$log" >&2
    echo "up: the build failed, see $log" >&2
    exit 1
fi
"$reeve" up --detach "$@"
echo
flow=$("$reeve" submit "$sample")
if "$reeve" wait --quiet "$flow" >/dev/null; then
    echo "The sample flow $sample ran as $flow: \`reeve show $flow\` tells what it did, \`reeve logs $flow\` prints its output."
else
    echo "The sample flow $sample ran as $flow and failed: \`reeve why $flow\` tells the reason."
fi
[[ $(command -v reeve) -ef $reeve ]] || echo "To call it \`reeve\`: export PATH=\"$PWD/build/release:\$PATH\""
