#!/bin/sh
# Makes the Debian packages and looks at what they say of themselves and what is in them.
# usage: debian_test.sh CPACK BUILD
set -eu
cpack=$1
build=$2
for tool in dpkg-deb dpkg-shlibdeps file; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "skipped: there is no $tool here"
    exit 0
  fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/log" 2>&1 || {
  cat "$scratch/log"
  exit 1
}
program=$(echo "$scratch"/qkv_*.deb)
development=$(echo "$scratch"/libqkv-dev_*.deb)

# expect PACKAGE FIELD PATTERN: an extended regular expression that the field must match.
expect() {
  value=$(dpkg-deb -f "$1" "$2")
  if ! printf '%s\n' "$value" | grep -Eq -- "$3"; then
    echo "FAIL $2 of ${1##*/} is '$value', expected a match of $3"
    failed=1
  fi
}
# expect_file PACKAGE PATTERN
expect_file() {
  if ! dpkg-deb -c "$1" | awk '{ print $6 }' | grep -Eq -- "$2"; then
    echo "FAIL ${1##*/} has no file like $2"
    failed=1
  fi
}

expect "$program" Package '^qkv$'
expect "$program" Section '^science$'
expect "$program" Maintainer '<.+@.+>'
expect "$program" Description '^attention on'
for library in libc6 libfmt9 libpng16-16 zlib1g; do
  expect "$program" Depends "(^|, )$library( |,|$)"
done
if dpkg-deb -f "$program" Depends | grep -Eq 'openblas|stdc\+\+|-dev'; then
  echo "FAIL qkv depends on what is linked into it: $(dpkg-deb -f "$program" Depends)"
  failed=1
fi
for file in bin/qkv share/man/man1/qkv.1.gz share/bash-completion/completions/qkv \
  share/zsh/vendor-completions/_qkv share/fish/vendor_completions.d/qkv.fish share/doc/qkv/copyright; do
  expect_file "$program" "^\./usr/$file\$"
done

expect "$development" Section '^libdevel$'
for package in libfmt-dev libopenblas-pthread-dev libpng-dev zlib1g-dev; do
  expect "$development" Depends "(^|, )$package( |,|$)"
done
for file in include/qkv/attention/pipeline.hpp 'lib/(.*/)?libqkv.a' 'lib/(.*/)?cmake/qkv/qkvConfig.cmake' \
  share/doc/libqkv-dev/copyright; do
  expect_file "$development" "^\./usr/$file\$"
done

dpkg-deb -x "$program" "$scratch/root"
"$scratch/root/usr/bin/qkv" --version >/dev/null
exit "$failed"
