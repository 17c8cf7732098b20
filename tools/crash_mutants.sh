#!/usr/bin/env bash
# crash_mutants.sh REEVE [MUTANT...]: the test of the crash test: `reeve crashtest` finds each of these deliberate defects
# of src/base/mutant.h, from outside, and accuses the product without one of nothing. REEVE is reeve-mutants. Prints TAP;
# with names only these, and `none`.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
shift

# What a black box can judge. How often a try of so many rounds finds one depends on the machine's timing, so there are
# several; on a machine with ten times the load it can carry the shyest of them once needed eight.
mutants=(early_answer early_effect sync_error_ignored done_before_log log_acked_early end_forgotten forget_dispatch lease_kept
    key_forgotten retry_past_budget forget_cascade double_unlock deadline_forgotten limit_forgotten store_cas_ignored
    store_expiry_forgotten)
(($#)) && mutants=("$@")
rounds=10
tries=20
try_seconds=120
patience_seconds=5
innocent_rounds=30
found_code=9 # of `reeve crashtest`: it ran, and found something

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/reeve-crash-mut-XXXXXX")
jobs_of_ours=()
finish() {
    local pid
    for pid in "${jobs_of_ours[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 143' TERM INT

# crashtest MUTANT ARGS...: one run, which ends by itself or by force; what it says is in $dir/MUTANT.
crashtest() {
    local mutant=$1 run=
    shift
    trap '[[ -z $run ]] || kill -TERM "$run" 2>/dev/null; wait; exit 143' TERM
    REEVE_MUTANT=$mutant timeout --kill-after=10 "$try_seconds" "$program" crashtest --data "$dir/disk" "$@" \
        >"$dir/$mutant" 2>&1 </dev/null &
    run=$!
    wait "$run"
}

# hunt MUTANT: "found ..." or "not found ..." into $dir/MUTANT.verdict.
hunt() {
    local mutant=$1 try code
    for ((try = 1; try <= tries; try++)); do
        code=0
        crashtest "$mutant" --rounds "$rounds" --power-cut --patience "$patience_seconds" || code=$?
        if ((code == found_code)); then
            echo "found in try $try: $(grep -m1 -E '^round [0-9]+: ' "$dir/$mutant")" >"$dir/$mutant.verdict"
            return
        fi
        ((code == 0)) || break # it did not run as it should: that is no finding
    done
    echo "not found in $((try > tries ? tries : try)) tries, the last ended with $code: $(tail -n 1 "$dir/$mutant")" >"$dir/$mutant.verdict"
}

# acquit: the product as it is, by kills and by power cuts.
acquit() {
    local how
    for how in "" --power-cut; do
        crashtest none --rounds "$innocent_rounds" $how && continue
        echo "accused of: $(grep -m1 -E '^round [0-9]+: ' "$dir/none" || tail -n 1 "$dir/none")" >"$dir/none.verdict"
        return
    done
    echo "found nothing" >"$dir/none.verdict"
}

test_count=0
failed=0
check() { # VERDICT EXPECTED NAME
    test_count=$((test_count + 1))
    if [[ $1 == "$2"* ]]; then
        echo "ok $test_count - $3"
    else
        echo "not ok $test_count - $3"
        failed=1
    fi
    echo "# $1"
}

# Two at a time: most of a round is waiting.
mkdir "$dir/disk"
acquit &
jobs_of_ours+=($!)
for mutant in "${mutants[@]}"; do
    while (($(jobs -rp | wc -l) >= 2)); do wait -n || true; done
    hunt "$mutant" &
    jobs_of_ours+=($!)
done
wait

check "$(cat "$dir/none.verdict")" "found nothing" "without a defect the crash test finds nothing"
for mutant in "${mutants[@]}"; do
    check "$(cat "$dir/$mutant.verdict")" "found in" "the crash test finds $mutant"
done
check "left: $(ls "$dir/disk") $(pgrep -f "$dir/disk" || true)" "left:  " "no process and no file is left"
echo "1..$test_count"
exit "$failed"
