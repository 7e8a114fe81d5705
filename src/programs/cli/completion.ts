// The command `trivet completion`: a script by which a shell completes commands, flags, tools and arguments.

import { Argument } from 'commander'
import type { AddCommand } from './command.ts'
import { completeWords } from './complete-words.ts'

const HELP = `
Add one line to the file that your shell reads at its start:
  bash, ~/.bashrc:                   source <(trivet completion bash)
  zsh, ~/.zshrc, after compinit:     source <(trivet completion zsh)
  fish, ~/.config/fish/config.fish:  trivet completion fish | source

Tools and their arguments are completed by loading the catalog, as \`npx trivet list\` does.`

/** Each asks the hidden command for what may stand in place of the last word, with a tab before its help. */
const SCRIPTS = {
  // Bash splits words at "=" and ":" too. The part before them must not be in the reply.
  bash: `_trivet_complete () {
  local line="\${COMP_LINE:0:COMP_POINT}" words candidate
  local current="\${line##*[[:space:]]}"
  local kept="\${current%"\${current##*[=:]}"}"
  read -ra words <<< "$line"
  [[ -z $current ]] && words+=('')
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    COMPREPLY+=("\${candidate#"$kept"}")
  done < <("\${words[0]}" complete-words -- "\${words[@]:1}" 2>/dev/null)
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _trivet_complete trivet
`,
  zsh: `_trivet_complete () {
  local value about
  local -a whole whole_shown begun begun_shown
  while IFS=$'\\t' read -r value about; do
    if [[ $value == *= ]]; then
      begun+=("$value"); begun_shown+=("$value  $about")
    else
      whole+=("$value"); whole_shown+=("$value  $about")
    fi
  done < <("\${words[1]}" complete-words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ! $#whole && ! $#begun )); then _files; return; fi
  (( $#begun )) && compadd -S '' -l -d begun_shown -a begun
  (( $#whole )) && compadd -l -d whole_shown -a whole
}
compdef _trivet_complete trivet
`,
  fish: `function __trivet_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] complete-words -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c trivet -f -a '(__trivet_complete)'
`
}

type Shell = keyof typeof SCRIPTS

export const completionCommand: AddCommand = (program, surroundings) => {
  program.command('completion')
    .description('print a script by which a shell completes commands, flags, tools and arguments')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .action((shell: Shell) => surroundings.out(SCRIPTS[shell]))
  program.command('complete-words', { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      const candidates = await completeWords(words, program, surroundings)
      surroundings.out(candidates.map(({ text, about }) => `${text}\t${about}\n`).join(''))
    })
}
