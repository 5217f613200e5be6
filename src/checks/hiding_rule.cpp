// Which rule hides a key: each rule asked on its own.
#include "hiding_rule.hpp"

#include <string>
#include <vector>

#include "qkv/base/text.hpp"

namespace qkv::checks {

namespace {

/// The same visibility with one rule only.
template <class T>
Visibility<T> bare(const Visibility<T>& visibility) {
  Visibility<T> alone;
  alone.B = visibility.B;
  alone.H = visibility.H;
  alone.L = visibility.L;
  alone.S = visibility.S;
  return alone;
}

}  // namespace

template <class T>
std::string hiding_rule(const Visibility<T>& visibility, std::size_t b, std::size_t h,
                        std::size_t i, std::size_t j) {
  // One question, asked of the one place that knows the rules: is the key hidden by this alone?
  auto causal = bare(visibility), window = bare(visibility), padding = bare(visibility),
       mask = bare(visibility);
  causal.causal = visibility.causal;
  causal.offset = visibility.offset;
  window.window = visibility.window;
  window.window_offset = visibility.window_offset;
  padding.lengths = visibility.lengths;
  padding.padded = visibility.padded;
  mask.hidden_by_mask = visibility.hidden_by_mask;
  mask.added = visibility.added;

  std::vector<std::string> rules;
  if (causal.hidden(b, h, i, j)) rules.emplace_back("the causal rule");
  if (window.hidden(b, h, i, j)) rules.emplace_back("the window");
  if (padding.hidden(b, h, i, j)) rules.emplace_back("the padding");
  if (mask.hidden(b, h, i, j)) rules.emplace_back("the mask");
  return listed(rules) + (rules.size() > 1 ? " hide" : " hides");
}

template std::string hiding_rule(const Visibility<float>&, std::size_t, std::size_t, std::size_t,
                                 std::size_t);
template std::string hiding_rule(const Visibility<double>&, std::size_t, std::size_t, std::size_t,
                                 std::size_t);

}  // namespace qkv::checks
