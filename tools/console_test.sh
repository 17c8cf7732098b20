#!/usr/bin/env bash
# console_test.sh: checks the types of the console and runs its unit tests. TAP.
set -uo pipefail
cd "$(dirname "$0")/../console"
status=0
if npm run --silent check; then echo "ok - types"; else
    echo "not ok - types"
    status=1
fi
node_modules/.bin/vitest run --reporter=tap-flat --passWithNoTests || status=1
exit $status
