#!/usr/bin/env bash
# symbols.sh BUILD: what the object files of core may ask for and hold. Core is a function of state and input, so it
# gets its memory from base, its tables from job, calls nothing of the system and keeps no state of its own. Prints TAP.
set -euo pipefail
core=$1/libreeve_core.a
base=$1/libreeve_base.a
job=$1/libreeve_job.a

for library in "$core" "$base" "$job"; do
    [[ -n $(nm --defined-only "$library" 2>/dev/null) ]] && continue
    echo "not ok 1 - $library has no objects to check"
    echo "1..1"
    exit 1
done

failed=0
report() { # NUMBER NAME OFFENDERS
    if [[ -z $3 ]]; then
        echo "ok $1 - $2"
    else
        echo "not ok $1 - $2"
        sed 's/^/#   /' <<<"$3"
        failed=1
    fi
}

memory="memcpy memmove memset memcmp strlen"
runtime="__stack_chk_fail __memcpy_chk __memmove_chk __memset_chk _GLOBAL_OFFSET_TABLE_"
allowed=$({
    tr ' ' '\n' <<<"$memory $runtime"
    nm --defined-only "$base" "$job" | awk 'NF == 3 && $2 ~ /[TRDBV]/ { print $3 }'
    nm --defined-only "$core" | awk 'NF == 3 && $2 ~ /[TRDBV]/ { print $3 }'
} | sort -u)

foreign=$(nm -A -u "$core" | awk '{ print $NF }' | sort -u | comm -23 - <(echo "$allowed"))
report 1 "core asks for nothing but base, the tables of job and memory functions" "$foreign"

# Constant tables of pointers sit in .data.rel.ro in a position-independent build: written by the loader, then
# read-only. Only symbols of sections that stay writable count.
writable=$(objdump -t "$core" "$job" | awk '$0 ~ / O / && $0 ~ / \.(data|bss|tdata|tbss)(\.[^ ]*)?\t/ && $0 !~ /\.data\.rel\.ro/ { print $NF }')
report 2 "core and job hold no mutable state" "$writable"
echo "1..2"
exit $failed
