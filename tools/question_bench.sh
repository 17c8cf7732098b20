#!/usr/bin/env bash
# question_bench.sh PROGRAM: instructions of a tick with ten open questions and with a million, counted by callgrind.
# Fails when they differ by more than 5 %; says so and passes where there is no valgrind.
set -euo pipefail
program=${1:?usage: question_bench.sh PROGRAM}
ticks=1000
few=10
many=${QUESTIONS:-1000000}

if ! command -v valgrind >/dev/null; then
    echo "question_bench: skipped, valgrind is not installed"
    exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# instructions QUESTIONS: of all ticks; what comes before them is not counted.
instructions() {
    valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$out/$1" "$program" "$1" "$ticks" \
        >"$out/log" 2>&1 || { cat "$out/log" >&2; return 1; }
    awk '/^totals:/ { print $2 }' "$out/$1"
}

a=$(instructions "$few")
b=$(instructions "$many")
awk -v a="$a" -v b="$b" -v ticks="$ticks" -v few="$few" -v many="$many" 'BEGIN {
    if (a <= 0 || b <= 0) { print "question_bench: nothing was counted"; exit 1 }
    printf "question_bench: %.1f instructions a tick with %d questions, %.1f with %d: %+.2f %%\n",
        a / ticks, few, b / ticks, many, (b / a - 1) * 100
    exit (b > a * 1.05 || b < a * 0.95)
}'
