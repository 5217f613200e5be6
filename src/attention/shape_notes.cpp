// Notes on shapes that compute, and may yet mean something else than the user thinks.
#include "shape_notes.hpp"

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

/// Rank 3 means (H,L,S) when aligned at the right, and (B·H,L,S) where a system has it so.
std::string mask_note(const NamedArray& mask, const Sizes& sizes) {
  const Shape& shape = mask.array.shape;
  if (shape.size() != 3 || shape[0] == 1) return {};
  const bool by_head = shape[0] == sizes.H;
  if (!by_head && sizes.B == 1) return {};
  return mask.where + " " + shape_text(shape) +
         (by_head ? " is read by head, as (H,L,S)"
                  : " is read by sample and head, entry b·H + h of (B·H,L,S)");
}

/// 32 heads of 1024 channels in a model of 1024: D was meant to be 32.
std::string width_note(const Inputs& inputs, const Sizes& sizes) {
  const bool whole = sizes.H > 1 && sizes.D == sizes.E && sizes.E % sizes.H == 0;
  if (!whole || !inputs.wq) return {};
  return inputs.wq->where + " makes H·D = " + std::to_string(sizes.H * sizes.D) +
         " channels of E = " + std::to_string(sizes.E) +
         ": each head is as wide as the model, where E/H = " + std::to_string(sizes.E / sizes.H) +
         " is usual";
}

}  // namespace

std::vector<std::string> shape_notes(const Inputs& inputs, const Sizes& sizes) {
  std::vector<std::string> notes;
  const auto add = [&](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  if (inputs.mask) add(mask_note(*inputs.mask, sizes));
  if (sizes.projects) add(width_note(inputs, sizes));
  return notes;
}

}  // namespace qkv
