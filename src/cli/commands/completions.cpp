// qkv completions: scripts for bash, zsh and fish, made from the option definitions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/numbers.hpp"
#include "cli/run.hpp"

namespace qkv::cli {

namespace {

struct OptionWords {
  std::vector<std::string> names;    ///< "-q", "--quiet"
  std::vector<std::string> choices;  ///< where its value is one of a few words
  bool takes_value = false;
  std::string help;
};

struct CommandWords {
  std::string name, summary;
  std::vector<OptionWords> options;
};

/// "start|end" are words to choose from, "DIR|FILE" and "F|none" are not.
std::vector<std::string> choices_of(const std::string& value) {
  std::vector<std::string> choices;
  for (std::size_t start = 0; start <= value.size();) {
    const std::size_t bar = std::min(value.find('|', start), value.size());
    choices.push_back(value.substr(start, bar - start));
    if (choices.back().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") !=
        std::string::npos)
      return {};
    start = bar + 1;
  }
  return choices.size() > 1 ? choices : std::vector<std::string>{};
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.takes_value = option.get_items_expected_max() > 0 && option.get_type_size() > 0;
  words.choices = choices_of(option.get_type_name());
  if (!words.names.empty() && words.names.back() == "--color")
    words.choices = {"auto", "always", "never"};
  words.help = option.get_description();
  return words;
}

std::vector<CommandWords> all_words() {
  std::vector<CommandWords> all;
  for (const Command& command : command_list()) {
    if (command.hidden) continue;
    CLI::App app(std::string(command.summary), std::string(command.name));
    command.add(app);
    CommandWords words{std::string(command.name), std::string(command.summary), {}};
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional()) words.options.push_back(words_of(*option));
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// Single quotes around text for a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text)
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

std::string bash() {
  std::string script =
      "# bash completion for qkv\n_qkv() {\n  local word=${COMP_WORDS[COMP_CWORD]} "
      "before=${COMP_WORDS[COMP_CWORD-1]} options=\n  COMPREPLY=()\n";
  std::vector<std::string> commands;
  std::string choices, options;
  std::vector<std::string> seen;
  for (const CommandWords& command : all_words()) {
    commands.push_back(command.name);
    std::vector<std::string> names;
    for (const OptionWords& option : command.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.choices.empty() || std::ranges::find(seen, option.names.back()) != seen.end())
        continue;
      seen.push_back(option.names.back());
      choices += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                             fmt::join(option.names, "|"), joined(option.choices));
    }
    options += fmt::format("    {}) options='{}' ;;\n", command.name, joined(names));
  }
  script += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '{} --help --version' -- "
      "\"$word\"))\n    return\n  fi\n",
      joined(commands));
  script += "  case $before in\n" + choices + "  esac\n  case ${COMP_WORDS[1]} in\n" + options +
            "  esac\n";
  script +=
      "  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n  "
      "else\n    compopt -o filenames 2>/dev/null\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  "
      "fi\n}\ncomplete -F _qkv qkv\n";
  return script;
}

/// zsh reads [ ] : specially inside an option's description.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

std::string zsh() {
  std::string script =
      "#compdef qkv\n# zsh completion for qkv\n_qkv() {\n  local -a commands\n  commands=(\n";
  std::string cases;
  for (const CommandWords& command : all_words()) {
    script += "    " + quoted(command.name + ":" + zsh_text(command.summary)) + "\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const OptionWords& option : command.options) {
      const std::string value = !option.takes_value ? ""
                                : option.choices.empty()
                                    ? ":value:_files"
                                    : ":value:(" + joined(option.choices) + ")";
      for (const std::string& name : option.names)
        cases += " \\\n        " + quoted(name + "[" + zsh_text(option.help) + "]" + value);
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return script +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  "
         "local command=${words[2]}\n  shift words\n  (( CURRENT-- ))\n  case $command in\n" +
         cases + "  esac\n}\n_qkv \"$@\"\n";
}

std::string fish() {
  std::string script = "# fish completion for qkv\n";
  for (const CommandWords& command : all_words()) {
    script += fmt::format("complete -c qkv -f -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          quoted(command.summary));
    for (const OptionWords& option : command.options) {
      script += fmt::format("complete -c qkv -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty()) {
        script += " -x -a " + quoted(joined(option.choices));
      } else if (option.takes_value) {
        script += " -r -F";
      }
      script += " -d " + quoted(option.help) + "\n";
    }
  }
  return script;
}

}  // namespace

Action add_completions(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")->type_name("bash|zsh|fish")->required();
  return [shell] {
    const std::size_t choice = parse_choice(*shell, "SHELL", {"bash", "zsh", "fish"});
    print(choice == 0 ? bash() : choice == 1 ? zsh() : fish());
    return static_cast<int>(done);
  };
}

}  // namespace qkv::cli
