// Presets: mask meaning, causal alignment, fill, empty rows and window as known systems have them.
#include "qkv/attention/presets.hpp"

#include <algorithm>
#include <vector>

#include "qkv/attention/mask_shape.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr Fill infinite{Fill::Kind::negative_infinity, 0};
constexpr Fill lowest{Fill::Kind::lowest, 0};

constexpr auto keep = MaskReading::keep_or_hide;
constexpr auto added = MaskReading::added;
constexpr auto refused = MaskReading::refused;

// Sources: ONNX Attention-23 to 25; torch.nn.functional.scaled_dot_product_attention and
// nn.MultiheadAttention of PyTorch 2.5 and later; flash_attn_func 2.1 and later;
// jax.nn.dot_product_attention; keras.layers.MultiHeadAttention 3; eager_attention_forward of
// Hugging Face transformers; ggml_flash_attn_ext. All of them cap (where they can) after the scale
// and before the mask, as the pipeline does.
constexpr Preset presets[] = {
    {.name = "onnx",
     .summary = "ONNX Attention: True attends, integers and floats are added, causal rule from the "
                "start, or from the end "
                "with lengths, empty rows are 0, a short mask hides the keys it lacks",
     .mask_true = MaskTrue::attend,
     .padding_true = MaskTrue::attend,
     .bool_mask = keep,
     .integer_mask = added,
     .float_mask = added,
     .causal_align = CausalAlign::start,
     .end_with_lengths = true,
     .fill = infinite,
     .empty_rows = EmptyRows::zero,
     .window_counts_self = false,
     .window_both_sides = false,
     .window_shifts = true,
     .short_mask_hides = true},
    {.name = "torch-sdpa",
     .summary = "torch scaled_dot_product_attention: True attends, floats are added, causal rule "
                "from the start, empty rows are 0",
     .mask_true = MaskTrue::attend,
     .padding_true = MaskTrue::attend,
     .bool_mask = keep,
     .integer_mask = refused,
     .float_mask = added,
     .causal_align = CausalAlign::start,
     .end_with_lengths = false,
     .fill = infinite,
     .empty_rows = EmptyRows::zero,
     .window_counts_self = false,
     .window_both_sides = false,
     .window_shifts = true,
     .short_mask_hides = false},
    {.name = "torch-mha",
     .summary = "torch nn.MultiheadAttention with need_weights: True hides in both masks, floats "
                "are added, (B·H,L,S) masks, "
                "empty rows are NaN",
     .mask_true = MaskTrue::hide,
     .padding_true = MaskTrue::hide,
     .bool_mask = keep,
     .integer_mask = refused,
     .float_mask = added,
     .causal_align = CausalAlign::start,
     .end_with_lengths = false,
     .fill = infinite,
     .empty_rows = EmptyRows::nan,
     .window_counts_self = false,
     .window_both_sides = false,
     .window_shifts = true,
     .short_mask_hides = false},
    {.name = "flash",
     .summary = "flash_attn_func: no mask but causal and window, both aligned to the end, a window "
                "of W sees W keys and the "
                "query's own, empty rows are 0",
     .mask_true = MaskTrue::attend,
     .padding_true = MaskTrue::attend,
     .bool_mask = refused,
     .integer_mask = refused,
     .float_mask = refused,
     .causal_align = CausalAlign::end,
     .end_with_lengths = true,
     .fill = infinite,
     .empty_rows = EmptyRows::zero,
     .window_counts_self = false,
     .window_both_sides = false,
     .window_shifts = true,
     .short_mask_hides = false},
    {.name = "jax",
     .summary = "jax.nn.dot_product_attention: True attends, a float mask is its bias and added, "
                "causal rule from the start, "
                "hidden scores are -0.7 times the largest float32, empty rows are uniform, the "
                "window does not shift, one "
                "number bounds both sides",
     .mask_true = MaskTrue::attend,
     .padding_true = MaskTrue::attend,
     .bool_mask = keep,
     .integer_mask = refused,
     .float_mask = added,
     .causal_align = CausalAlign::start,
     .end_with_lengths = false,
     .fill = {Fill::Kind::number, -0.7 * static_cast<double>(0x1.fffffep127f)},
     .empty_rows = EmptyRows::uniform,
     .window_counts_self = false,
     .window_both_sides = true,
     .window_shifts = false,
     .short_mask_hides = false},
    {.name = "keras",
     .summary =
         "keras MultiHeadAttention: True attends, floats above 0.5 attend, causal rule from the "
         "start, fill -1e9, empty "
         "rows are uniform, a window of W sees fewer than W keys to either side and does not shift",
     .mask_true = MaskTrue::attend,
     .padding_true = MaskTrue::attend,
     .bool_mask = keep,
     .integer_mask = keep,
     .float_mask = keep,
     .causal_align = CausalAlign::start,
     .end_with_lengths = false,
     .fill = {Fill::Kind::number, -1e9},
     .empty_rows = EmptyRows::uniform,
     .window_counts_self = true,
     .window_both_sides = true,
     .window_shifts = false,
     .short_mask_hides = false},
    {.name = "hf-eager",
     .summary = "Hugging Face eager attention: masks are floats and added (a bool mask would be "
                "added as 0 and 1, so it is "
                "refused), causal rule from the end, fill is the lowest number, empty rows are "
                "uniform, a window of W is W "
                "keys with the query's own",
     .mask_true = MaskTrue::attend,
     .padding_true = MaskTrue::attend,
     .bool_mask = refused,
     .integer_mask = refused,
     .float_mask = added,
     .causal_align = CausalAlign::end,
     .end_with_lengths = false,
     .fill = lowest,
     .empty_rows = EmptyRows::uniform,
     .window_counts_self = true,
     .window_both_sides = false,
     .window_shifts = true,
     .short_mask_hides = false},
    {.name = "ggml",
     .summary = "ggml_flash_attn_ext: masks are floats and added after the cap, -inf hides, empty "
                "rows are 0; the caller makes "
                "the causal mask, from the end of the cache",
     .mask_true = MaskTrue::attend,
     .padding_true = MaskTrue::attend,
     .bool_mask = refused,
     .integer_mask = refused,
     .float_mask = added,
     .causal_align = CausalAlign::end,
     .end_with_lengths = false,
     .fill = infinite,
     .empty_rows = EmptyRows::zero,
     .window_counts_self = true,
     .window_both_sides = false,
     .window_shifts = true,
     .short_mask_hides = false},
};

