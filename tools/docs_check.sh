#!/usr/bin/env bash
# docs_check.sh DOCUMENT HEAD PROGRAM [ARG]...: fails when the document is not what the program prints, or when the
# program objects. HEAD is what the program gets as input ("-" = nothing). Prints TAP.
set -euo pipefail
document=$1
head=$2
shift 2
[[ $head == - ]] && head=/dev/null
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
if "$@" <"$head" >"$printed" && difference=$(diff -u "$document" "$printed"); then
    echo "ok 1 - $document is up to date"
else
    echo "not ok 1 - $document is out of date, run make docs"
    printf '%s\n' "${difference:-the program failed}" | sed 's/^/# /'
    exit 1
fi
