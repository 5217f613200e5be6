// mask.shape: the axes of the mask can be meant in one way only.
#include <string>
#include <vector>

#include "checks.hpp"
#include "given.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// True where the mask is the same at every index of its first axis, so that it does not matter
/// what that axis means.
bool alike_along_first_axis(const Array& mask) {
  if (mask.shape[0] < 2) return true;
  Array slice = mask;
  slice.shape.erase(slice.shape.begin());
  slice.strides.erase(slice.strides.begin());
  const std::size_t count = element_count(slice.shape);
  std::vector<double> first(count), other(count);
  copy_elements(slice, first.data());
  for (std::size_t n = 1; n < mask.shape[0]; ++n) {
    slice.data += mask.strides[0];
    copy_elements(slice, other.data());
    if (other != first) return false;
  }
  return true;
}

/// "(1,1,L,S)": the axes of (B,H,L,S) that a mask of this shape has.
std::string axes_read(const Shape& shape, const Sizes& sizes) {
  if (shape.size() == 3 && shape[0] != 1 && shape[0] != sizes.H) return "(B*H,L,S)";  // torch-mha
  static constexpr const char* symbols[] = {"B", "H", "L", "S"};
  const std::size_t full[] = {sizes.B, sizes.H, sizes.L, sizes.S};
  std::vector<std::string> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::size_t meant = axis + 4 - shape.size();
    axes.emplace_back(shape[axis] == 1 && full[meant] != 1 ? "1" : symbols[meant]);
  }
  std::string text = "(";
  for (std::size_t n = 0; n < axes.size(); ++n) text += (n == 0 ? "" : ",") + axes[n];
  return text + ")";
}

}  // namespace

/// A mask is broadcast right-aligned to (B,H,L,S). A warning where another reading fits its shape
/// as well and would hide other keys, and where its last axis is 1, so that whole queries are
/// hidden rather than keys.
template <class T>
CheckResult mask_shape(const Evidence<T>& evidence) {
  if (evidence.inputs == nullptr || !evidence.inputs->mask) return skipped("mask", "no mask given");
  const NamedArray& mask = *evidence.inputs->mask;
  const Shape& shape = mask.array.shape;
  const Sizes& sizes = evidence.sizes;
  if (shape.empty() || shape.size() > 4 || element_count(shape) == 0) {
    return skipped(mask.where, "the mask has no elements, or no axes to judge");
  }
  CheckResult result{.stage = mask.where, .status = Status::pass};
  result.message = shape_text(shape) + " read as " + axes_read(shape, sizes);
  const bool batch_as_heads =
      shape.size() == 3 && sizes.B > 1 && sizes.B == sizes.H && shape[0] == sizes.B;
  const bool batch_as_queries =
      shape.size() == 2 && sizes.B > 1 && sizes.B == sizes.L && shape[0] == sizes.B;
  if (shape.back() == 1 && sizes.S > 1 && shape.size() > 1) {
    result.status = Status::warn;
    result.message += ": its key axis is 1, so it hides all keys of a query or none";
    result.hint = "to hide keys, put them on the last axis: (B,1,1,S), or --key-padding (B,S)";
  } else if (batch_as_heads && !alike_along_first_axis(mask.array)) {
    result.status = Status::warn;
    result.message += ", one mask per head; with B = H = " + std::to_string(sizes.B) +
                      " one per batch row fits as well";
    result.hint = "per batch row: reshape it to (B,1,L,S); per head: to (1,H,L,S)";
  } else if (batch_as_queries && !alike_along_first_axis(mask.array)) {
    result.status = Status::warn;
    result.message += ", a row per query; with B = L = " + std::to_string(sizes.B) +
                      " a row per batch row fits as well";
    result.hint = "(B,S), which keys are real: give it as --key-padding";
  }
  return result;
}

template CheckResult mask_shape(const Evidence<float>&);
template CheckResult mask_shape(const Evidence<double>&);

}  // namespace qkv::checks
