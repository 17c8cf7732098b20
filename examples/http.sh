#!/bin/sh
# Submits a flow by HTTP, waits for its end and prints what its last job wrote (docs/guides/api.md). Needs curl; the
# server is the one of $REEVE_DATA, or of .reeve in this directory.
set -eu
data=${REEVE_DATA:-.reeve}
api=http://$(cat "$data/address")/api/v1

ask() {
    curl -sS --fail-with-body -H "Authorization: Bearer $(cat "$data/admin.token")" -H 'Content-Type: application/json' "$@"
}

flow=$(ask "$api/flows" -d '{
    "name": "by-http",
    "jobs": {
        "count": {"run": "echo \"{\\\"n\\\": 42}\" > \"$REEVE_OUTPUT\""},
        "tell":  {"needs": "count", "env": {"N": "${jobs.count.outputs.n}"}, "run": "echo \"the answer is $N\""}
    }
}' | sed 's/.*"flow":"\([^"]*\)".*/\1/')
ask "$api/flows/$flow/wait?timeout_ms=60000" >/dev/null
ask "$api/jobs/$flow/tell/logs"
