// diagnose(): where the user's stages depart from the right ones, and which mistake makes exactly
// these numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/base/parallel.hpp"
#include "qkv/checks/check.hpp"
#include "qkv/diagnose/case.hpp"

namespace qkv {

enum class StageStatus { match, differ, missing, shape };
std::string_view name(StageStatus status);

/// One stage of the user against the right one computed from the user's own stage before it.
struct StageFinding {
  std::string id = {};
  StageStatus status = StageStatus::missing;
  std::optional<double> max_abs = {};
  std::optional<double> max_rel = {};
  double residual =
      0;  ///< greatest difference in units of what rounding may do; a match is 1 at most
  std::size_t differing = 0, count = 0;
  std::vector<std::size_t> at = {};  ///< worst index, in the user's axes
  double got = 0, expected = 0;      ///< the values there
  Shape shape_got = {}, shape_expected = {};
};

struct FoundFault {
  std::string id = {};
  std::string stage = {};
  double residual =
      0;  ///< greatest absolute difference that is left with the mistake made on purpose
  std::vector<std::string> explains = {};  ///< stages that differ and match with the mistake
  std::string message = {};
  std::string fix = {};
  std::vector<std::string> ties =
      {};  ///< other faults that no given tensor tells apart from this one
};

/// A property of the input that hides faults.
struct Blind {
  std::string property = {};            ///< "H = 1"
  std::vector<std::string> hides = {};  ///< fault ids
  std::string show_with = {};           ///< "two heads or more"
};

struct Diagnosis {
  std::vector<StageFinding> stages = {};
  std::optional<std::string> first_divergence = {};
  std::vector<FoundFault> faults = {};
  std::vector<Blind> blind = {};
};

/// Faults are tried on up to `threads` threads; their number does not change the answer.
/// `on_progress` is called with the share of the faults that have been tried.
Diagnosis diagnose(const Case& the_case, const OnProgress& on_progress = {},
                   std::size_t threads = 1);

/// What this input cannot show, for the faults of the list that could otherwise strike.
std::vector<Blind> blind_spots(const Case& the_case);

}  // namespace qkv
