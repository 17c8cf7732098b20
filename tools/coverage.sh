#!/usr/bin/env bash
# coverage.sh: runs the tests of the coverage build and writes docs/coverage.md: for each file of the core and of the
# journal the share of branches that tests take, and every branch they do not, with its reason.
#
# A branch is what gcov counts: one way out of a condition. Left out by rule, because they cannot be taken in a program
# that is right: those of REQUIRE, ENSURE, PANIC and MUTANT, and of a table's X(). Every other one needs a test or a
# reason in tools/coverage-reasons.txt; if one has neither, it is printed and this fails. A reason stands there as
# `place<TAB>piece<TAB>reason`: the place is a folder, a file, or file:function, the piece a part of the source line, so
# that edits elsewhere do not touch it. A number in a fourth column is the most branches of one line that it excuses.
set -euo pipefail
cd "$(dirname "$0")/.."
out=docs/coverage.md
work=build/coverage/branches

cmake --preset coverage >/dev/null
cmake --build --preset coverage -j2 >build/coverage/build.log 2>&1 || { tail -n 30 build/coverage/build.log; exit 1; }
find build/coverage -name '*.gcda' -delete
# (What is in a sandbox cannot write down what it ran, and says so on its error output, which that test looks at.)
ctest --test-dir build/coverage -j2 -L '^(unit|property|golden|crash|stress|fuzz)$' -E unit/ossandbox_test >build/coverage/ctest.log 2>&1 ||
    { tail -n 30 build/coverage/ctest.log; exit 1; }
# A few runs of the simulator: with a journal that has no threads only it works.
build/coverage/reeve-sim run --seeds 10 >build/coverage/sim.log 2>&1 || { tail -n 30 build/coverage/sim.log; exit 1; }

rm -rf "$work"
mkdir -p "$work"
for layer in core journal; do
    # from the build folder: a compiler cache may have made the names of sources relative to it
    find "$PWD/build/coverage" -path "*reeve_$layer.dir*" -name '*.gcno' -print0 |
        (cd build/coverage && xargs -0 -n 50 gcov -b -c -p >/dev/null 2>&1)
done
mv build/coverage/*.gcov "$work"/

# One line per branch that was not taken: file, line, how many of how many, source, function; and per file the sums.
read -r -d '' branches <<'AWK' || true
function flush_line() {
    if (total) {
        all[file] += total; hit[file] += taken
        if (taken < total) printf "miss\t%s\t%d\t%d\t%d\t%s\t%s\n", file, line, total - taken, total, text, fn
    }
    total = taken = 0
}
FNR == 1 { flush_line(); file = fn = ""; excluded = 0 }
/^ *-: *0:Source:/ {
    sub(/^ *-: *0:Source:/, ""); sub(/.*\/src\//, "src/"); file = $0
    wanted = file ~ /^src\/(core|journal)\/.*\.c$/
    if (wanted && !(file in all)) { all[file] = 0; hit[file] = 0 }
    next
}
!wanted { next }
/^function / { flush_line(); fn = $2; next }
/^ *[-#=0-9]+\*?: *[0-9]+:/ {
    flush_line()
    split($0, part, ":"); line = part[2] + 0
    text = $0; sub(/^[^:]*: *[0-9]+:/, "", text); gsub(/^[ \t]+|[ \t]+$/, "", text)
    gsub(/\t/, " ", text)
    excluded = text ~ /(REQUIRE|ENSURE|PANIC|MUTANT) ?\(/
    next
}
/^branch/ && !excluded { total++; if ($3 == "taken" && $4 + 0 > 0) taken++ }
END {
    flush_line()
    for (f in all) printf "file\t%s\t%d\t%d\n", f, hit[f], all[f]
}
AWK
find "$work" -name '*.gcov' | sort | xargs awk "$branches" | sort -t "$(printf '\t')" -k1,1 -k2,2 -k3,3n >"$work/all.tsv"

# shellcheck disable=SC2016
awk -F '\t' '
    function covered(a, b) { return b ? sprintf("%.1f %%", a * 100 / b) : "no branches" }
    FILENAME ~ /reasons/ { if (/^[^#]/ && NF >= 3) { count++; of[count] = $1; piece[count] = $2; why[count] = $3; most[count] = NF > 3 ? $4 : 99 } next }
    $1 == "file" {
        files[++n] = $2; hit[$2] = $3; all[$2] = $4
        layer = $2 ~ /core/ ? "src/core" : "src/journal"; lh[layer] += $3; la[layer] += $4
    }
    function is_place(place, file, fn) {
        return place == "*" || place == file ":" fn || (place !~ /:/ && index(file, place) == 1)
    }
    $1 == "miss" {
        reason = "**no test and no reason**"
        for (i = 1; i <= count; i++) if ($4 <= most[i] && is_place(of[i], $2, $7) && (piece[i] == "" || index($6, piece[i]))) break
        if (i > count) open += $4; else { reason = why[i]; fits[i] = 1; total += $4 }
        text = $6; gsub(/\|/, "\\|", text); gsub(/`/, "", text)
        rows[++m] = sprintf("| `%s:%d` | %d of %d | `%s` | %s |", $2, $3, $4, $5, text, reason)
    }
    END {
        print "# Branches that tests take\n"
        print "Written by `make coverage` (unit, property, golden, crash, stress and fuzz suites, ten runs of the simulator, under gcov). Left out by rule: the branches of"
        print "`REQUIRE`, `ENSURE`, `PANIC` and `MUTANT`, which a right program does not take.\n"
        for (l in la) order[++k] = l
        if (k == 2 && order[1] > order[2]) { t = order[1]; order[1] = order[2]; order[2] = t }
        for (i = 1; i <= k; i++) printf "**%s: %s** (%d of %d branches).  \n", order[i], covered(lh[order[i]], la[order[i]]), lh[order[i]], la[order[i]]
        printf "Not taken and explained: %d. Not taken and not explained: %d.\n\n", total, open
        print "| file | taken | branches | share |\n| --- | ---: | ---: | ---: |"
        for (i = 1; i <= n; i++) printf "| `%s` | %d | %d | %s |\n", files[i], hit[files[i]], all[files[i]], covered(hit[files[i]], all[files[i]])
        print "\n## Not taken\n\n| where | branches | source | why |\n| --- | --- | --- | --- |"
        for (i = 1; i <= m; i++) print rows[i]
        for (i = 1; i <= count; i++) if (!fits[i]) print "coverage: this reason fits no branch: " of[i] ", " piece[i] > "/dev/stderr"
    }' tools/coverage-reasons.txt "$work/all.tsv" >"$out"
sed -n '6,8p' "$out"
if grep -F '**no test and no reason**' "$out" >&2; then exit 1; fi
