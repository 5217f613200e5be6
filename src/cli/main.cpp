// The program: hands its words to run() and turns every ending into an exit code.
#include "cli/run.hpp"

int main(int argc, char** argv) { return qkv::cli::run({argv + 1, argv + argc}); }
