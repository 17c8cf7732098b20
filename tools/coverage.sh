#!/usr/bin/env bash
# coverage.sh: runs the tests of the coverage build and prints, per source file, the share of lines they reach.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset coverage >/dev/null
cmake --build --preset coverage >/dev/null
find build/coverage -name '*.gcda' -delete
ctest --test-dir build/coverage -j2 -L 'unit|property|golden|crash|fuzz' >build/coverage/ctest.log 2>&1 ||
    { tail -n 30 build/coverage/ctest.log; exit 1; }

find build/coverage -path '*reeve_*' -name '*.gcda' -print0 | sort -z |
    while IFS= read -r -d '' data; do gcov -n -o "$data" "$data" 2>/dev/null; done |
    awk '
        /^File / { file = $2; gsub(/\x27/, "", file); sub(/.*\/src\//, "src/", file); sub(/.*\/sim\//, "sim/", file) }
        /^Lines executed:/ && file ~ /^(src|sim)\/.*\.c$/ {
            split($0, part, /[:% ]+/); share = part[3]; lines = $NF
            printf "%6.1f %%  %5d lines  %s\n", share, lines, file
            reached += share * lines / 100; all += lines
        }
        { if (/^Lines executed:/) file = "" }
        END { if (all) printf "%6.1f %%  %5d lines  in all\n", reached * 100 / all, all }'
