// One run of qkv check on weights that people published, and what it says of them.
#pragma once

#include <string>
#include <vector>

#include "qkv/base/json.hpp"
#include "qkv/tensor/array.hpp"
#include "support/program.hpp"

namespace qkv::test {

using Words = std::vector<std::string>;

/// Tensors by their flag, without the dashes. The numbers are those of the reports, rounded to six
/// decimals, hence --tol 1e-5.
class CheckRun {
 public:
  CheckRun& give(const std::string& flag, const Shape& shape, const std::vector<double>& numbers,
                 DType dtype = DType::float64);
  /// Without --tol.
  CheckRun& rounded_by_type();
  CheckRun& say(const Words& words);
  /// Runs it; the checks that failed are then failed(), and so on.
  int run();

  Words with_status(const std::string& status) const;
  Words failed() const { return with_status("fail"); }
  bool failed(const std::string& id) const { return holds(failed(), id); }
  bool passed(const std::string& id) const { return holds(with_status("pass"), id); }
  bool warned(const std::string& id) const { return holds(with_status("warn"), id); }
  /// Message and hint of a check.
  std::string said(const std::string& id) const;
  bool says(const std::string& id, const std::string& words) const;
  const std::string& error() const { return ended_.err; }
  const Json& document() const { return document_; }

 private:
  static bool holds(const Words& list, const std::string& word);
  Folder folder_;
  Words words_ = {"--tol", "1e-5"};
  Ended ended_;
  Json document_;
};

/// An input that several reports share: L = 2, S = 3, D = 4.
inline const std::vector<double> scaled_1 = {0.5, 1, 1.5, 0.5, 1, -0.5};
inline const std::vector<double> attn_1 = {0.186324, 0.307196, 0.50648,
                                           0.331499, 0.546549, 0.121952};

}  // namespace qkv::test
