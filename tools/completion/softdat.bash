# SPDX-License-Identifier: BSD-2-Clause
# Completion of softdat for bash. softdat itself says what may come next.

_softdat() {
  local current=${COMP_WORDS[COMP_CWORD]} answer program
  COMPREPLY=()
  answer=$("${COMP_WORDS[0]/#\~/$HOME}" complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return 0
  case $answer in
    :files) compopt -o default 2>/dev/null; return 0 ;;
    :commands) mapfile -t COMPREPLY < <(compgen -c -- "$current"); return 0 ;;
    :program*)
      # The package bash-completion hands the rest to the program's own completion.
      program=$((${answer#:program } + 1))
      if declare -F _command_offset >/dev/null; then
        _command_offset "$program"
      elif ((COMP_CWORD == program)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else
        compopt -o default 2>/dev/null
      fi
      return 0
      ;;
  esac
  [ "$current" != = ] || current=
  mapfile -t COMPREPLY < <(compgen -W "$answer" -- "$current")
}

complete -F _softdat softdat
