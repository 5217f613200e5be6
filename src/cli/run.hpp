// run(): finds the command, and prints every Error as CLI users read it.
#pragma once

#include <string>
#include <vector>

namespace qkv::cli {

/// Exit codes: done, and every check passed / done, and the verdict is negative / not done.
enum ExitCode : int { done = 0, negative = 1, not_done = 2 };

/// Runs one command line (without the program's name) to its exit code.
int run(const std::vector<std::string>& words);

}  // namespace qkv::cli
