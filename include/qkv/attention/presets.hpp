// Presets: the settings as a known system has them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"

namespace qkv {

/// How a system reads a mask of a given element type.
enum class MaskReading { keep_or_hide, added, refused };

struct Preset {
  std::string_view name;     ///< "torch-sdpa"
  std::string_view summary;  ///< for the manual
  MaskTrue mask_true;
  MaskTrue padding_true;
  MaskReading bool_mask, integer_mask, float_mask;
  CausalAlign causal_align;
  bool end_with_lengths;  ///< with lengths the causal rule is aligned to the end (onnx)
  Fill fill;
  EmptyRows empty_rows;
  bool window_counts_self;  ///< a window of W is W keys with the query's own; false: W keys besides
                            ///< it
  bool window_both_sides;   ///< a single number bounds both sides (keras)
  bool window_shifts;       ///< the window moves with the causal offset
  bool short_mask_hides;
};

std::span<const Preset> preset_list();

/// throws  Error with the nearest name when there is no such preset
const Preset& find_preset(const std::string& name);

/// Whether a mask of this type is added to the scores under the settings' preset, or says which
/// keys to keep.
bool mask_is_added(const NamedArray& mask, const Settings& settings);

/// Which settings the user gave by flag: these win over the preset.
struct Given {
  bool mask_true = false, padding_true = false, causal_align = false, fill = false,
       empty_rows = false;
};

/// Settings with the preset's values wherever no flag was given.
///
/// throws  Error where the system does not take a mask of this type, or where the mask can only
/// have been made for the
///         opposite polarity (it hides every query from itself, its inverse does not)
Settings with_preset(const Preset& preset, Settings settings, const Inputs& inputs,
                     const Given& given);

}  // namespace qkv
