#!/bin/sh
# Gives run_case.sh cases that are right and cases that are wrong in each of the three things it compares.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
folder="$scratch/a case"
mkdir "$folder"
printf '#!/bin/sh\necho "said $*"\necho noted >&2\nexit 3\n' >"$scratch/program"
chmod +x "$scratch/program"

# expect STATUS CLAIM: what run_case.sh must return.
expect() {
  status=0
  output=$(sh "$here/run_case.sh" "$scratch/program" "$folder" 2>&1) || status=$?
  if [ "$status" -ne "$1" ]; then
    printf 'FAIL %s: expected status %s, got %s\n%s\n' "$2" "$1" "$status" "$output"
    failed=1
  fi
}

expect 2 'a folder without cmd is no case'
printf 'qkv one two\n' >"$folder/cmd"
expect 1 'absent files mean empty output and status 0'
printf 'said one two\n' >"$folder/stdout"
printf 'noted\n' >"$folder/stderr"
expect 1 'the exit status is compared'
echo 3 >"$folder/exit"
expect 0 'a case that is as written down passes'
printf 'said one two' >"$folder/stdout"
expect 1 'a missing last newline is a difference'
printf 'said one two\n' >"$folder/stdout"
rm "$folder/stderr"
expect 1 'unexpected text on stderr is a difference'
sh "$here/run_case.sh" "$scratch/program" "$folder" --update
expect 0 'a case that was just updated passes'

exit "$failed"
