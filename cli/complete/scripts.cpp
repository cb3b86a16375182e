#include "cli/complete/scripts.h"

namespace hai::cli {
namespace {

// Bash cuts words at = and :, hai does not: they are put together again, and what stands before the
// last cut is taken off the answers.
constexpr std::string_view kBash =
    R"(# bash completion of hai. To have it in this shell: source <(hai completion bash)
_hai() {
  local rest=$COMP_LINE word glued i line
  local -a words=() answers=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    glued=yes
    [[ $rest == [[:space:]]* ]] && glued=
    rest=${rest#"${rest%%[![:space:]]*}"}
    rest=${rest#"$word"}
    if [[ $i -gt 0 && -n $glued && -n $word ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  local current=${words[-1]} program=$1
  type -P -- "$program" > /dev/null || program=hai
  mapfile -t answers < <("$program" __complete "${words[@]:1}" 2> /dev/null)
  local kept=
  [[ $COMP_WORDBREAKS == *=* && $current == *=* ]] && kept=${current%"${current##*=}"}
  [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && kept=${current%"${current##*:}"}
  COMPREPLY=()
  for line in "${answers[@]}"; do
    case $line in
      :files) compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${current#"$kept"}") ;;
      :directories) compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${current#"$kept"}") ;;
      :commands)
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$current") ;;
      *) line=${line%%$'\t'*}
        COMPREPLY+=("${line#"$kept"}") ;;
    esac
  done
}
complete -F _hai hai
)";

constexpr std::string_view kZsh = R"(#compdef hai
# zsh completion of hai. To have it in this shell: source <(hai completion zsh)
_hai() {
  local line program=$words[1]
  local -a typed answers found
  typed=("${(@)words[2,CURRENT-1]}" "$PREFIX")
  (( $+commands[$program] )) || [[ -x $program ]] || program=hai
  answers=("${(@f)$("$program" __complete "${typed[@]}" 2> /dev/null)}")
  for line in $answers; do
    case $line in
      :files) _files ;;
      :directories) _files -/ ;;
      :commands) _command_names -e ;;
      *) local name=${line%%$'\t'*} text=
        [[ $line == *$'\t'* ]] && text=${line#*$'\t'}
        found+=("${name//:/\\:}${text:+:$text}") ;;
    esac
  done
  (( $#found )) && _describe -t values hai found
}
if [[ $funcstack[1] == _hai ]]; then
  _hai "$@"
else
  compdef _hai hai
fi
)";

constexpr std::string_view kFish =
    R"(# fish completion of hai. To have it in this shell: hai completion fish | source
function __hai_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    command -q $program; or set program hai
    set -e words[1]
    for line in (command $program __complete $words "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':directories'
                __fish_complete_directories "$current"
            case ':commands'
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end
complete -c hai -f -a '(__hai_complete)'
)";

}  // namespace

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return "";
}

}  // namespace hai::cli
