import type { Command } from "@reeve/commands/command.ts";
import { historyArguments } from "@reeve/core/git/history.ts";
import { statusArguments } from "@reeve/core/git/status.ts";

const base = "0000000000000000000000000000000000000000";

function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

function renderCases(commands: readonly Command[]): string {
  return commands
    .flatMap((command) => {
      if (command.prefetch === undefined || command.name.includes(" ")) return [];
      const pattern = command.name === "" ? '""' : command.name;
      const reads = `reeve_reads=${command.prefetch}`;
      if (command.class === "read-only") return [`  ${pattern}) ${reads} ;;`];
      const flags = (command.readsWith ?? []).map((flag) => `*" --${flag} "*`).join("|");
      return [`  ${pattern}) case " $* " in ${flags}) ${reads} ;; esac ;;`];
    })
    .join("\n");
}

/**
 * The file a person starts: a shell script and JavaScript in one. As a script it clears what only slows Node down and,
 * for commands that read git, has git print its answers while Node is still starting. `node reeve.cjs` runs it as it is.
 */
export function renderLauncher(commands: readonly Command[]): string {
  const history = shellWords(historyArguments(base)).replace(base, '"$reeve_base"');
  const writing = commands
    .filter((command) => command.class === "read-only")
    .flatMap((command) => command.writesWith ?? []);
  const plain = ["--repo", ...writing.map((flag) => `--${flag}`)].map((flag) => `*" ${flag}"*`).join("|");
  return `#!/bin/sh
":" /*
# Made by tools/launcher.ts. Shell down to the last exit, JavaScript below it.
if [ -n "\${NODE_EXTRA_CA_CERTS-}" ]; then
  REEVE_EXTRA_CA_CERTS=$NODE_EXTRA_CA_CERTS
  export REEVE_EXTRA_CA_CERTS
  unset NODE_EXTRA_CA_CERTS
fi
# Asking Node what standard output is would load its streams.
REEVE_STDOUT=other
[ -t 1 ] && REEVE_STDOUT=terminal
export REEVE_STDOUT
reeve_reads=
case "\${1-}" in
${renderCases(commands)}
esac
case " $*" in ${plain}) reeve_reads= ;; esac
# Another repository may be named in the environment; only in a hook is it surely this one.
[ -z "\${GIT_DIR-}\${GIT_WORK_TREE-}\${GIT_INDEX_FILE-}\${GIT_COMMON_DIR-}" ] || [ -n "\${REEVE_HOOK-}" ] || reeve_reads=
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
  git --no-optional-locks ${shellWords(statusArguments)} 2>/dev/null
  printf '\\0reeve %s status %s\\0' "$$" "$?"
  if [ -n "$reeve_base" ]; then
    git --no-optional-locks ${history} 2>/dev/null
    printf '\\0reeve %s history %s %s\\0' "$$" "$?" "$reeve_base"
  fi
} | REEVE_PREFETCH="3:$$" node "$0" "$@" 3<&0 </dev/null
exit $?
*/;
require("../dist/reeve.cjs");
`;
}
