#!/bin/sh
# Plants unfinished work and strange paths in a folder, and expects check_words.sh to name each.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

printf 'mktemp qkv-XX''XXXX; cp a.npy b.npy  # see src/wo''rk/tree, $HOME/wo''rk and https://example.org/wo''rk/\n' >"$tree/fine.sh"
if ! sh "$here/check_words.sh" "$tree"; then
  echo "FAIL a harmless file was refused"
  failed=1
fi

for word in 'TO''DO' 'FIX''ME' '"/wo''rk/main"' 'cd /ho''me/me' 'see /ro''ot'; do
  printf 'first\n// %s\n' "$word" >"$tree/planted.cpp"
  if output=$(sh "$here/check_words.sh" "$tree") || ! printf '%s\n' "$output" | grep -qF 'planted.cpp:2:'; then
    echo "FAIL $word was not found; got: $output"
    failed=1
  fi
done

exit "$failed"
