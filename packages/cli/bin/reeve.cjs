#!/bin/sh
":" /*
# Made by tools/launcher.ts. Shell down to the last exit, JavaScript below it.
if [ -n "${NODE_EXTRA_CA_CERTS-}" ]; then
  REEVE_EXTRA_CA_CERTS=$NODE_EXTRA_CA_CERTS
  export REEVE_EXTRA_CA_CERTS
  unset NODE_EXTRA_CA_CERTS
fi
# Asking Node what standard output is would load its streams.
REEVE_STDOUT=other
[ -t 1 ] && REEVE_STDOUT=terminal
export REEVE_STDOUT
reeve_reads=
case "${1-}" in
  "") reeve_reads=history ;;
  status) reeve_reads=history ;;
  doctor) reeve_reads=status ;;
  check) reeve_reads=history ;;
  finish) case " $* " in *" --check "*) reeve_reads=history ;; esac ;;
esac
case " $*" in *" --repo"*|*" --checkpoint"*|*" --rotate"*) reeve_reads= ;; esac
# Another repository may be named in the environment; only in a hook is it surely this one.
[ -z "${GIT_DIR-}${GIT_WORK_TREE-}${GIT_INDEX_FILE-}${GIT_COMMON_DIR-}" ] || [ -n "${REEVE_HOOK-}" ] || reeve_reads=
[ -n "$reeve_reads" ] || exec node "$0" "$@"
reeve_base=
if [ "$reeve_reads" = history ] && [ -r .ai/local/state/current.yaml ]; then
  while read -r reeve_key reeve_value; do
    [ "$reeve_key" = head: ] && reeve_base=$reeve_value
  done <.ai/local/state/current.yaml
  case "$reeve_base" in *[!0-9a-f]*) reeve_base= ;; esac
  # Nothing to ask the history for while HEAD is still where the task began.
  if [ -f .git/HEAD ] && read -r reeve_key reeve_value <.git/HEAD; then
    [ "$reeve_key" = ref: ] && [ -f ".git/$reeve_value" ] && read -r reeve_key <".git/$reeve_value"
    [ "$reeve_key" = "$reeve_base" ] && reeve_base=
  fi
fi
{
  git --no-optional-locks status --porcelain=v2 --branch -z -uall 2>/dev/null
  printf '\0reeve %s status %s\0' "$$" "$?"
  if [ -n "$reeve_base" ]; then
    git --no-optional-locks log -z --raw -c --root --no-abbrev --no-renames --no-color --no-decorate --no-show-signature --encoding=UTF-8 --left-right '--format=%m%H%n%P%n%at%n%ae%n%s' "$reeve_base"...HEAD -- 2>/dev/null
    printf '\0reeve %s history %s %s\0' "$$" "$?" "$reeve_base"
  fi
} | REEVE_PREFETCH="3:$$" node "$0" "$@" 3<&0 </dev/null
exit $?
*/;
require("../dist/reeve.cjs");
