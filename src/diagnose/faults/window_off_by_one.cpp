// window-off-by-one: the window is a key too wide or too narrow.
#include <fmt/format.h>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"

namespace qkv::faults {

namespace {

long long moved(long long side, int by) { return side < 0 ? side : side + by; }

}  // namespace

/// LEFT or RIGHT, or both, one more or one less: systems disagree on whether a window of W counts
/// the query's own key.
std::vector<Variant> window_off_by_one(const Case& the_case) {
  std::vector<Variant> variants;
  const std::optional<Window>& window = the_case.problem.visibility.window;
  if (!window) return variants;
  struct Step {
    int left, right;
  };
  for (const Step& step :
       {Step{1, 0}, Step{-1, 0}, Step{0, 1}, Step{0, -1}, Step{1, 1}, Step{-1, -1}}) {
    const Window other{moved(window->left, step.left), moved(window->right, step.right)};
    const bool moves = (step.left == 0) == (other.left == window->left) &&
                       (step.right == 0) == (other.right == window->right);
    const bool closed =
        (window->left >= 0 && other.left < 0) || (window->right >= 0 && other.right < 0);
    if (!moves || closed) continue;
    const std::string given = fmt::format("{},{}", window->left, window->right),
                      used = fmt::format("{},{}", other.left, other.right);
    add_rule_mistake(
        the_case,
        [step](Visibility<double>& v) {
          if (v.window) {
            v.window = Window{moved(v.window->left, step.left), moved(v.window->right, step.right)};
          }
        },
        fmt::format("your window is {}, asked for was {} (keys before and after the query's own)",
                    used, given),
        fmt::format("--window {} is what your code does; a window of W keys with the query's own "
                    "is --window W-1",
                    used),
        variants);
  }
  return variants;
}

}  // namespace qkv::faults
