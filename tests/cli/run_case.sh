#!/bin/sh
# Runs one case of the command line and compares what it says with what is written down.
# usage: run_case.sh QKV CASE [--update]
#   QKV   the program; `cmd` calls it as qkv
#   CASE  a folder: cmd (run by sh in a copy of the folder), stdout, stderr (absent: empty), exit (absent: 0)
#   --update  writes down what was said instead; read the difference before you keep it
# $QKV_DATA is tests/data. Exit status: 0 as written, 1 not, 2 the case is not one.
set -eu

if [ $# -lt 2 ] || [ ! -x "$1" ] || [ ! -f "$2/cmd" ]; then
  echo "usage: run_case.sh QKV CASE [--update]; QKV is a program, CASE a folder with a file cmd" >&2
  exit 2
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")
folder=$(CDPATH='' cd -- "$2" && pwd)
update=${3:-}

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/qkv"
cp -R "$folder" "$scratch/case"
(cd "$scratch/case" && rm -f cmd stdout stderr exit README.md)

# The same surroundings everywhere: no terminal, no colours, no settings of whoever runs the tests.
status=0
(
  cd "$scratch/case"
  unset NO_COLOR CLICOLOR_FORCE COLUMNS OPENBLAS_NUM_THREADS OMP_NUM_THREADS || true
  export PATH="$scratch/bin:$PATH" QKV_DATA="$here/../data" LC_ALL=C.UTF-8 TERM=dumb TZ=UTC
  # Sums differ in the last digit from one CPU kernel to the next; this one runs on every x86-64 processor.
  export OPENBLAS_CORETYPE=Prescott
  exec sh "$folder/cmd"
) >"$scratch/stdout" 2>"$scratch/stderr" </dev/null || status=$?
echo "$status" >"$scratch/exit"

if [ "$update" = --update ]; then
  rm -f "$folder/stdout" "$folder/stderr" "$folder/exit"
  [ ! -s "$scratch/stdout" ] || cp "$scratch/stdout" "$folder/stdout"
  [ ! -s "$scratch/stderr" ] || cp "$scratch/stderr" "$folder/stderr"
  [ "$status" -eq 0 ] || cp "$scratch/exit" "$folder/exit"
  exit 0
fi

# differs NAME WANTED-IF-ABSENT: compares one stream with its file.
differs() {
  wanted=$folder/$1
  if [ ! -e "$wanted" ]; then
    wanted=$scratch/wanted
    printf '%s' "$2" >"$wanted"
  fi
  ! cmp -s "$wanted" "$scratch/$1" || return 1
  echo "--- $1: wanted (-) and got (+)"
  diff -u "$wanted" "$scratch/$1" | tail -n +3
}

failed=0
if differs stdout ''; then failed=1; fi
if differs stderr ''; then failed=1; fi
if differs exit '0
'; then failed=1; fi
if [ "$failed" -ne 0 ]; then
  echo "--- cmd"
  cat "$folder/cmd"
fi
exit "$failed"
