/**
 * Each script asks `taskflow __complete WORD…` (the last word is the one that is being typed) and gets lines of the
 * form `candidate<TAB>what it is`. `:files` and `:dirs` ask the shell for its own paths.
 */
export const COMPLETION_SCRIPTS = {
  bash: `# taskflow completion for bash
_taskflow() {
  local word full prefix glued='' line
  local -a words=()
  local i
  # bash takes topic=sea for three words; taskflow takes it for one.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ \${#words[@]} -gt 0 && ( $word == '=' || $word == ':' || -n $glued ) ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    glued=''
    [[ $word == '=' || $word == ':' ]] && glued=1
  done
  full=\${words[\${#words[@]}-1]}
  prefix=\${full%"\${COMP_WORDS[COMP_CWORD]#[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    word=\${line%%$'\\t'*}
    case $word in
      :files) compopt -o filenames; mapfile -t -O \${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "\${full#"$prefix"}") ;;
      :dirs) compopt -o filenames; mapfile -t -O \${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "\${full#"$prefix"}") ;;
      *) [[ $word == *= ]] && compopt -o nospace
        COMPREPLY+=("$(printf %q "\${word#"$prefix"}")") ;;
    esac
  done < <(taskflow __complete "\${words[@]}" 2>/dev/null)
}
complete -F _taskflow taskflow
`,
  zsh: `#compdef taskflow
# taskflow completion for zsh
_taskflow() {
  local line word
  local -a described
  while IFS= read -r line; do
    word=\${line%%$'\\t'*}
    case $word in
      :files) _files ;;
      :dirs) _files -/ ;;
      *=) compadd -S '' -- $word ;;
      *) described+=("\${word//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(taskflow __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#described} )) && _describe -t taskflow taskflow described
}
compdef _taskflow taskflow
`,
  fish: `# taskflow completion for fish
function __taskflow_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc) "$current"
    for line in (taskflow __complete $words[2..-1] 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$current"
            case ':dirs*'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c taskflow -f -a '(__taskflow_complete)'
`,
} as const;

export type Shell = keyof typeof COMPLETION_SCRIPTS;
