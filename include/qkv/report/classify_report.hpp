// Classify report: the classes of each text by probability, as plain data;
// report/classify_<form>.cpp renders it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/report/report.hpp"

namespace qkv {

struct ClassProbability {
  std::string label;
  double p = 0;
};

/// The labels with their probabilities, the most probable first; equal ones keep their order and
/// NaN comes last.
std::vector<ClassProbability> by_probability(const std::vector<std::string>& labels,
                                             const std::vector<double>& p);

struct ClassifyReport {
  bool batch = false;  ///< several rows: JSON has lists of lists
  std::vector<std::vector<std::string>> tokens =
      {};  ///< a list for each row; none where X is given
  std::vector<std::vector<std::size_t>> ids = {};
  std::vector<std::vector<ClassProbability>> classes = {};  ///< for each row
};

/// For each row its tokens and a table of the classes.
std::string classify_text(const ClassifyReport& report, const TextStyle& style);

/// Schema qkv.classify/1; "tokens" and "ids" are null where X was given.
std::string classify_json(const ClassifyReport& report);

}  // namespace qkv
