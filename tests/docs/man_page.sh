#!/bin/sh
# Every command, option, stage, check and file format is in the manual, and every option there is one of the program's.
# usage: man_page.sh PAGE QKV LIST-NAMES
set -eu
page=$1
program=$2
list_names=$3
if ! command -v mandoc >/dev/null 2>&1; then
  echo "skipped: there is no mandoc here"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# The page as it is read, without the overstriking that makes bold and underlined letters.
mandoc -T utf8 "$page" | sed "s/.$(printf '\b')//g" >"$scratch/page"

# described WORD WHAT: the page has the word, not merely a longer one.
described() {
  if ! grep -Eq -- "(^|[^[:alnum:]_.-])$(printf '%s' "$1" | sed 's/\./\\./g')([^[:alnum:]_-]|\$)" "$scratch/page"; then
    echo "FAIL the manual does not mention $2 $1"
    failed=1
  fi
}

# The indented words that open the lines under the heading "Commands:" (or alike) of the help.
commands=$("$program" --help | awk 'tolower($0) ~ /^(sub)?commands:?$/ { inside = 1; next } /^[^ ]/ { inside = 0 } inside && NF { print $1 }')
if [ -z "$commands" ]; then
  echo "FAIL qkv --help lists no commands"
  exit 1
fi

"$program" --help >"$scratch/help"
for command in $commands; do
  described "$command" command
  "$program" "$command" --help >>"$scratch/help"
done
grep -Eo -- '(^|[ ,[(|])--?[a-z][a-z0-9-]*' "$scratch/help" | grep -Eo -- '-.*' | sort -u >"$scratch/options"
while IFS= read -r option; do described "$option" option; done <"$scratch/options"

grep -Eo -- '(^|[^[:alnum:]-])--[a-z][a-z0-9-]*' "$scratch/page" | grep -Eo -- '--.*' | sort -u >"$scratch/promised"
while IFS= read -r option; do
  if ! grep -qxF -- "$option" "$scratch/options"; then
    echo "FAIL the manual promises $option, which no help lists"
    failed=1
  fi
done <"$scratch/promised"

"$list_names" >"$scratch/names"
while read -r what name; do described "$name" "$what"; done <"$scratch/names"

echo "$(wc -l <"$scratch/options") options, $(wc -l <"$scratch/names") names"
exit "$failed"
