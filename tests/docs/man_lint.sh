#!/bin/sh
# mandoc finds nothing to say about the manual.
# usage: man_lint.sh PAGE
set -eu
if ! command -v mandoc >/dev/null 2>&1; then
  echo "skipped: there is no mandoc here"
  exit 0
fi
said=$(mandoc -T lint -W all "$1" 2>&1) || true
[ -z "$said" ] || {
  printf '%s\n' "$said"
  exit 1
}
