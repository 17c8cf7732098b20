#!/usr/bin/env bash
# check.sh SUITE/NAME [PATTERN]: builds one test program in build/dev with what it needs, and runs it; with PATTERN
# ("a_second*") only its tests that fit. Without arguments: lists the programs.
set -euo pipefail
cd "$(dirname "$0")/.."
test=${1:-}
pattern=${2:-}
preset=dev
suites=(unit property golden crash stress e2e)
[[ $test == stress/* ]] && preset=tsan

if [[ -z $test ]]; then
    echo "usage: make check T=SUITE/NAME [ONLY=PATTERN], where SUITE/NAME is one of"
    for suite in "${suites[@]}"; do
        for file in tests/"$suite"/*_test.c; do
            name=$(basename "$file" _test.c)
            echo "    $suite/$name"
        done
    done | column -c 120
    exit 2
fi
suite=${test%%/*}
name=${test#*/}
name=${name%_test}
if [[ ! -f tests/$suite/${name}_test.c ]]; then
    echo "check: there is no tests/$suite/${name}_test.c; \`make check\` lists the test programs" >&2
    exit 2
fi

program=${suite}_${name}_test
log=build/check.log
mkdir -p build
[[ -f build/$preset/build.ninja ]] || { tools/deps.sh && cmake --preset "$preset" >/dev/null; }
if ! cmake --build --preset "$preset" --target "$program" >"$log" 2>&1; then
    grep -E 'error|warning|FAILED|undefined' "$log" | head -40 >&2 || cat "$log" >&2
    exit 1
fi
runner=()
[[ $preset == tsan ]] && runner=(setarch -R)
status=0
REEVE_TEST_ONLY=$pattern "${runner[@]}" "build/$preset/$program" >"$log" 2>&1 || status=$?
if grep -q 'Running 0 test' "$log"; then
    echo "check: no test of tests/$suite/${name}_test.c fits '$pattern'" >&2
    exit 2
fi
grep -vE '^\[ RUN ' "$log" || true
exit $status
