# count_ctest.awk: counts the tests in the output of `ctest -V`, where each line of test program 7 begins with "7: ".
# Prints "PASSED FAILED".
#
# Scripts print TAP, cmocka its own form ("[       OK ] name"), where a test says its name as it begins. A result may stand
# behind text whose line a program did not finish ("connecting... not ok 3 - name"), so it is looked for anywhere in the
# line. A program also says how many tests it has ("1..9", "Running 9 test(s)"): of a program that failed, each planned test
# without a good result has failed, even if a crash swallowed its line. A program that fails without naming a test counts
# as one failure, one that names none and ends well as one test.
function program_of(line,    part) { split(line, part, ":"); return part[1] }
/^[0-9]+: (.*[^a-z])?not ok [0-9]+/ { bad[program_of($0)]++; next }
/^[0-9]+: ok [0-9]+/ || /^[0-9]+: .*[^a-z#]ok [0-9]+ - / { ok[program_of($0)]++; next }
/^[0-9]+: 1\.\.[0-9]+$/ { planned[program_of($0)] += substr($0, index($0, "1..") + 3) }
/^[0-9]+: .*\[==========\] Running [0-9]+ test\(s\)/ {
    id = program_of($0)
    sub(/.*Running /, "")
    planned[id] += $1
    is_summary[id] = 0
    next
}
/^[0-9]+: .*\[==========\] [0-9]+ test\(s\) run/ { is_summary[program_of($0)] = 1; next } # names the bad ones again
/^[0-9]+: .*\[ (      OK| SKIPPED) \] / { if (!is_summary[program_of($0)]) ok[program_of($0)]++; next }
/^[0-9]+: .*\[  FAILED  \] / { if (!is_summary[program_of($0)]) bad[program_of($0)]++; next }
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+:/ {
    match($0, /#[0-9]+/)
    ended[substr($0, RSTART + 1, RLENGTH - 1)] = / Passed / ? "well" : "badly"
}
END {
    for (id in ended) {
        passed += ok[id]
        missing = planned[id] - ok[id]
        if (ended[id] == "well" && !ok[id]) passed++
        if (ended[id] == "badly") {
            if (bad[id] < missing) bad[id] = missing
            if (!bad[id]) bad[id] = 1
        }
        failed += bad[id]
    }
    # A run that was ended from outside has programs without a result: what they said counts all the same.
    for (id in ok) if (!(id in ended)) passed += ok[id]
    for (id in bad) if (!(id in ended)) failed += bad[id]
    print passed + 0, failed + 0
}
