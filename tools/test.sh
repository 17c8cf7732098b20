#!/usr/bin/env bash
# test.sh: builds what the tests need and runs every suite. One line per suite as it ends, then each one's share of the
# time; the last line is "N passed, N failed". Not zero when a test failed or none ran.
#
#   tools/test.sh            everything
#   tools/test.sh unit tidy  only these suites
set -euo pipefail
cd "$(dirname "$0")/.."

sim_seeds=${SIM_SEEDS:-500} # enough to meet each kind of fault; `make soak` goes on for longer
# Fresh seeds with every commit, and the same ones again for the same commit.
commit=$(git rev-parse --short=8 HEAD 2>/dev/null || echo 1)
sim_from=${SIM_FROM:-$((16#$commit))}

# No suite takes a third of the first, nor all of them of the second. One that hangs is ended and counted as failed, so
# that the others have their say, and so that there is a last line whatever happens.
suite_seconds=${SUITE_SECONDS:-1200}
run_seconds=${RUN_SECONDS:-4500}
within() {
    local left=$((run_seconds - SECONDS))
    ((left > 1)) || left=1
    timeout --kill-after=20 $((left < suite_seconds ? left : suite_seconds)) "$@"
}

logs=build/test-logs
mkdir -p "$logs"
passed_total=0
failed_total=0
suite_names=()
suite_passed=()
suite_failed=()
suite_ms=()

now_ms() { echo $(($(date +%s%N) / 1000000)); }

wanted() {
    ((${#only[@]})) || return 0
    local name
    for name in "${only[@]}"; do [[ $name == "$1" ]] && return 0; done
    return 1
}

# build PRESET TARGET...: configures once, then builds the targets.
build() {
    local preset=$1 start
    shift
    start=$(now_ms)
    local log=$logs/build-$preset.log
    if ! { cmake --preset "$preset" && within cmake --build --preset "$preset" -j2 --target "$@"; } >"$log" 2>&1; then
        grep -E 'error|FAILED|warning|undefined' "$log" | head -40 >&2 || true
        echo "test: the $preset build failed, see $log" >&2
        echo "$passed_total passed, $((failed_total + 1)) failed"
        exit 1
    fi
    echo "built $preset in $((($(now_ms) - start) / 1000)) s"
}

# A log without what went well and without what ctest says about itself.
failures_only='
    /^[0-9]+: (ok |# ok |1\.\.|Test command|Working Directory|Test timeout)/ { next }
    /^(test [0-9]|Internal ctest|UpdateCTest|Test project|Constructing|Done con|Updating|Added|Checking)/ { next }
    /^(Label Time|Total Test|Errors while|Output from|Use "--rerun)/ { next }
    /^ +Start | Passed |proc \(|^$/ { next }
    { print }'

# record SUITE PASSED FAILED MS LOG STATUS
record() {
    local failed=$3
    if (($6 == 124 || $6 == 137)); then
        failed=$((failed + 1))
        echo "$1: ended after $(($4 / 1000)) s, it did not by itself"
    elif (($6)); then
        failed=$((failed ? failed : 1))
    fi
    set -- "$1" "$2" "$failed" "$4" "$5"
    suite_names+=("$1")
    suite_passed+=("$2")
    suite_failed+=("$3")
    suite_ms+=("$4")
    passed_total=$((passed_total + $2))
    failed_total=$((failed_total + $3))
    printf '%-10s %6d passed %4d failed  %6d s\n' "$1" "$2" "$3" $(($4 / 1000))
    if (($3)); then
        echo "---- $1: failures (all of it in $5)"
        awk "$failures_only" "$5" | tail -60
        echo "----"
    fi
}

# run_ctest LABEL PRESET [SUITE]: the programs with that label, reported as SUITE.
run_ctest() {
    local label=$1 preset=$2 suite=${3:-$1} start passed failed status=0
    local log=$logs/$suite.log
    start=$(now_ms)
    # ThreadSanitizer of gcc 12 cannot place its shadow memory where newer kernels randomise addresses widely.
    local fixed_addresses=()
    if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then fixed_addresses=(setarch -R); fi
    CMOCKA_MESSAGE_OUTPUT=TAP within "${fixed_addresses[@]}" ctest --test-dir "build/$preset" -V -j2 -L "^$label\$" \
        >"$log" 2>&1 </dev/null || status=$?
    read -r passed failed < <(awk -f tools/count_ctest.awk "$log")
    record "$suite" "$passed" "$failed" $(($(now_ms) - start)) "$log" "$status"
}

# run_sim SUITE PROGRAM ARGS...: a program whose last line is "sim: N passed, N failed".
run_sim() {
    local suite=$1 start log=$logs/$1.log status=0 last
    shift
    start=$(now_ms)
    within "$@" >"$log" 2>&1 </dev/null || status=$?
    last=$(tail -n 1 "$log")
    local passed=0 failed=1
    if [[ $last =~ ^sim:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
    fi
    record "$suite" "$passed" "$failed" $(($(now_ms) - start)) "$log" "$status"
}

# run_tap SUITE PROGRAM ARGS...: a program that prints TAP without nesting.
run_tap() {
    local suite=$1 start log=$logs/$1.log status=0 passed failed planned
    shift
    start=$(now_ms)
    within "$@" >"$log" 2>&1 </dev/null || status=$?
    passed=$(grep -c '^ok ' "$log" || true)
    failed=$(grep -c '^not ok ' "$log" || true)
    planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\)$/\1/p' "$log" | tail -n 1)
    # As in count_ctest.awk: a planned test without a result has failed.
    if ((status && ${planned:-0} - passed > failed)); then failed=$((planned - passed)); fi
    record "$suite" "$passed" "$failed" $(($(now_ms) - start)) "$log" "$status"
}

report() {
    local total=0 i
    for i in "${!suite_ms[@]}"; do total=$((total + suite_ms[i])); done
    ((total)) || total=1
    for i in "${!suite_names[@]}"; do
        printf '%-10s %6d tests  %4d failed  %8.1f s  %3d %% of the time\n' "${suite_names[i]}" \
            $((suite_passed[i] + suite_failed[i])) "${suite_failed[i]}" \
            "$((suite_ms[i] / 1000)).$((suite_ms[i] % 1000 / 100))" $((suite_ms[i] * 100 / total))
    done
}

only=("$@")
tools/deps.sh
start_ms=$(now_ms)
has_sim=false
[[ -f sim/main.c ]] && has_sim=true

build dev all
release_targets=(layers tests_crash reeve)
$has_sim && release_targets+=(reeve-sim)
build release "${release_targets[@]}"

for suite in unit property golden crash e2e fuzz tidy docs; do
    wanted "$suite" && run_ctest "$suite" dev
done
# Every byte and every sector: without sanitizers there is time for all of them.
wanted crash-full && run_ctest crash release crash-full
wanted layering && run_ctest layering release # the dev build has sanitizer symbols in its objects
if wanted package; then
    tools/deps.sh package
    run_ctest package release
fi
if wanted stress; then
    build tsan tests_stress
    run_ctest stress tsan
fi
if $has_sim; then
    wanted sim && run_sim sim build/release/reeve-sim run --seeds "$sim_seeds" --from "$sim_from"
    wanted regress && run_sim regress build/release/reeve-sim regress
    if wanted mutants; then
        build mutants reeve-sim
        run_sim mutants build/mutants/reeve-sim mutants
    fi
fi

# The crash test finds deliberate defects, from outside.
if wanted crash-mut; then
    build mutants reeve powercut
    run_tap crash-mut tools/crash_mutants.sh build/mutants/reeve
fi

# The console: types and units; then its pages in a real browser against the real program.
if wanted console || wanted browser; then tools/npm_packages.sh console; fi
wanted console && run_tap console tools/console_test.sh
if wanted browser; then
    tools/deps.sh browser
    run_tap browser env BROWSER_LOGS="$logs" node --test-reporter=tap tests/browser/run.mjs
fi

# The Python SDK, against the real program.
if wanted sdk; then
    tools/deps.sh sdk
    run_tap sdk python3 sdk/python/tests/run.py
fi

# What a job costs, in instructions.
if wanted instructions; then
    tools/deps.sh valgrind
    run_tap instructions python3 bench/instructions.py build/release/reeve
fi

# What the benchmarks write: figures, tables and plots, of ours and beside other systems, without measuring anything.
wanted peers && run_tap peers sh -c 'python3 bench/test_own.py; own=$?; python3 bench/peers/test_peers.py && exit $own'

# Agents: the official client of their protocol against the real program.
if wanted mcp; then
    tools/npm_packages.sh tests/mcp
    run_tap mcp node --test-reporter=tap tests/mcp/run.mjs
fi

report
echo "whole run: $((($(now_ms) - start_ms) / 1000)) s, builds included"
echo "$passed_total passed, $failed_total failed"
((failed_total == 0 && passed_total > 0))
