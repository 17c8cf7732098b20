#!/usr/bin/env bash
# docs_check.sh PROGRAM DOCUMENT: fails when the document is not what the program prints. Prints TAP.
set -euo pipefail
if difference=$(diff -u "$2" <("$1")); then
    echo "ok 1 - $2 is up to date"
else
    echo "not ok 1 - $2 is out of date, run make docs"
    printf '%s\n' "$difference" | sed 's/^/# /'
    exit 1
fi
