// Shapes of masks, key padding and lengths.
#include "qkv/attention/mask_shape.hpp"

#include <string>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

std::string wanted_mask(const Sizes& sizes) {
  return "a shape that broadcasts to (B,H,L,S) = " +
         shape_text({sizes.B, sizes.H, sizes.L, sizes.S});
}

bool torch_mha_mask(const Shape& shape, const Settings& settings, const Sizes& sizes) {
  return settings.preset == "torch-mha" && shape.size() == 3 && shape[0] == sizes.B * sizes.H &&
         shape[0] != 1;
}

/// What the user may have meant by a mask that does not fit.
std::string mask_hint(const Shape& shape, const Sizes& sizes) {
  const auto [B, H, L, S] = std::tuple{sizes.B, sizes.H, sizes.L, sizes.S};
  if (shape == Shape{B, S})
    return "a (B,S) mask says which keys are real: give it as --key-padding";
  if (shape == Shape{S, L}) return "axes L and S look exchanged: transpose the mask";
  if (shape == Shape{B, L, S})
    return "a (B,L,S) mask needs a head axis: reshape it to " + shape_text({B, 1, L, S});
  if (shape == Shape{B * H, L, S}) {
    return "a (B·H,L,S) mask is torch.nn.MultiheadAttention's: --like torch-mha, or reshape it "
           "to " +
           shape_text({B, H, L, S});
  }
  if (!shape.empty() && sizes.P > 0 && shape.back() == sizes.new_keys()) {
    return "the mask lacks the " + std::to_string(sizes.P) + " keys of the cache, which come first";
  }
  if (!shape.empty() && shape.back() < S) return "--like onnx hides the keys that the mask lacks";
  return {};
}

void require_mask(const NamedArray& mask, const Settings& settings, const Sizes& sizes,
                  Complaints& complaints) {
  const Shape& shape = mask.array.shape;
  const auto complain = [&](std::string axis) {
    complaints.add({"mask does not fit", mask.where + axis, wanted_mask(sizes), shape_text(shape),
                    mask_hint(shape, sizes)});
  };
  if (shape.size() > 4 || shape.empty()) return complain("");
  if (torch_mha_mask(shape, settings, sizes) && shape[1] == sizes.L && shape[2] == sizes.S) return;
  const std::size_t full[4] = {sizes.B, sizes.H, sizes.L, sizes.S};
  static constexpr const char* symbols[4] = {"B", "H", "L", "S"};
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t meant = axis + 4 - shape.size();
    const bool last_may_be_short = meant == 3 && settings.short_mask_hides && shape[axis] < sizes.S;
    if (shape[axis] == full[meant] || shape[axis] == 1 || last_may_be_short) continue;
    return complain(", axis " + std::to_string(axis) + ", " + symbols[meant]);
  }
}

void require_padding(const NamedArray& padding, const Sizes& sizes, Complaints& complaints) {
  const Shape& shape = padding.array.shape;
  const std::size_t B = sizes.B, S = sizes.S;
  if (shape == Shape{B, S} || shape == Shape{B, 1, S} || shape == Shape{B, 1, 1, S}) return;
  if (!sizes.has_batch && shape == Shape{S}) return;
  std::string hint;
  if (shape == Shape{S, B}) hint = "axes B and S look exchanged: transpose it";
  if (shape.size() >= 2 && shape[shape.size() - 2] == sizes.L && shape.back() == S && sizes.L > 1)
    hint = "a mask with a query axis goes to --mask";
  if (!shape.empty() && sizes.P > 0 && shape.back() == sizes.new_keys()) {
    hint = "it lacks the " + std::to_string(sizes.P) + " keys of the cache, which come first";
  }
  complaints.add({"key padding does not fit", padding.where,
                  shape_text({B, S}) + " or " + shape_text({B, 1, S}) + ", (B,S) or (B,1,S)",
                  shape_text(shape), hint});
}

void require_lengths(const NamedArray& lengths, const Sizes& sizes, Complaints& complaints) {
  const Shape& shape = lengths.array.shape;
  const DType dtype = lengths.array.dtype;
  if (!is_integer(dtype)) {
    complaints.add({"lengths are no integers", lengths.where, "an integer type",
                    std::string(name(dtype)),
                    dtype == DType::boolean ? "a mask of real keys goes to --key-padding" : ""});
  }
  if (shape != Shape{sizes.B}) {
    complaints.add({"one length for each batch row", lengths.where, shape_text({sizes.B}) + ", (B)",
                    shape_text(shape),
                    shape == Shape{sizes.B, sizes.S}
                        ? "a (B,S) mask of real keys goes to --key-padding"
                        : ""});
  }
}

}  // namespace

void require_mask_shapes(const Inputs& inputs, const Settings& settings, const Sizes& sizes,
                         Complaints& complaints) {
  if (inputs.mask) require_mask(*inputs.mask, settings, sizes, complaints);
  if (inputs.key_padding) require_padding(*inputs.key_padding, sizes, complaints);
  if (inputs.lengths) require_lengths(*inputs.lengths, sizes, complaints);
}

Shape mask_shape_by_axis(const Shape& shape, const Settings& settings, const Sizes& sizes) {
  if (torch_mha_mask(shape, settings, sizes)) return {sizes.B, sizes.H, sizes.L, sizes.S};
  Shape four(4 - shape.size(), 1);
  four.insert(four.end(), shape.begin(), shape.end());
  return four;
}

}  // namespace qkv
