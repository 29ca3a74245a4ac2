#!/bin/sh
# races.sh yes|no PROGRAM: ThreadSanitizer reports a data race in PROGRAM (yes), or none and the program succeeds (no).
# 77, skipped: ThreadSanitizer cannot run on this machine.
set -u
run="$2"
if command -v setarch > /dev/null && setarch -R true 2> /dev/null; then
  run="setarch -R $2"  # older sanitizers do not know the newest kernels' address layout
fi
said=$(TSAN_OPTIONS="exitcode=66 halt_on_error=0" $run 2>&1)
status=$?
case "$said" in
  *"FATAL: ThreadSanitizer"*)
    echo "skipped: $said" | head -3
    exit 77
    ;;
esac
if [ "$1" = yes ]; then
  if [ "$status" -eq 66 ] && printf '%s' "$said" | grep -q "WARNING: ThreadSanitizer: data race"; then exit 0; fi
  echo "no race reported, status $status:"
else
  if [ "$status" -eq 0 ] && printf '%s' "$said" | grep -q "all items arrived"; then exit 0; fi
  echo "status $status:"
fi
printf '%s\n' "$said" | head -60
exit 1
