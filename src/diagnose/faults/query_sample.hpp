// QuerySample: a few queries followed from their scores to one of the user's stages, for any scale.
#pragma once

#include <string>
#include <vector>

#include "follow.hpp"
#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

class QuerySample {
 public:
  /// Queries spread evenly over batch and length, as many as keep one evaluation below some million
  /// operations; `id` is the stage to compare: attn, heads, concat or out.
  QuerySample(const Case& the_case, std::string id);

  /// With r = the user's numbers - ours and d = d(ours)/df, at f:
  struct Fit {
    double squares = 0;    ///< sum r^2
    double descent = 0;    ///< sum r*d
    double curvature = 0;  ///< sum d^2
    std::size_t count = 0;
  };
  /// Softmax of f*scores, capped and masked as the problem says, and on to the stage.
  Fit at(double f) const;

 private:
  struct Query {
    std::size_t b = 0, l = 0;
  };
  /// The weights of one query and head, and their derivative by f; false for an empty row.
  bool weigh(const Query& query, std::size_t h, double f, std::vector<double>& attn,
             std::vector<double>& slope) const;
  void compare(const std::vector<double>& own, const std::vector<double>& slope, std::size_t b,
               std::size_t h, std::size_t l, Fit& fit) const;

  const Case& case_;
  std::string id_;
  Followed followed_;
  Tensor<double, 4> values_;
  std::vector<Query> queries_;
};

}  // namespace qkv::faults
