#!/usr/bin/env bash
# test.sh: builds what the tests need and runs every suite. One line per suite as it ends, then each one's share of the
# time; the last line is "N passed, N failed". Not zero when a test failed or none ran.
#
#   tools/test.sh            everything
#   tools/test.sh unit tidy  only these suites
#
# Three queues run side by side: suites that mostly wait, several tests at once, and two of suites that compute, which
# yield to them; of these, one uses the dev build and one the release build. Each builds what it needs, so the first
# tests run while the rest is compiled. When all are through, what judges time or memory has the machine to itself.
set -euo pipefail
cd "$(dirname "$0")/.."

sim_seeds=${SIM_SEEDS:-500} # enough to meet each kind of fault; `make soak` goes on for longer
# Fresh seeds with every commit, and the same ones again for the same commit.
commit=$(git rev-parse --short=8 HEAD 2>/dev/null || echo 1)
sim_from=${SIM_FROM:-$((16#$commit))}

waiting_jobs=${WAITING_JOBS:-5} # tests at once of a suite that mostly waits
computing_jobs=${COMPUTING_JOBS:-2}

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
records=$logs/records # a line for each suite that ended: name, passed, failed, milliseconds
mkdir -p "$logs"
: >"$records"
rm -f "$logs"/configured-*

now_ms() { echo $(($(date +%s%N) / 1000000)); }

only=("$@")
wanted() {
    ((${#only[@]})) || return 0
    local name
    for name in "${only[@]}"; do [[ $name == "$1" ]] && return 0; done
    return 1
}
any_wanted() {
    local suite
    for suite in "$@"; do wanted "$suite" && return 0; done
    return 1
}

# ---- building, running, telling ----

# say: prints what is on standard input in one piece, whatever the other queue prints.
say() { flock "$logs/lock" cat; }

# configure PRESET: once in a run, because a second time would write what tests already read.
configure() { [[ -e $logs/configured-$1 ]] || { cmake --preset "$1" && touch "$logs/configured-$1"; }; }

# build PRESET TARGET...: configures, then builds the targets.
build() {
    local preset=$1 start log=$logs/build-$1.log
    shift
    start=$(now_ms)
    if ! { configure "$preset" && within cmake --build --preset "$preset" --target "$@"; } >"$log" 2>&1; then
        echo "build-$preset 0 1 $(($(now_ms) - start))" >>"$records"
        {
            grep -E 'error|FAILED|warning|undefined' "$log" | head -40 || true
            echo "test: the $preset build failed, see $log"
        } | say
        return 1
    fi
    echo "built $preset in $((($(now_ms) - start) / 1000)) s: $*" | say
}

# record SUITE PASSED FAILED START LOG STATUS: writes and prints how a suite ended.
record() {
    local suite=$1 passed=$2 failed=$3 log=$5 status=$6 ms=$(($(now_ms) - $4))
    {
        if ((status == 124 || status == 137)); then
            failed=$((failed + 1))
            echo "$suite: ended after $((ms / 1000)) s, it did not by itself"
        elif ((status)); then
            failed=$((failed ? failed : 1))
        fi
        echo "$suite $passed $failed $ms" >>"$records"
        printf '%-13s %6d passed %4d failed  %6d s\n' "$suite" "$passed" "$failed" $((ms / 1000))
        if ((failed)); then
            echo "---- $suite: failures (all of it in $log)"
            awk -f tools/ctest_failures.awk "$log" | tail -60
            echo "----"
        fi
    } | say
}

# run_ctest SUITE PRESET JOBS OPTION...: the programs that ctest chooses by the options.
run_ctest() {
    local suite=$1 preset=$2 jobs=$3 start passed failed status=0
    local log=$logs/$suite.log
    shift 3
    start=$(now_ms)
    # ThreadSanitizer of gcc 12 cannot place its shadow memory where newer kernels randomise addresses widely.
    local fixed_addresses=()
    if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then fixed_addresses=(setarch -R); fi
    within "${fixed_addresses[@]}" ctest --test-dir "build/$preset" -V -j"$jobs" "$@" >"$log" 2>&1 </dev/null || status=$?
    read -r passed failed < <(awk -f tools/count_ctest.awk "$log")
    record "$suite" "$passed" "$failed" "$start" "$log" "$status"
}

# run_label SUITE PRESET JOBS [LABEL]: the programs with that label but for those that run alone.
run_label() { run_ctest "$1" "$2" "$3" -L "^${4:-$1}\$" -LE '^alone$'; }

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
    record "$suite" "$passed" "$failed" "$start" "$log" "$status"
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
    record "$suite" "$passed" "$failed" "$start" "$log" "$status"
}

# ---- what runs when ----

# What has to be fetched, if anything: two at once would be in each other's way.
prepare() {
    tools/deps.sh
    ! wanted package || tools/deps.sh package
    ! wanted browser || tools/deps.sh browser
    ! wanted sdk || tools/deps.sh sdk
    ! any_wanted instructions path || tools/deps.sh valgrind
    ! any_wanted console browser || tools/npm_packages.sh console
    ! wanted mcp || tools/npm_packages.sh tests/mcp
    ! any_wanted oidc browser || tools/npm_packages.sh tests/oidc
}

# The release build is made by one queue and used by all. Who needs it waits for the lock that the builder holds.
release_lock=$logs/release.lock
release_built=$logs/release.built
release_begin() {
    rm -f "$release_built"
    exec 8>"$release_lock"
    flock 8
}
release_end() { flock -u 8; }
release_is_built() {
    flock "$release_lock" true
    [[ -e $release_built ]]
}

queue_waiting() {
    wanted e2e && run_label e2e dev "$waiting_jobs"
    if ! any_wanted mcp oidc sdk browser || ! release_is_built; then return 0; fi
    # Agents: the official client of their protocol against the real program.
    wanted mcp && run_tap mcp node --test-reporter=tap tests/mcp/run.mjs
    # Tokens and logins of a real identity provider.
    wanted oidc && run_tap oidc node --test-reporter=tap tests/oidc/run.mjs
    # The Python SDK, against the real program.
    wanted sdk && run_tap sdk python3 sdk/python/tests/run.py
    # The pages of the console, in a real browser against the real program.
    wanted browser && run_tap browser env BROWSER_LOGS="$logs" node tests/browser/run.mjs --together 3
    return 0
}

queue_dev() {
    local suite
    if any_wanted "${dev_suites[@]}"; then build dev all || return 0; fi
    for suite in "${dev_suites[@]}"; do
        wanted "$suite" && run_label "$suite" dev "$computing_jobs"
    done
    # Types and units of the console.
    wanted console && run_tap console tools/console_test.sh
    # What the benchmarks write: figures, tables and plots, of ours and beside other systems, without measuring anything.
    wanted peers && run_tap peers sh -c 'python3 bench/test_own.py; own=$?; python3 bench/peers/test_peers.py && exit $own'
    # The crash test finds deliberate defects, from outside.
    if wanted crash-mut && release_is_built; then run_tap crash-mut tools/crash_mutants.sh build/release/reeve-mutants; fi
    return 0
}

queue_release() {
    if ((${#release_programs[@]})); then
        if build release "${release_programs[@]}"; then touch "$release_built"; fi
        release_end
        [[ -e $release_built ]] || return 0
    fi
    if ((${#release_targets[@]})); then build release "${release_targets[@]}" || return 0; fi
    wanted mutants && run_sim mutants build/release/reeve-sim-mutants mutants
    # Every byte and every sector: without sanitizers there is time for all of them.
    wanted crash-full && run_label crash-full release "$computing_jobs" crash
    wanted layering && run_label layering release "$computing_jobs" # the dev build has sanitizer symbols in its objects
    wanted package && run_label package release "$computing_jobs"
    if wanted stress && build tsan tests_stress; then run_label stress tsan "$computing_jobs"; fi
    wanted sim && run_sim sim build/release/reeve-sim run --seeds "$sim_seeds" --from "$sim_from"
    wanted regress && run_sim regress build/release/reeve-sim regress
    # The files that a request runs through: no more than there were.
    wanted path && run_tap path python3 bench/path.py build/release/reeve --test
    return 0
}

alone() {
    wanted e2e && run_ctest e2e-alone dev 1 -L '^e2e$' -L '^alone$'
    if ! any_wanted browser instructions || ! release_is_built; then return 0; fi
    wanted browser && run_tap browser-alone env BROWSER_LOGS="$logs" node tests/browser/run.mjs --alone
    # What a job costs, in instructions.
    wanted instructions && run_tap instructions python3 bench/instructions.py build/release/reeve
    return 0
}

report() {
    awk '
        { name[NR] = $1; tests[NR] = $2 + $3; bad[NR] = $3; ms[NR] = $4; all += $4 }
        END {
            for (i = 1; i <= NR; i++)
                printf "%-13s %6d tests  %4d failed  %8.1f s  %3d %% of the time\n", name[i], tests[i], bad[i], ms[i] / 1000,
                    all ? ms[i] * 100 / all : 0
        }' "$records"
}

# Ctrl-C ends the queues and what they run.
stop() {
    local queue children
    for queue in $(jobs -p); do
        children=$(pgrep -P "$queue" || true)
        kill -TERM "$queue" $children 2>/dev/null || true
    done
    exit 130
}
trap stop INT TERM

prepare
start_ms=$(now_ms)
dev_suites=(crash docs unit property golden fuzz tidy)
# The programs that more than one queue uses are built first.
release_programs=()
! any_wanted mcp oidc sdk browser crash-full layering package instructions path || release_programs+=(reeve)
! wanted crash-mut || release_programs+=(reeve reeve-mutants powercut)
release_targets=()
! any_wanted crash-full layering || release_targets+=(layers tests_crash)
! wanted package || release_targets+=(reeve-static)
! any_wanted sim regress || release_targets+=(reeve-sim)
! wanted mutants || release_targets+=(reeve-sim-mutants)

# What waits needs the processor seldom, and then at once.
yielding() { renice -n 10 "$BASHPID" >/dev/null && "$@"; }

if ! wanted e2e || build dev tests_e2e; then
    release_begin
    queues=(queue_release queue_dev queue_waiting)
    queue_ids=()
    (yielding queue_release) &
    queue_ids+=($!)
    exec 8>&- # held by that queue alone
    (yielding queue_dev) &
    queue_ids+=($!)
    queue_waiting &
    queue_ids+=($!)
    for i in "${!queues[@]}"; do
        wait "${queue_ids[i]}" || echo "${queues[i]} 0 1 0" >>"$records"
    done
    alone
fi

report
read -r passed failed < <(awk '{ passed += $2; failed += $3 } END { print passed + 0, failed + 0 }' "$records")
echo "whole run: $((($(now_ms) - start_ms) / 1000)) s, builds included"
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
