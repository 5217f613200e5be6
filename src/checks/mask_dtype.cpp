// mask.dtype: a mask that is added to the scores is not really a 0/1 mask.
#include <cmath>
#include <string>

#include "checks.hpp"
#include "given.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// The values of a mask, as far as its type and meaning can be judged by them.
struct MaskValues {
  std::size_t zeros = 0, ones = 0, complements = 0, others = 0;
  double other = 0;  ///< the first that is neither 0 nor 1
  std::size_t first_one = 0, first_other = 0;
};

MaskValues values_of(const Array& array) {
  MaskValues seen;
  for_each_piece(array, [&](std::size_t position, std::span<const double> piece) {
    for (const double value : piece) {
      if (value == 0) {
        ++seen.zeros;
      } else if (value == 1) {
        if (seen.ones++ == 0) seen.first_one = position;
      } else {
        if (seen.others++ == 0) {
          seen.other = value;
          seen.first_other = position;
        }
        if (value == -1 || value == -2) ++seen.complements;
      }
      ++position;
    }
  });
  return seen;
}

/// Whether the mask is added, as the problem was read; without that, by the type alone.
template <class T>
bool is_added(const Evidence<T>& evidence, DType dtype) {
  if (evidence.visibility == nullptr) return is_float(dtype);
  return !evidence.visibility->added.empty();
}

}  // namespace

/// An added mask that holds nothing but 0 and 1 changes scores by 1 at most and hides nothing: it
/// was meant to keep and drop. An integer mask holds 0 and 1 only.
template <class T>
CheckResult mask_dtype(const Evidence<T>& evidence) {
  if (evidence.inputs == nullptr || !evidence.inputs->mask) return skipped("mask", "no mask given");
  const NamedArray& mask = *evidence.inputs->mask;
  const DType dtype = mask.array.dtype;
  const std::size_t count = element_count(mask.array.shape);
  if (count == 0) return skipped(mask.where, "the mask has no elements");
  const std::string type(name(dtype));
  const MaskValues seen = values_of(mask.array);
  CheckResult result{.stage = mask.where, .status = Status::pass};

  if (is_added(evidence, dtype)) {
    result.value = static_cast<double>(seen.others);
    // value: how many are neither 0 nor 1; at least one must be, unless all are 0.
    if (seen.others == 0 && seen.ones > 0) {
      result.limit = 1;
      result.status = Status::fail;
      result.at = index_of(seen.first_one, mask.array.shape);
      result.message = "a " + type + " mask of 0 and 1 only (" + std::to_string(seen.ones) +
                       " ones) is added to the scores and hides nothing";
      result.hint = "convert it to bool: mask.astype(bool), and say with --mask-true what 1 means";
    } else if (seen.others == 0) {
      result.message = type + ", 0 throughout: it is added and changes nothing";
    } else {
      result.message = type + ", added to the scores; " + std::to_string(seen.others) +
                       " values are neither 0 nor 1";
    }
    return result;
  }
  if (is_integer(dtype) && seen.others > 0) {
    const bool complement = seen.complements == count;
    result.status = Status::fail;
    result.value = static_cast<double>(seen.others);
    result.limit = 0;
    result.at = index_of(seen.first_other, mask.array.shape);
    result.message = "a " + type + " mask holds " + number_text(seen.other) +
                     ", expected 0 and 1 (" + std::to_string(seen.others) + " of " +
                     std::to_string(count) + " values)";
    result.hint = complement ? "-1 and -2 are the complement (~) of a 0/1 integer mask: convert to "
                               "bool before ~, or use 1 - mask"
                             : "a mask that is added to the scores must have a float type";
    return result;
  }
  const bool attend = evidence.settings.mask_true == MaskTrue::attend;
  result.message = type + ": " + (dtype == DType::boolean ? "true" : "1") +
                   (attend ? " takes part" : " is hidden");
  return result;
}

template CheckResult mask_dtype(const Evidence<float>&);
template CheckResult mask_dtype(const Evidence<double>&);

}  // namespace qkv::checks
