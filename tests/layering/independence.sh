#!/usr/bin/env bash
# independence.sh COMPILER: the second model and the checkers of sim/ share nothing with src/core. Prints TAP.
#
# A judge that includes the accused is no judge. Each file is preprocessed with src/base, sim/model and sim/check as
# its only include roots, and what it then includes is listed: of the project, only base and the judges' own files.
set -euo pipefail
cd "$(dirname "$0")/../.."
compiler=$1

test_count=0
failed=0
check() { # RESULT NAME
    test_count=$((test_count + 1))
    if [[ $1 == true ]]; then
        echo "ok $test_count - $2"
    else
        echo "not ok $test_count - $2"
        failed=1
    fi
}

for file in sim/model/*.[ch] sim/check/*.[ch]; do
    result=true
    if ! included=$("$compiler" -std=c17 -D_GNU_SOURCE -x c -MM -MT x -I sim/model -I sim/check -I src/base "$file" 2>&1); then
        sed 's/^/#   /' <<<"$included"
        result=false
        included=""
    fi
    for header in $(tr -d '\\' <<<"${included#x:}"); do
        case $header in
        sim/model/*.[ch] | sim/check/*.[ch] | src/base/*.h) ;;
        *)
            echo "#   $file includes $header"
            result=false
            ;;
        esac
    done
    check $result "$file stands on its own"
done

# Even the neutral description may not lean on base: two headers of the language, nothing else.
own=$(grep -c '^#include' sim/model/trace.h)
allowed=$(grep -cE '^#include <std(int|bool)\.h>$' sim/model/trace.h)
check "$([[ $own == "$allowed" ]] && echo true || echo false)" "sim/model/trace.h includes stdint.h and stdbool.h alone"

echo "1..$test_count"
exit $failed
