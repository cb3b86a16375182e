#!/usr/bin/env bash
# Packs hai's programs with the libraries they need and PostgreSQL, for a machine with GPUs where
# neither can be installed: another distribution, no network. Its glibc and libstdc++ must be no
# older than those here.
# usage: tests/gpu/bundle.sh BUILD FILE.tar.xz      then, there: tests/gpu/run.sh FILE.tar.xz
# Needs patchelf.
set -euo pipefail
[ $# = 2 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
build=$(realpath "$1")
out=$(realpath -m "$2")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root/bin" "$root/lib" "$(dirname "$out")"

# What every Linux has, and what must be the machine's own.
own='^(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libstdc\+\+|libgcc_s)\.so'
libraries_of() { ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'; }
take() {  # FILE DIRECTORY: copies it, and the libraries it needs beside the programs
  install -D -t "$2" "$1"
  for library in $(libraries_of "$1"); do
    [[ $(basename "$library") =~ $own ]] || cp -nL "$library" "$root/lib/"
  done
}

for program in "$build"/bin/hai "$build"/bin/hai-*; do
  case $(basename "$program") in
    hai-sim*) ;;
    *) file -bL "$program" | grep -q '^ELF' && take "$program" "$root/bin" ;;
  esac
done
postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
version=$(basename "$(dirname "$postgres")")
for program in postgres initdb pg_ctl pg_isready createdb psql; do
  take "$postgres/$program" "$root/usr/lib/postgresql/$version/bin"
done
mkdir -p "$root/usr/lib/postgresql/$version/lib" "$root/usr/share/postgresql/$version"
cp "$postgres"/../lib/{plpgsql,dict_snowball,libpqwalreceiver}.so "$root/usr/lib/postgresql/$version/lib/"
cp -r /usr/share/postgresql/"$version"/. "$root/usr/share/postgresql/$version/"

for file in "$root"/bin/* "$root"/lib/* "$root"/usr/lib/postgresql/*/*/*; do
  strip --strip-unneeded "$file" 2>/dev/null || true
  patchelf --set-rpath /opt/hai-gpu/lib "$file" 2>/dev/null || true
done
tar -C "$root" -c . | xz -T0 >"$out"
du -h "$out"
