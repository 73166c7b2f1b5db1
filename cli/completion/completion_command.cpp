// SPDX-License-Identifier: Apache-2.0
// The command `completion`: scripts for shells, and the words that they ask for.
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/completion/candidates.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"

namespace roce::cli {
namespace {

// The scripts know nothing of commands and options: they ask the program.

constexpr std::string_view bash_script = R"(# SPDX-License-Identifier: Apache-2.0
# bash completion for roceanalyze; made by: roceanalyze completion bash
_roceanalyze() {
  local line=${COMP_LINE:0:COMP_POINT} word candidates
  local -a words
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  local typed=${words[-1]} quotes=${line//[^\']/}
  if ((${#quotes} % 2)); then  # within quotes, a filter
    typed=${line##*\'}
    read -ra words <<<"${line%\'*}"
    words+=("$typed")
  fi
  # What bash splits at stays as it is.
  local kept=
  if ((${#quotes} % 2 == 0)) && [[ $typed == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]]; then kept=${typed%"${typed##*[=:]}"}; fi
  candidates=$("${words[0]}" completion words -- "${words[@]:1:${#words[@]}-2}" "$typed" 2>/dev/null) || return 0
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    [[ -z $word ]] || COMPREPLY+=("${word#"$kept"}")
  done <<<"$candidates"
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[=:,] ]] || compopt -o nospace
}
complete -o default -o bashdefault -F _roceanalyze roceanalyze
)";

constexpr std::string_view zsh_script = R"(#compdef roceanalyze
# SPDX-License-Identifier: Apache-2.0
# zsh completion for roceanalyze; made by: roceanalyze completion zsh
_roceanalyze() {
  local -a lines names
  local line
  lines=("${(@f)$("${words[1]}" completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    names+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  (( $#names )) && _describe roceanalyze names && return
  _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _roceanalyze "$@"; else compdef _roceanalyze roceanalyze; fi
)";

constexpr std::string_view fish_script = R"(# SPDX-License-Identifier: Apache-2.0
# fish completion for roceanalyze; made by: roceanalyze completion fish
function __roceanalyze_candidates
    set -l before (commandline -opc)
    set -l found ($before[1] completion words -- $before[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c roceanalyze -f -a '(__roceanalyze_candidates)'
)";

int print_words(const std::vector<std::string>& typed) {
  Output out(Encoding::utf8);
  for (const Candidate& each : candidates(typed)) {
    out.write(each.word);
    out.write("\t");
    out.write(each.help);
    out.write("\n");
  }
  return out.finish();
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("completion", "print a script for completion in bash, zsh or fish");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, std::string_view script) {
    command->add_subcommand(name, help)->callback([&action, script] {
      action = [script] { return print_text(std::string(script), exit_ok, Encoding::utf8); };
    });
  };
  add("bash", "for bash: source <(roceanalyze completion bash)", bash_script);
  add("zsh", "for zsh: roceanalyze completion zsh > \"${fpath[1]}/_roceanalyze\"", zsh_script);
  add("fish", "for fish: roceanalyze completion fish | source", fish_script);
  auto typed = std::make_shared<std::vector<std::string>>();
  CLI::App* words = command->add_subcommand("words", "what may follow: one word a line with its description");
  words->add_option("WORDS", *typed, "after --: the words after the program's name, the last one begun")
      ->type_name("");
  words->callback([typed, &action] { action = [typed] { return print_words(*typed); }; });
}

}  // namespace roce::cli
