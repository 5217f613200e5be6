#!/bin/sh
# Plants one forbidden include after the other in a small tree, and expects check_layers.sh to name each.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

mkdir -p "$tree/src/base" "$tree/src/tensor" "$tree/src/attention" "$tree/src/io" "$tree/src/cli" \
  "$tree/include/qkv/tensor"
printf '#pragma once\n#include "qkv/base/error.hpp"\n' >"$tree/include/qkv/tensor/shape.hpp"
printf '#include <vector>\n#include "qkv/tensor/shape.hpp"\n#include "steps.hpp"\n' >"$tree/src/attention/pipeline.cpp"
printf '#include <CLI/CLI.hpp>\n#include "cli/words.hpp"\n#include "qkv/io/read.hpp"\n' >"$tree/src/cli/main.cpp"
printf '#include <nlohmann/json.hpp>\n' >"$tree/src/base/json.cpp"

if ! sh "$here/check_layers.sh" "$tree"; then
  echo "FAIL a tree in which every include is allowed was refused"
  failed=1
fi

# plant FILE LINE EXPECTED: the complaint must contain EXPECTED, and the file's name and line.
plant() {
  mkdir -p "$(dirname -- "$tree/$1")"
  printf '// a file\n%s\n' "$2" >"$tree/$1"
  if output=$(sh "$here/check_layers.sh" "$tree") || ! printf '%s\n' "$output" | grep -qF "$1:" ||
    ! printf '%s\n' "$output" | grep -qF "$3"; then
    echo "FAIL $2 in $1 was not found; expected: $3; got: $output"
    failed=1
  fi
  rm "$tree/$1"
}

plant src/attention/files.cpp '#include "qkv/io/read.hpp"' 'attention may not include io'
plant src/io/sizes.cpp '#include "qkv/attention/sizes.hpp"' 'io may not include attention'
plant include/qkv/base/up.hpp '#include "qkv/tensor/shape.hpp"' 'base may not include tensor'
plant src/tensor/private.cpp '#include "cli/words.hpp"' 'tensor may not include cli'
plant src/tensor/angle.cpp '#include <qkv/report/report.hpp>' 'tensor may not include report'
plant src/tensor/spaced.cpp '  #  include "qkv/checks/check.hpp"' 'tensor may not include checks'
plant src/base/climbs.cpp '#include "../tensor/x.hpp"' 'climbs'
plant src/io/options.cpp '#include <CLI/App.hpp>' '<CLI/App.hpp> belongs to src/cli/'
plant src/base/text.cpp '#include <nlohmann/json_fwd.hpp>' 'belongs to src/base/json.cpp'
plant src/attention/product.cpp '#include <cblas.h>' 'belongs to src/tensor/'
plant src/utils/misc.cpp '' 'layer utils is not in the table of layers'
plant src/stray.cpp '' 'lies in no layer'

exit "$failed"
