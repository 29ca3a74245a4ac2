#!/usr/bin/env bash
# Runs a PETSc program with PETSc's preconditioner, with ours, and with ours inside our loop where there is one, and
# compares why each of its solves ended and after how many iterations. With -taskdag_mg the cycles of multigrid have to
# be ours, and may take an iteration more or less.
# usage: compare.sh PLUGIN COMMAND OPTIONS THEIRS OURS   the last four are words to be split
set -uo pipefail
plugin=$1 command=$2 options=$3 theirs=$4 ours=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# solve NAME OPTION...: the output goes to NAME.txt, the lines about ends of solves to NAME.ends.
solve() {
  local view=
  case " $* " in *' -taskdag_mg '*) view=-ksp_view ;; esac
  # shellcheck disable=SC2086 # a command with arguments, and options
  if ! $command $options "${@:2}" $view -ksp_converged_reason -options_left </dev/null >"$work/$1.txt" 2>&1; then
    if grep -q 'PC type hypre' "$work/$1.txt"; then
      echo "skipped: this PETSc has no hypre"
      exit 77
    fi
    if grep -q 'Hypre Euclid does not support 64 bit indices' "$work/$1.txt"; then
      echo "skipped: hypre's Euclid takes no 64-bit indices"
      exit 77
    fi
    cat "$work/$1.txt"
    echo "compare.sh: the program failed with: $options ${*:2}"
    exit 1
  fi
  grep -E 'solve (converged|did not converge)' "$work/$1.txt" >"$work/$1.ends"
}

# shellcheck disable=SC2086
solve theirs $theirs
# shellcheck disable=SC2086
solve ours -dll_append "$plugin" $ours -taskdag_ksp off
# shellcheck disable=SC2086
solve loop -dll_append "$plugin" $ours -taskdag_ksp on
cat "$work/ours.ends"
if [ ! -s "$work/theirs.ends" ]; then
  echo "compare.sh: the program does not say how its solves ended"
  exit 1
fi
# left NAME OPTION...: an option of these that the program did not take.
left() {
  local word
  for word in "${@:2}"; do
    [[ "$word" != -* ]] || ! grep -E "Option left: name:$word( |\$)" "$work/$1.txt" || return 0
  done
  return 1
}
# shellcheck disable=SC2086
if left theirs $theirs || left ours $ours; then
  echo "compare.sh: an option was not used"
  exit 1
fi
# same NAME: whether its solves ended as PETSc's, with as many iterations but for `most`.
same() {
  diff "$work/theirs.ends" "$work/$1.ends" && return
  paste -d '|' "$work/theirs.ends" "$work/$1.ends" | awk -F '|' -v most="$most" '
    { split($1, a, / iterations /); split($2, b, / iterations /); d = a[2] - b[2] }
    a[1] != b[1] || d > most || -d > most { wrong = 1 }
    END { exit wrong }'
}
most=0
case " $ours " in
  *' -taskdag_mg '*)
    most=1
    if grep -h 'cycle: by PETSc' "$work/ours.txt" "$work/loop.txt" || ! grep -q 'cycle: by TaskDAG' "$work/ours.txt"; then
      echo "compare.sh: a cycle is not TaskDAG's"
      exit 1
    fi
    ;;
esac
same ours && same loop
