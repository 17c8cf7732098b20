# ctest_failures.awk: the output of `ctest -V` without what went well and without what ctest says about itself. Of a program
# that did not end by itself it says in which test it was.
function program_of(line,    part) { split(line, part, ":"); return part[1] }
/^[0-9]+: .*\[ RUN      \] / {
    id = program_of($0)
    sub(/.*\[ RUN      \] /, "")
    running[id] = $0
    next
}
/^[0-9]+: .*\[ (      OK| SKIPPED) \] / { delete running[program_of($0)]; next }
/^[0-9]+: .*\[  FAILED  \] / { delete running[program_of($0)] }
/^[0-9]+: (ok |# ok |1\.\.|\[===|\[  PASSED|Test command|Working Directory|Test timeout|Environment var)/ { next }
/^(test [0-9]|Internal ctest|UpdateCTest|Test project|Constructing|Done con|Updating|Added|Checking)/ { next }
/^(Label Time|Total Test|Errors while|Output from|Use "--rerun)/ { next }
/^ +Start | Passed |proc \(|^$/ { next }
{ print }
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+:/ {
    match($0, /#[0-9]+/)
    id = substr($0, RSTART + 1, RLENGTH - 1)
    if (id in running) print "    it was in the test " running[id]
    delete running[id]
}
END {
    for (id in running) print id ": was in the test " running[id] " when everything was ended"
}
