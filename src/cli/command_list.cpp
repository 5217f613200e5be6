// The commands, in the order of --help.
#include "cli/command.hpp"

namespace qkv::cli {

namespace {

constexpr Command commands[] = {
    {"run", "compute attention in one pass", add_run},
    {"trace", "compute it step by step, show every stage and check it", add_trace},
    {"block", "compute encoder blocks step by step: attention, residual, norm, feed-forward",
     add_block},
    {"check", "check tensors from elsewhere: attn, scores, masks, any subset", add_check},
    {"diagnose", "find where your tensors depart, and the mistake that makes these numbers",
     add_diagnose},
    {"grad", "the backward pass: gradients of every stage and weight", add_grad},
    {"diff", "compare two tensors", add_diff},
    {"stats", "shape, type, range and non-finite values of tensors", add_stats},
    {"show", "draw a matrix, or every head's, as a heat map", add_show},
    {"plan", "bytes and multiply-adds of a computation, and what fits", add_plan},
    {"embed", "make tokens, ids and X of a text", add_embed},
    {"classify", "embed a text, attend, and give each class its probability", add_classify},
    {"generate", "run a whole language model: a prompt, and the most probable tokens after it",
     add_generate},
    {"init", "make a bundle of random inputs and weights", add_init},
    {"completions", "print a shell's completion script", add_completions, true},
};

}  // namespace

std::span<const Command> command_list() { return commands; }

}  // namespace qkv::cli
