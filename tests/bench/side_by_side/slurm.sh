#!/bin/bash
# Slurm 22.05 through the scenarios; needs root on Debian 12, installs Debian's packages.
#   slurm.sh [S1,S2,...]      default: all of them, about 12 minutes; JSON lines on stdout
# Everything runs in private network (loopback only), PID, mount and UTS
# namespaces: nothing can leave the machine, and when the first process of the
# namespace ends the kernel ends every process started here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
base=${SLURMBENCH_BASE:-/tmp/slurmbench}
pkgs="slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm-perl slurmrestd curl iproute2"
if ! dpkg -s $pkgs >/dev/null 2>&1; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $pkgs >/dev/null
fi
case "$base" in /tmp/?*) ;; *) echo "SLURMBENCH_BASE must be under /tmp" >&2; exit 2;; esac
rm -rf "$base"; mkdir -p "$base/etc" "$base/out"
printf '127.0.0.1 localhost slurmbench\n' > "$base/etc/hosts"
: > "$base/etc/resolv.conf"
cat > "$base/etc/init.sh" <<IN
set -e
hostname slurmbench
ip link set lo up
# glibc AI_ADDRCONFIG wants one address besides 127.0.0.1, or resolves nothing
ip addr add 127.0.0.2/8 dev lo 2>/dev/null || true
sysctl -q -w net.ipv4.ip_local_port_range="20000 65000" net.core.somaxconn=8192 2>/dev/null || true
mount --bind "$base/etc/hosts" /etc/hosts
mount --bind "$base/etc/resolv.conf" /etc/resolv.conf
ulimit -n 65536 2>/dev/null || ulimit -n \$(ulimit -Hn)
export SLURMBENCH_BASE="$base"
/usr/bin/python3 "$here/slurm_scenarios.py" \$1 &
wait \$!
IN
set +e
cg=/sys/fs/cgroup/cpuacct/slurmbench           # exact CPU time of everything started here
if mkdir -p "$cg" 2>/dev/null; then export SLURMBENCH_CG="$cg"; fi
( [ -n "${SLURMBENCH_CG:-}" ] && echo $BASHPID > "$cg/tasks"
exec unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc \
  timeout -k 5 "${SLURMBENCH_HARD_S:-890}" /bin/bash "$base/etc/init.sh" "${1:-}" ) | tee "$base/out/results.jsonl"
rc=${PIPESTATUS[0]}
rmdir "$cg" 2>/dev/null
exit "$rc"
