#!/usr/bin/env bash
# A script that is ended, by timeout, ends the solve that it runs, which else would go on beside what is measured next.
# usage: ended_test.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/solve" <<'SOLVE'
#!/usr/bin/env bash
[ "${1:-}" = -version ] && exit
echo $$ >"$(dirname "$0")/process"
exec sleep 60
SOLVE
cat >"$work/script" <<SCRIPT
solve=$work/solve
source "$here/solves.sh"
run_solve "$work/solve"
SCRIPT
chmod +x "$work/solve"
status=0
timeout 3 bash "$work/script" || status=$?
[ "$status" -eq 124 ] || { echo "the script ended by itself, with status $status" && exit 1; }
process=$(cat "$work/process")
for _ in $(seq 20); do
  kill -0 "$process" 2>/dev/null || exit 0
  sleep 0.1
done
kill "$process"
echo "the solve went on when its script had been ended"
exit 1
