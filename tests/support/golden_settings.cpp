// Settings of golden cases, by the words of their .json.
#include "support/golden_settings.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace qkv::test {

namespace {

using nlohmann::json;

/// The setting of that name, by the words of the .json; throws std::out_of_range for another word.
template <class Value>
void choose(Value& setting, const json& word, const std::map<std::string, Value>& words) {
  setting = words.at(word.get<std::string>());
}

Fill fill_of(const json& value) {
  if (value.is_number()) return {.kind = Fill::Kind::number, .number = value.get<double>()};
  if (value != "min") throw std::out_of_range("fill");
  return {.kind = Fill::Kind::lowest};
}

}  // namespace

void set_by_name(Settings& s, const std::string& name, const json& value) {
  if (name == "heads")
    s.heads = value;
  else if (name == "kv_heads")
    s.kv_heads = value.get<std::size_t>();
  else if (name == "layout")
    choose(s.layout, value, {{"bhld", Layout::bhld}, {"blhd", Layout::blhd}});
  else if (name == "weight_order")
    choose(s.weight_order, value,
           {{"in_out", WeightOrder::in_out}, {"out_in", WeightOrder::out_in}});
  else if (name == "qkv_order")
    choose(s.qkv_order, value,
           {{"per_head", QkvOrder::per_head}, {"per_group", QkvOrder::per_group}});
  else if (name == "causal")
    s.causal = value;
  else if (name == "causal_align")
    choose(s.causal_align, value, {{"end", CausalAlign::end}});
  else if (name == "window")
    s.window = Window{value[0], value[1]};
  else if (name == "window_shifts")
    s.window_shifts = value;
  else if (name == "mask_true")
    choose(s.mask_true, value, {{"hide", MaskTrue::hide}});
  else if (name == "padding_true")
    choose(s.padding_true, value, {{"hide", MaskTrue::hide}});
  else if (name == "short_mask_hides")
    s.short_mask_hides = value;
  else if (name == "fill")
    s.fill = fill_of(value);
  else if (name == "empty_rows")
    choose(s.empty_rows, value, {{"nan", EmptyRows::nan}, {"uniform", EmptyRows::uniform}});
  else if (name == "scale")
    s.scale = value.get<double>();
  else if (name == "temperature")
    s.temperature = value.get<double>();
  else if (name == "softcap")
    s.softcap = value.get<double>();
  else if (name == "rope_base")
    s.rope_base = value.get<double>();
  else if (name == "rope_style")
    choose(s.rope_style, value, {{"interleaved", RopeStyle::interleaved}});
  else if (name == "rope_dim")
    s.rope_dim = value.get<std::size_t>();
  else if (name == "first_position")
    s.first_position = value.get<long long>();
  else if (name == "alibi")
    s.alibi = value;
  else if (name == "qk_norm")
    choose<std::optional<QkNorm>>(
        s.qk_norm, value, {{"rms", QkNorm::rms}, {"layer", QkNorm::layer}, {"l2", QkNorm::l2}});
  else if (name == "norm_eps")
    s.norm_eps = value.get<double>();
  else if (name == "dropout")
    s.dropout = value.get<double>();
  else if (name == "seed")
    s.seed = value;
  else
    throw std::out_of_range("setting " + name);
}

}  // namespace qkv::test
