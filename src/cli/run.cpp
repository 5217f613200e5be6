// run(): finds the command, parses its words, and prints every Error as CLI users read it.
#include "cli/run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <thread>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/matmul.hpp"

namespace qkv::cli {

namespace {

std::string help() {
  std::string text =
      "qkv: run attention on .npy tensors and see every number inside it\n\nusage: qkv COMMAND "
      "[ARGS]\n\ncommands:\n";
  for (const Command& command : command_list()) {
    if (!command.hidden) text += fmt::format("  {:<8} {}\n", command.name, command.summary);
  }
  return text +
         "\nqkv COMMAND --help lists a command's options; man qkv says it all.\nqkv --version says "
         "what this build uses.\n";
}

const char* simd_level() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return "AVX-512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "AVX2";
  return "SSE2";
#elif defined(__aarch64__)
  return "NEON";
#else
  return "baseline";
#endif
}

std::string version() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "gcc " __VERSION__;
#endif
  return fmt::format("qkv {}\ncompiler  {}\nBLAS      {}\nCPU       {}\nthreads   {}\n",
                     QKV_VERSION, compiler, blas_description(), simd_level(),
                     std::max(1u, std::thread::hardware_concurrency()));
}

const Command& find_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : command_list()) {
    if (command.name == word) return command;
    if (!command.hidden) names.emplace_back(command.name);
  }
  const bool option = word.starts_with("-");
  const std::string near = nearest(word, names);
  throw Error(Complaint{
      .what = option ? "unknown option" : "unknown command",
      .where = escaped(word),
      .expected = option ? "a command first: qkv COMMAND [ARGS]" : listed(names, "or"),
      .hint = near.empty() ? "qkv --help lists the commands" : "did you mean qkv " + near + "?"});
}

/// The words that CLI11 could make nothing of, as an Error with the nearest option there is.
Error unknown_words(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  std::vector<Complaint> complaints;
  for (std::string word : app.remaining()) {
    if (!word.starts_with("-")) {
      complaints.push_back({.what = "unexpected argument",
                            .where = escaped(word),
                            .hint = fmt::format("{} --help shows what it takes", app.get_name())});
      continue;
    }
    word = word.substr(0, word.find('='));
    const std::string near = nearest(word, names);
    complaints.push_back({.what = "unknown option",
                          .where = escaped(word),
                          .hint = near.empty()
                                      ? fmt::format("{} --help lists the options", app.get_name())
                                      : "did you mean " + near + "?"});
    // The words behind it may have been its values: only the first is certain.
    break;
  }
  if (complaints.size() > 1) complaints.resize(1);
  return Error(std::move(complaints));
}

void parse(CLI::App& app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ExtrasError&) {
    throw unknown_words(app);
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::RequiredError& error) {
    const std::string text = error.what();  // "A is required"
    throw Error(Complaint{.what = "missing argument",
                          .where = text.substr(0, text.find(' ')),
                          .hint = fmt::format("{} --help shows what it takes", app.get_name())});
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--rtol: 1 required R missing"
    throw Error(Complaint{.what = "option without its value",
                          .where = text.substr(0, text.find(':')),
                          .hint = fmt::format("{} --help lists the options", app.get_name())});
  } catch (const CLI::ParseError& error) {
    throw Error(Complaint{.what = "usage",
                          .where = app.get_name(),
                          .got = error.what(),
                          .hint = fmt::format("{} --help lists the options", app.get_name())});
  }
}

int run_command(const Command& command, const std::vector<std::string>& words) {
  CLI::App app(std::string(command.summary), "qkv " + std::string(command.name));
  const Action action = command.add(app);
  try {
    parse(app, words);
  } catch (const CLI::CallForHelp&) {
    print("qkv " + std::string(command.name) + ": " + app.help());
    return done;
  }
  return action();
}

}  // namespace

int run(const std::vector<std::string>& words) {
  try {
    if (words.empty()) {
      print_error(Error(Complaint{.what = "no command",
                                  .expected = "qkv COMMAND [ARGS]",
                                  .hint = "qkv --help lists the commands"}));
      return not_done;
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
      print(help());
      return done;
    }
    if (words[0] == "--version") {
      print(version());
      return done;
    }
    return run_command(find_command(words[0]), {words.begin() + 1, words.end()});
  } catch (const Error& error) {
    print_error(error);
  } catch (const std::bad_alloc&) {
    print_error(Error(
        Complaint{.what = "out of memory",
                  .hint = "smaller batch or length, or qkv run, which holds no (L,S) tensor"}));
  } catch (const std::exception& failure) {
    print_error(Error(Complaint{.what = "unexpected failure", .got = failure.what()}));
  }
  return not_done;
}

}  // namespace qkv::cli
