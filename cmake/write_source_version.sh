#!/bin/sh
# Writes the source file that has the version of the sources in a folder, unless it says so already: what is
# made of it is made again only when the version is another one.
#
# usage: cmake/write_source_version.sh FOLDER FILE
set -eu
version=$("$1/deploy/source_version.sh" "$1")
cat > "$2.new" <<SOURCE
#include "common/version.h"
namespace hai {
std::string_view source_version() { return "$version"; }
}  // namespace hai
SOURCE
if cmp -s "$2.new" "$2"; then rm "$2.new"; else mv "$2.new" "$2"; fi
