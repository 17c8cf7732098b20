#!/usr/bin/env bash
# count.sh: tools/count_ctest.awk counts what `ctest -V` prints, and tools/ctest_failures.awk shows what went wrong. Prints TAP.
set -uo pipefail
cd "$(dirname "$0")/../.."
number=0
failed=0

# counts NAME "PASSED FAILED": of what is on standard input.
counts() { check count_ctest.awk "$@"; }

# shows NAME TEXT: of what is on standard input.
shows() { check ctest_failures.awk "$@"; }

check() { # FILE NAME EXPECTED
    local got file=$1
    shift
    got=$(awk -f "tools/$file")
    number=$((number + 1))
    if [[ $got == "$2" ]]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        echo "# expected '$2', got '$got'"
        failed=1
    fi
}

counts "a program that ends well" "2 0" <<'LOG'
7: 1..2
7: ok 1 - one
7: ok 2 - two
 1/1 Test  #7: unit/x ...................   Passed    0.01 sec
LOG
counts "each test that failed" "1 2" <<'LOG'
7: 1..3
7: ok 1 - one
7: not ok 2 - two
7: not ok 3 - three
 1/1 Test  #7: unit/x ...................***Failed    0.01 sec
LOG
counts "a result behind an unfinished line" "1 2" <<'LOG'
12: 1..3
12: worker: connecting to 127.0.0.1 not ok 1 - one
12: not ok 2 - two
12: waiting...ok 3 - three
 1/1 Test #12: e2e/x ....................***Failed    0.01 sec
LOG
counts "what a crash swallowed, by the plan" "1 3" <<'LOG'
7: 1..4
7: ok 1 - one
7: AddressSanitizer: heap-use-after-free
 1/1 Test  #7: unit/x ...................Subprocess aborted***Exception:   0.01 sec
LOG
counts "a program without tests of its own" "1 1" <<'LOG'
 1/2 Test  #3: layering/includes ........   Passed    0.01 sec
 2/2 Test  #4: layering/symbols .........***Failed    0.01 sec
LOG
counts "two programs whose lines are mixed" "3 1" <<'LOG'
7: 1..2
8: 1..2
7: ok 1 - one
8: ok 1 - one
8: not ok 2 - two
7: ok 2 - two
 1/2 Test  #7: unit/x ...................   Passed    0.01 sec
 2/2 Test  #8: unit/y ...................***Failed    0.01 sec
LOG
counts "a log that was cut" "1 1" <<'LOG'
7: 1..3
7: ok 1 - one
7: not ok 2 - two
LOG
counts "tests of cmocka, whose bad ones are named twice" "2 1" <<'LOG'
7: [==========] Running 3 test(s).
7: [ RUN      ] one
7: worker: connecting... [       OK ] one
7: [ RUN      ] two
7: [  ERROR   ] --- 1 != 2
7: [  FAILED  ] two
7: [ RUN      ] three
7: [  SKIPPED ] three
7: [==========] 3 test(s) run.
7: [  PASSED  ] 1 test(s).
7: [  SKIPPED ] 1 test(s), listed below:
7: [  SKIPPED ] three
7: [  FAILED  ] 1 test(s), listed below:
7: [  FAILED  ] two
 1/1 Test  #7: unit/x ...................***Failed    0.01 sec
LOG
hung=$(
    cat <<'LOG'
7: [==========] Running 4 test(s).
8: [==========] Running 1 test(s).
7: [ RUN      ] one
8: [ RUN      ] other
7: [       OK ] one
7: [ RUN      ] two
8: [       OK ] other
 1/2 Test  #8: unit/y ...................   Passed    0.01 sec
 2/2 Test  #7: unit/x ...................***Timeout 120.01 sec
LOG
)
counts "a program that hung, by the plan" "2 3" <<<"$hung"
shows "in which test it hung" " 2/2 Test  #7: unit/x ...................***Timeout 120.01 sec
    it was in the test two" <<<"$hung"
echo "1..$number"
exit $failed