std::string type_words(DType dtype) { return std::string(name(dtype)) + " mask"; }

MaskReading reading_of(const Preset& preset, DType dtype) {
  if (dtype == DType::boolean) return preset.bool_mask;
  return is_float(dtype) ? preset.float_mask : preset.integer_mask;
}

void require_mask_type(const Preset& preset, const NamedArray& mask) {
  const DType dtype = mask.array.dtype;
  if (reading_of(preset, dtype) != MaskReading::refused) return;
  const std::string system(preset.name);
  std::vector<std::string> taken;
  if (preset.bool_mask != refused) taken.emplace_back("bool");
  if (preset.integer_mask != refused) taken.emplace_back("integer");
  if (preset.float_mask != refused) taken.emplace_back("float");
  throw Error(Complaint{
      .what = system + " takes no " + type_words(dtype),
      .where = mask.where,
      .expected = taken.empty() ? "no mask at all" : "a mask of type " + listed(taken, "or"),
      .got = std::string(name(dtype)),
      .hint = taken.empty()
                  ? "leave --like away, or say --mask-true attend to use the mask all the same"
              : is_float(dtype)
                  ? ""
                  : "say --mask-true attend or hide to have it read as keep or hide all the same"});
}

/// True where the mask, read with this polarity, hides every query from itself.
bool hides_diagonal(const std::vector<double>& values, std::size_t L, MaskTrue mask_true) {
  for (std::size_t row = 0; row < values.size(); row += L * L) {
    for (std::size_t i = 0; i < L; ++i) {
      const bool one = values[row + i * L + i] != 0;
      if (one == (mask_true == MaskTrue::attend)) return false;
    }
  }
  return true;
}

/// A square bool mask under which no query sees itself, while its inverse shows all of them, was
/// made for the other meaning.
void require_polarity(const Preset& preset, const NamedArray& mask) {
  const Shape& shape = mask.array.shape;
  if (mask.array.dtype != DType::boolean || shape.size() < 2) return;
  const std::size_t L = shape.back();
  if (L < 2 || shape[shape.size() - 2] != L) return;
  std::vector<double> values(element_count(shape));
  copy_elements(mask.array, values.data());
  if (values.empty() || !hides_diagonal(values, L, preset.mask_true)) return;
  const bool attends = preset.mask_true == MaskTrue::attend;
  throw Error(Complaint{.what = "mask has the opposite meaning",
                        .where = mask.where,
                        .expected = "True to mean " + std::string(attends ? "attend" : "hide") +
                                    " as in " + std::string(preset.name),
                        .got = "a mask that hides every query from itself when read so",
                        .hint = std::string("invert the mask, or say --mask-true ") +
                                (attends ? "hide" : "attend") + "; --mask-true " +
                                (attends ? "attend" : "hide") + " if it is meant"});
}

/// What the system's own window number W says in keys before and after the query.
Window adapted(Window window, const Preset& preset) {
  if (preset.window_counts_self && window.left > 0) --window.left;
  if (preset.window_both_sides && window.right < 0) window.right = window.left;
  return window;
}

}  // namespace

std::span<const Preset> preset_list() { return presets; }

const Preset& find_preset(const std::string& wanted) {
  const auto found = std::ranges::find(presets, wanted, &Preset::name);
  if (found != std::end(presets)) return *found;
  std::vector<std::string> names;
  for (const Preset& preset : presets) names.emplace_back(preset.name);
  const std::string near = nearest(wanted, names);
  throw Error(Complaint{.what = "unknown preset",
                        .where = "--like",
                        .expected = listed(names, "or"),
                        .got = escaped(wanted),
                        .hint = near.empty() ? "" : "did you mean " + near + "?"});
}

bool mask_is_added(const NamedArray& mask, const Settings& settings) {
  const DType dtype = mask.array.dtype;
  if (!settings.preset.empty()) {
    const MaskReading reading = reading_of(find_preset(settings.preset), dtype);
    // A refusal was overruled by an explicit --mask-true; then the type decides.
    if (reading != MaskReading::refused) return reading == MaskReading::added;
  }
  return is_float(dtype);
}

Settings with_preset(const Preset& preset, Settings settings, const Inputs& inputs,
                     const Given& given) {
  if (inputs.mask && !given.mask_true) {
    require_mask_type(preset, *inputs.mask);
    require_polarity(preset, *inputs.mask);
  }
  settings.preset = preset.name;
  if (!given.mask_true) settings.mask_true = preset.mask_true;
  if (!given.padding_true) settings.padding_true = preset.padding_true;
  if (!given.causal_align) {
    settings.causal_align =
        preset.end_with_lengths && inputs.lengths ? CausalAlign::end : preset.causal_align;
  }
  if (!given.fill) settings.fill = preset.fill;
  if (!given.empty_rows) settings.empty_rows = preset.empty_rows;
  if (settings.window) settings.window = adapted(*settings.window, preset);
  settings.window_shifts = preset.window_shifts;
  settings.short_mask_hides = preset.short_mask_hides;
  return settings;
}

}  // namespace qkv
