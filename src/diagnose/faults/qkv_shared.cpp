// Fault qkv-shared: two of q, k and v are made with the same weight, or are the same tensor.
#include "diagnose/faults.hpp"
#include "diagnose/faults/products.hpp"
#include "diagnose/faults/roles.hpp"
#include "qkv/attention/cache.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

struct Pair {
  std::size_t wrong, used;
};

/// Copy and paste leaves the earlier one behind, so those come first.
constexpr Pair pairs[] = {{1, 0}, {2, 1}, {2, 0}, {0, 1}, {1, 2}, {0, 2}};

bool same_size(const Linear<double>& a, const Linear<double>& b) {
  return a.in() == b.in() && a.out() == b.out();
}

/// `wrong` roles are made with the weight of `used`, with its bias or with their own.
Variant shared_weight(const Case& the_case, const std::vector<std::size_t>& wrong, std::size_t used,
                      bool with_bias) {
  const Role& other = projections[used];
  Variant made;
  made.apply = [wrong, &other, with_bias](Alteration& a) {
    const Linear<double> shared = a.problem.*other.linear;
    for (const std::size_t n : wrong) {
      Linear<double>& linear = a.problem.*projections[n].linear;
      const Tensor<double, 1> own = linear.bias;
      linear = shared;
      if (!with_bias) linear.bias = own;
    }
  };
  std::vector<std::string> stages, weights;
  for (const std::size_t n : wrong) {
    stages.emplace_back(projections[n].stage);
    weights.emplace_back(projections[n].weight);
  }
  const bool biased = !(the_case.problem.*other.linear).bias.empty();
  made.message = "your " + listed(stages) + (wrong.size() == 1 ? " is" : " are") + " made with " +
                 other.weight + (biased && with_bias ? std::string(" and ") + other.bias : "");
  made.fix = "use " + listed(weights) + " for " + listed(stages);
  return made;
}

void add_shared_weights(const Case& the_case, std::vector<Variant>& variants) {
  const Problem<double>& problem = the_case.problem;
  const auto add = [&](const std::vector<std::size_t>& wrong, std::size_t used) {
    const Linear<double>& shared = problem.*projections[used].linear;
    bool biases_differ = !shared.bias.empty();
    for (const std::size_t n : wrong) {
      if (!same_size(problem.*projections[n].linear, shared)) return;
      biases_differ = biases_differ || !(problem.*projections[n].linear).bias.empty();
    }
    variants.push_back(shared_weight(the_case, wrong, used, true));
    if (biases_differ) variants.push_back(shared_weight(the_case, wrong, used, false));
  };
  for (const Pair& pair : pairs) add({pair.wrong}, pair.used);
  add({1, 2}, 0);
  add({0, 2}, 1);
  add({0, 1}, 2);
}

/// q, k, v as given, by number.
Tensor<double, 4>& given(Problem<double>& problem, std::size_t n) {
  return n == 0 ? problem.q : n == 1 ? problem.k : problem.v;
}

void add_shared_tensors(const Case& the_case, std::vector<Variant>& variants) {
  Problem<double> problem = the_case.problem;
  for (const Pair& pair : pairs) {
    if (given(problem, pair.wrong).sizes() != given(problem, pair.used).sizes()) continue;
    const std::string wrong = projections[pair.wrong].stage, used = projections[pair.used].stage;
    variants.push_back(
        {[pair](Alteration& a) { given(a.problem, pair.wrong) = given(a.problem, pair.used); },
         "your " + wrong + " is " + used, "pass " + wrong + " in its place"});
  }
}

/// k and v are right, and one of them serves as the other.
void add_double_use(const Case& the_case, std::vector<Variant>& variants) {
  const Sizes& sizes = the_case.problem.sizes;
  if (sizes.D != sizes.Dv) return;
  variants.push_back({[](Alteration& a) {
                        a.edit("heads", [](const Held& held, const Tensor<double, 4>& right) {
                          return product_with_values(held.at("attn"), held.keys(), right);
                        });
                      },
                      "your heads are attn·k: the keys serve as values too",
                      "multiply attn with v"});
  if (the_case.problem.settings.rope_base) {
    variants.push_back(
        {[](Alteration& a) {
           a.edit("heads", [](const Held& held, const Tensor<double, 4>& right) {
             return product_with_values(held.at("attn"),
                                        append(held.problem().past_k, held.at("k")), right);
           });
         },
         "your heads are attn·k with k before the rotation", "multiply attn with v"});
  }
  variants.push_back({[](Alteration& a) {
                        a.edit("scores", [](const Held& held, const Tensor<double, 4>& right) {
                          return product_with_keys(held.query(), held.values(), right);
                        });
                      },
                      "your scores are q·vᵀ: the values serve as keys too",
                      "multiply q with k transposed"});
}

}  // namespace

std::vector<Variant> qkv_shared(const Case& the_case) {
  std::vector<Variant> variants;
  if (the_case.problem.sizes.projects) {
    add_shared_weights(the_case, variants);
  } else {
    add_shared_tensors(the_case, variants);
  }
  add_double_use(the_case, variants);
  return variants;
}

}  // namespace qkv::faults
