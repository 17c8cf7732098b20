#!/usr/bin/env bash
# links_check.sh: what the documents refer to exists: the targets of relative links, paths of the tree in backticks,
# tests in backticks (names of four words and more), and functions (`file.c: function`). Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t documents < <(find . -name '*.md' -not -path './build/*' -not -path './docs/src/*' -not -path '*/node_modules/*' | sort)
dead=""
for document in "${documents[@]}"; do
    folder=$(dirname "$document")
    while IFS= read -r target; do
        target=${target%%#*}
        [[ -z $target || -e $folder/$target ]] || dead+="# $document: link to $target"$'\n'
    done < <(grep -oP '\]\(\K[^)]+' "$document" | grep -v '^[a-z]*:' || true)
    while IFS= read -r path; do
        [[ $path == */x[_/]* ]] && continue # a name that stands for any
        compgen -G "$path*" >/dev/null || compgen -G "$folder/$path*" >/dev/null || dead+="# $document: $path"$'\n'
    done < <(grep -oP '`\K(src|sim|tests|tools|bench|docs)/[A-Za-z0-9_./-]+(?=`)' "$document" | sort -u || true)
    while IFS= read -r name; do
        grep -rqw -- "$name" src sim tests tools || dead+="# $document: nothing is called $name"$'\n'
    done < <(grep -oP '`\K[a-z0-9]+(_[a-z0-9]+){3,}(?=`)' "$document" | sort -u || true)
    while IFS= read -r pair; do
        [[ $pair == "file.c: function" ]] && continue # any
        find src sim -name "${pair%%: *}" -exec grep -qE "^[a-z].*\b${pair#*: }\(|^HANDLER\(${pair#*: }\)" {} + ||
            dead+="# $document: $pair"$'\n'
    done < <(grep -oP '`\K[a-z_0-9]+\.c: [a-z_0-9]+(?=`)' "$document" | sort -u || true)
done
if [[ -z $dead ]]; then
    echo "ok 1 - documents refer to what exists"
else
    echo "not ok 1 - documents refer to what does not exist"
    printf '%s' "$dead"
    exit 1
fi
