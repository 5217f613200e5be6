#!/bin/sh
# The README names files that exist, and what it shows of an example is what the example's test expects.
# usage: readme.sh ROOT
set -eu
cd "$1"
failed=0

# Links to files of the repository, and the scripts that the commands run.
for file in $(grep -Eo '\]\([^):#]+\)|(sh |`)?\.ci/[a-z]+' README.md | sed -E 's/^\]\(|\)$|^sh |^`//g' | sort -u); do
  if [ ! -e "$file" ]; then
    echo "FAIL README.md names $file, which does not exist"
    failed=1
  fi
done

# Blocks that open with a command: "$ qkv ..." and then its output, to the end of the block.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
awk -v folder="$scratch" '
  /^```/ { inside = !inside; name = ""; next }
  inside && /^\$ qkv / { ++shown; name = folder "/" shown; print substr($0, 3) > (name ".cmd"); printf "" > (name ".out"); next }
  inside && name != "" { print > (name ".out") }' README.md
for shown in "$scratch"/*.cmd; do
  [ -e "$shown" ] || { echo "FAIL README.md shows no run of the program"; failed=1; break; }
  matched=
  for example in examples/*/; do
    # The README runs from the root of the repository, the example from its own folder.
    if [ "$(sed "s| ${example}| |g" "$shown")" = "$(tail -n 1 "$example/cmd")" ]; then
      matched=yes
      if ! diff -u "$example/stdout" "${shown%.cmd}.out"; then failed=1; fi
    fi
  done
  if [ -z "$matched" ]; then
    echo "FAIL no example has the command that README.md shows: $(cat "$shown")"
    failed=1
  fi
done
exit "$failed"
