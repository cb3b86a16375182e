#!/bin/sh
# Compiles a file with clang instead of the compiler that CMake has chosen: hai_compile_with_clang().
# usage: with_clang.sh CLANG LAUNCHER COMPILER ARGUMENTS...   (LAUNCHER: ccache)
clang=$1 launcher=$2
shift 3
exec "$launcher" "$clang" "$@"
