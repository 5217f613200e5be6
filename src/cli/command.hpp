// Command: one verb of the command line.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace qkv::cli {

/// What a command does once its words are parsed; returns the exit code.
using Action = std::function<int()>;

struct Command {
  std::string_view name;
  std::string_view summary;
  Action (*add)(CLI::App& app);  ///< defines the options on `app`
  bool hidden = false;           ///< not in --help
};

/// All commands, in the order of --help.
std::span<const Command> command_list();

Action add_run(CLI::App& app);
Action add_trace(CLI::App& app);
Action add_block(CLI::App& app);
Action add_check(CLI::App& app);
Action add_diagnose(CLI::App& app);
Action add_grad(CLI::App& app);
Action add_diff(CLI::App& app);
Action add_stats(CLI::App& app);
Action add_show(CLI::App& app);
Action add_plan(CLI::App& app);
Action add_embed(CLI::App& app);
Action add_classify(CLI::App& app);
Action add_generate(CLI::App& app);
Action add_init(CLI::App& app);
Action add_completions(CLI::App& app);

}  // namespace qkv::cli
