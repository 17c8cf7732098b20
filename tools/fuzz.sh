#!/usr/bin/env bash
# fuzz.sh SECONDS: runs each libFuzzer target for that long, starting from its stored corpus. New inputs are kept in
# build/fuzz-corpus; those worth keeping are copied to tests/fuzz/corpus by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target tests_fuzz
for source in tests/fuzz/*_fuzz.c; do
    [[ -f $source ]] || { echo "fuzz: no target in tests/fuzz" >&2; exit 1; }
    program=$(basename "$source" .c)
    corpus=tests/fuzz/corpus/${program%_fuzz}
    found=build/fuzz-corpus/${program%_fuzz}
    mkdir -p "$found"
    seeds=()
    [[ -d $corpus ]] && seeds=("$corpus")
    echo "fuzz: $program, $seconds s"
    build/fuzz/"$program" -max_total_time="$seconds" -artifact_prefix="$found/" -print_final_stats=1 \
        "$found" "${seeds[@]}" 2>&1 | tail -n 8
done
