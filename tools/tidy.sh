#!/usr/bin/env bash
# tidy.sh: the rules of style that a program can check. Prints TAP, one test per rule, with every offence.
#
# Lines between "clang-format off" and "clang-format on" hold tables, which may be wider than 120 columns.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(find src sim tests bench tools -name '*.[ch]' | sort)

# A folder that was moved away must not pass as a tidy one.
for folder in src sim tests bench tools; do
    [[ " ${files[*]}" == *" $folder/"* ]] || { echo "Bail out! no C file below $folder"; exit 1; }
done

# Names of structs, unions and enums that still mean two things, one name a line. A line may go; none is added.
#   block     core/view: why a job does not start; journal/file: bytes on disk
#   decision  core/decide; dialect/titan: of a person
#   file      journal/file; dialect/titan: one that is downloaded
#   part      server/loop; core/model: of a job
#   run       core/model; dialect/titan: of a script
#   service   core/model; dialect/titan: as its statistics show it
#   setting   program; dialect/resp: of CONFIG GET
doubled_names="block decision file part run service setting"

# Prints "rule<TAB>file:line: what" for each offence; the rule "warn" is told and does not fail.
read -r -d '' rules <<'AWK' || true
function offence(rule, what) { printf "%s\t%s:%d: %s\n", rule, FILENAME, FNR, what }
function calls(name) { return code ~ ("(^|[^A-Za-z0-9_>.])" name "[ ]*\\(") }
function forbid(rule, list,    names, count, i) {
    count = split(list, names, " ")
    for (i = 1; i <= count; i++) if (calls(names[i])) offence(rule, names[i] "()")
}
# What is left of a line without strings, characters and comments.
function strip(text) {
    gsub(/\\./, "", text)
    gsub(/"[^"]*"/, "\"\"", text)
    gsub(/'[^']*'/, "0", text)
    if (in_comment) {
        if (!index(text, "*/")) return ""
        sub(/^.*\*\//, "", text)
        in_comment = 0
    }
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
    if (index(text, "/*")) { in_comment = 1; sub(/\/\*.*/, "", text) }
    sub(/\/\/.*/, "", text)
    return text
}
function guard_of(path) { sub(/.*\//, "", path); gsub(/[^A-Za-z0-9]/, "_", path); return "REEVE_" toupper(path) }
FNR == 1 {
    in_comment = in_table = function_start = 0
    is_product = FILENAME ~ /^src\//
    is_test = FILENAME ~ /^tests\//
    is_header = FILENAME ~ /\.h$/
    guard = is_header ? guard_of(FILENAME) : ""
    if ($0 !~ /^\/\* /) offence("opening", "the file does not open with a comment that says what it is")
}
/clang-format off/ { in_table = 1 }
/clang-format on/ { in_table = 0 }
{ code = strip($0) }
length($0) > 120 && !in_table { offence("width", length($0) " columns") }
/\t/ { offence("tabs", "a tab") }
/[ \t\r]$/ { offence("trailing", "trailing whitespace") }
FNR == 1001 { offence("file", "more than 1,000 lines") }
/TODO|FIXME|XXX/ { offence("unfinished", "unfinished business") }
/^[ ]*#[ ]*include[ ]*"[^"]*\// { offence("include", "a quoted include names no folder") }
is_header && /^#ifndef/ && guard != "" { if ($2 != guard) offence("guard", "the guard should be " guard); guard = "" }
is_header && /^#pragma once/ { offence("guard", "a guard, not a pragma") }
{ forbid("banned", "strcpy strcat sprintf vsprintf gets strtok atoi atol atof rand srand random alloca strncpy strncat") }
is_product && FILENAME !~ /^src\/(base|os)\// {
    forbid("memory", "malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf")
}
# Some libraries abort on NULL, also when the length is 0: an empty slice may be that (slice.h).
is_product && code ~ /(yaml|ZSTD|sqlite3|SSL|EVP|BIO)_[A-Za-z0-9_]+\([^;]*\.ptr/ {
    offence("library", "a library gets slice_data(x), not x.ptr")
}
# One name, one thing: test programs and benchmarks apart, which are programs of their own.
FNR == NR && FNR == 1 { split(doubled_names, list, " "); for (i in list) is_doubled[list[i]] = 1 }
FILENAME ~ /^(src|sim|tests\/lib)\// && code ~ /^((static|const|typedef) )*(struct|union|enum) [A-Za-z0-9_]+ \{/ {
    name = code
    sub(/ \{.*/, "", name)
    sub(/.* /, "", name)
    if (!(name in home)) home[name] = FILENAME ":" FNR
    else if (!(name in is_doubled) && index(home[name], FILENAME ":") != 1)
        offence("name", name " is defined at " home[name] ", too")
}
# Each line of help stands alone: what it is about comes first, and a default is written "(default: 30s)".
is_product && /unless said/ { offence("wording", "write (default: X), not \"unless said\"") }
FILENAME ~ /^src\/(cli\/verbs\.c|program\/(settings\.h|[a-z]+_options\.c)|spec\/spec_keys\.c|limits\/limit\.h)$/ &&
    /"(and|of|that|it) [^"]*"/ { offence("wording", "a line of help that begins with and, of, that or it") }
is_test { forbid("sleep", "sleep usleep nanosleep clock_nanosleep") }
# A function starts with a line that ends in ") {" at the outermost level and ends with "}" in the first column.
(is_product || FILENAME ~ /^sim\//) && !is_test {
    if (!function_start && code ~ /\) \{[ ]*$/ && code !~ /^(    |\t)[a-z]/) function_start = FNR
    if (function_start && $0 ~ /^\}/) {
        lines = FNR - function_start + 1
        if (lines > 100) offence("function", lines " lines; 100 is the most")
        else if (lines > 70) offence("warn", "a function of " lines " lines; 70 is the goal")
        function_start = 0
    }
}
AWK

