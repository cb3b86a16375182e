#!/bin/sh
# Prints the version of the sources in a folder: the project's own, then how many commits are behind it and
# which is the newest, 0.1.0+git482.05e50ea3, so that newer sources have a higher version; with .changed
# if files differ from that commit. Without git, or if the folder is no repository of its own, 0.1.0.
#
# usage: deploy/source_version.sh [FOLDER]   the sources that this script is of if there is none
set -eu
sources=$(cd "${1:-$(dirname "$0")/..}" && pwd -P)
version=$(sed -n 's/^project(hai VERSION \([0-9.]*\).*/\1/p' "$sources/CMakeLists.txt")
# Unpacked within another project's repository, they have no commits of their own.
top=$(git -C "$sources" rev-parse --show-toplevel 2>/dev/null) || top=
if [ "$top" = "$sources" ] && commits=$(git -C "$sources" rev-list --count HEAD 2>/dev/null); then
  version=$version+git$commits.$(git -C "$sources" rev-parse --short=8 HEAD)
  [ -z "$(git -C "$sources" --no-optional-locks status --porcelain --untracked-files=no)" ] ||
    version=$version.changed
fi
echo "$version"
