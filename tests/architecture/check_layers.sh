#!/bin/sh
# Reads every #include of src/ and include/qkv/ and names those that the table of layers does not allow.
# usage: check_layers.sh ROOT [LAYERS.txt]; exit status 1 where there is one
set -eu
root=$1
table=${2:-$(dirname -- "$0")/layers.txt}
table=$(CDPATH='' cd -- "$(dirname -- "$table")" && pwd)/$(basename -- "$table")
cd "$root"

find src include/qkv -name '*.cpp' -o -name '*.hpp' | LC_ALL=C sort | {
  # One stream for one awk, each file behind a line that bears its name.
  while IFS= read -r file; do
    printf '\001 %s\n' "$file"
    cat -- "$file"
  done
} | awk -v table="$table" '
  function complain(text) {
    printf "%s:%d: %s\n", file, line, text
    ++complaints
  }
  BEGIN {
    while ((getline row < table) > 0) {
      if (row ~ /^#/ || row !~ /:/) continue
      name = row
      sub(/:.*/, "", name)
      sub(/^[^:]*:[ \t]*/, "", row)
      if (name ~ /^only </) {
        gsub(/^only <|>$/, "", name)
        home[name] = row
      } else {
        layers[name] = 1
        n = split(row, list, /[ \t]+/)
        for (i = 1; i <= n; ++i) may[name, list[i]] = 1
      }
    }
    close(table)
  }
  /^\001 / {
    file = substr($0, 3)
    line = 0
    ++files
    layer = file
    sub(/^(src|include\/qkv)\//, "", layer)
    if (layer !~ /\//) complain("lies in no layer")
    sub(/\/.*/, "", layer)
    if (!(layer in layers)) complain("layer " layer " is not in the table of layers")
    next
  }
  { ++line }
  /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    header = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", header)
    sub(/[">].*/, "", header)
    for (name in home) {
      if (index(header, name) == 1 && index(file, home[name]) != 1)
        complain("<" header "> belongs to " home[name])
    }
    if ($0 ~ /</ && header !~ /^qkv\//) next
    if (header ~ /\.\.\//) {
      complain("\"" header "\" climbs: name the header from src/ or include/")
      next
    }
    sub(/^qkv\//, "", header)
    if (header !~ /\//) next  # a neighbour in its own folder
    wanted = header
    sub(/\/.*/, "", wanted)
    if (!((layer, wanted) in may)) complain(layer " may not include " wanted " (\"" header "\")")
  }
  END {
    if (files == 0) {
      print "no sources found"
      exit 1
    }
    exit complaints > 0
  }'