found=$(awk -v doubled_names="$doubled_names" "$rules" "${files[@]}")

declare -A meaning=(
    [opening]="every file opens with a comment"
    [width]="no line is wider than 120 columns"
    [tabs]="no tabs"
    [trailing]="no trailing whitespace"
    [file]="no file is longer than 1,000 lines"
    [function]="no function is longer than 100 lines"
    [unfinished]="nothing is marked as unfinished"
    [include]="includes are flat"
    [guard]="header guards follow the file name"
    [banned]="no banned function"
    [memory]="memory is taken in base and os only"
    [library]="no library gets the pointer of a slice, which may be NULL"
    [sleep]="no test sleeps"
    [wording]="lines of help stand alone, and defaults are written as such"
    [name]="no two files define a struct, union or enum of the same name"
)

number=0
failed=0
for rule in opening width tabs trailing file function unfinished include guard banned memory library sleep wording name; do
    number=$((number + 1))
    offences=$(awk -F '\t' -v rule="$rule" '$1 == rule { print "#   " $2 }' <<<"$found")
    if [[ -z $offences ]]; then
        echo "ok $number - ${meaning[$rule]}"
    else
        echo "not ok $number - ${meaning[$rule]}"
        echo "$offences"
        failed=1
    fi
done
# Asserts of core, which guards durable state: REQUIRE and ENSURE per 1,000 lines of its *.c and *.h. Every line counts as
# a line, comments and tables too; a fact that a function states twice counts once.
asserts_least=25
mapfile -t core < <(printf '%s\n' "${files[@]}" | grep '^src/core/' || true)
((${#core[@]})) || { echo "Bail out! no C file below src/core"; exit 1; }
asserts=$(awk '
    FNR == 1 || /^\}/ { split("", stated) }
    match($0, /(REQUIRE|ENSURE)\(.*;/) {
        fact = substr($0, RSTART, RLENGTH)
        if (!(fact in stated)) count++
        stated[fact] = 1
    }
    END { printf "%d %d", count * 1000 / NR, count }
' "${core[@]}")
number=$((number + 1))
if ((${asserts% *} >= asserts_least)); then
    echo "ok $number - core has $asserts_least asserts per 1,000 lines (${asserts% *}: ${asserts#* } of them)"
else
    echo "not ok $number - core has $asserts_least asserts per 1,000 lines (${asserts% *}: ${asserts#* } of them)"
    failed=1
fi
awk -F '\t' '$1 == "warn" { print "# " $2 }' <<<"$found"
echo "1..$number"
exit $failed
