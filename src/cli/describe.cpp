// The configuration in words.
#include "cli/describe.hpp"

#include <fmt/format.h>

#include <cmath>

#include "qkv/attention/presets.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

std::string fill_text(const Fill& fill) {
  if (fill.kind == Fill::Kind::number) return number_text(fill.number);
  return fill.kind == Fill::Kind::lowest ? "min" : "-inf";
}

const char* text_of(MaskTrue meaning) { return meaning == MaskTrue::attend ? "attend" : "hide"; }
const char* text_of(QkNorm kind) {
  return kind == QkNorm::rms ? "rms" : kind == QkNorm::layer ? "layer" : "l2";
}
const char* text_of(CausalAlign align) { return align == CausalAlign::start ? "start" : "end"; }
const char* text_of(EmptyRows rows) {
  return rows == EmptyRows::zero ? "zero" : rows == EmptyRows::nan ? "nan" : "uniform";
}

std::string scale_words(const Settings& settings, const Sizes& sizes) {
  if (settings.temperature) return "scale 1/" + short_number(*settings.temperature);
  if (settings.scale) return "scale " + short_number(*settings.scale);
  return fmt::format("scale 1/√{}", sizes.D);
}

std::string window_words(const Window& window) {
  return fmt::format("window {},{}", window.left, window.right);
}

std::string rope_words(const Settings& s, const Sizes& sizes) {
  std::string words = fmt::format("rope {} ({}", number_text(*s.rope_base),
                                  s.rope_style == RopeStyle::half ? "half" : "interleaved");
  if (s.rope_dim && *s.rope_dim != sizes.D)
    words += fmt::format(", first {} of {} channels", *s.rope_dim, sizes.D);
  return words + ")";
}

ConfigEntry text_entry(std::string key, std::string value) {
  return {.kind = ConfigEntry::Kind::text, .key = std::move(key), .text = std::move(value)};
}
ConfigEntry number_entry(std::string key, double value) {
  return {.kind = ConfigEntry::Kind::number, .key = std::move(key), .number = value};
}
ConfigEntry flag_entry(std::string key, bool value) {
  return {.kind = ConfigEntry::Kind::flag, .key = std::move(key), .flag = value};
}

}  // namespace

std::string mask_words(const Request& request) {
  const Settings& s = request.settings;
  const Inputs& in = request.inputs;
  std::vector<std::string> rules;
  if (s.causal) rules.push_back(fmt::format("causal ({})", text_of(s.causal_align)));
  if (s.window) rules.push_back(window_words(*s.window));
  if (in.mask) {
    const std::string type(name(in.mask->array.dtype));
    rules.push_back(mask_is_added(*in.mask, s)
                        ? fmt::format("{} mask, added", type)
                        : fmt::format("{} mask, 1 means {}", type, text_of(s.mask_true)));
  }
  if (in.key_padding)
    rules.push_back(fmt::format("key padding, 1 means {}", text_of(s.padding_true)));
  if (in.lengths) rules.push_back("lengths");
  if (rules.empty()) return "mask none";
  return "mask " + fmt::format("{}", fmt::join(rules, " + ")) + "; fill " + fill_text(s.fill) +
         "; empty rows " + text_of(s.empty_rows);
}

std::string preset_words(const Request& request) {
  const Settings& s = request.settings;
  std::string words = fmt::format(
      "like {}: True in a mask means {}, in key padding {}; causal from the {}; fill {}; empty "
      "rows {}",
      s.preset, text_of(s.mask_true), text_of(s.padding_true), text_of(s.causal_align),
      fill_text(s.fill), text_of(s.empty_rows));
  if (s.softcap) words += "; cap before the mask";
  if (s.window)
    words += fmt::format("; {}{}", window_words(*s.window), s.window_shifts ? "" : " from key 0");
  if (s.short_mask_hides) words += "; keys that a short mask lacks are hidden";
  return words;
}

std::string headline(const Request& request, const Sizes& sizes) {
  const Settings& s = request.settings;
  std::string line = !sizes.projects     ? "attention"
                     : sizes.has_context ? "cross-attention"
                                         : "self-attention";
  line += "   ";
  if (sizes.has_batch) line += fmt::format("B={} ", sizes.B);
  line += fmt::format("L={} S={}", sizes.L, sizes.S);
  if (sizes.P > 0) line += fmt::format(" (P={} cached)", sizes.P);
  if (sizes.projects) line += fmt::format(" E={}", sizes.E);
  line += fmt::format("   H={}", sizes.H);
  if (sizes.G != sizes.H) line += fmt::format(" G={}", sizes.G);
  line += fmt::format(" D={} Dv={}   {}", sizes.D, sizes.Dv, scale_words(s, sizes));
  if (s.softcap) line += fmt::format("   softcap {}", number_text(*s.softcap));
  if (s.alibi) line += "   alibi";
  if (request.inputs.sinks) line += "   sinks";
  if (s.qk_norm) line += fmt::format("   qk-norm {}", text_of(*s.qk_norm));
  if (s.dropout) line += fmt::format("   dropout {} (seed {})", number_text(*s.dropout), s.seed);
  if (s.rope_base) line += "   " + rope_words(s, sizes);
  line += fmt::format("   {}   {}", mask_words(request), name(request.compute));
  if (!s.preset.empty()) line += "\n" + preset_words(request);
  return line;
}

std::vector<ConfigEntry> config_entries(const Request& request, const Sizes& sizes) {
  const Settings& s = request.settings;
  std::vector<ConfigEntry> entries;
  entries.push_back(text_entry("kind", !sizes.projects     ? "attention"
                                       : sizes.has_context ? "cross-attention"
                                                           : "self-attention"));
  const std::pair<const char*, std::size_t> axes[] = {
      {"B", sizes.B}, {"H", sizes.H}, {"G", sizes.G}, {"L", sizes.L},
      {"S", sizes.S}, {"P", sizes.P}, {"D", sizes.D}, {"Dv", sizes.Dv}};
  for (const auto& [symbol, size] : axes)
    entries.push_back(number_entry(symbol, static_cast<double>(size)));
  if (sizes.projects) entries.push_back(number_entry("E", static_cast<double>(sizes.E)));
  entries.push_back(number_entry("heads", static_cast<double>(sizes.H)));
  entries.push_back(number_entry("kv-heads", static_cast<double>(sizes.G)));
  entries.push_back(text_entry("compute", std::string(name(request.compute))));
  if (!s.preset.empty()) entries.push_back(text_entry("like", s.preset));
  if (sizes.rank_four)
    entries.push_back(text_entry("layout", s.layout == Layout::bhld ? "bhld" : "blhd"));
  const double scale = s.scale         ? *s.scale
                       : s.temperature ? 1.0 / *s.temperature
                                       : 1.0 / std::sqrt(static_cast<double>(sizes.D));
  entries.push_back(number_entry("scale", scale));
  if (s.temperature) entries.push_back(number_entry("temperature", *s.temperature));
  if (s.softcap) entries.push_back(number_entry("softcap", *s.softcap));
  if (s.alibi) entries.push_back(flag_entry("alibi", true));
  if (request.inputs.sinks) entries.push_back(text_entry("sinks", request.inputs.sinks->where));
  if (s.qk_norm) {
    entries.push_back(text_entry("qk-norm", text_of(*s.qk_norm)));
    entries.push_back(number_entry("norm-eps", s.eps_of_norm()));
    if (request.inputs.q_norm)
      entries.push_back(text_entry("q-norm", request.inputs.q_norm->where));
    if (request.inputs.k_norm)
      entries.push_back(text_entry("k-norm", request.inputs.k_norm->where));
  }
  if (s.dropout) {
    entries.push_back(number_entry("dropout", *s.dropout));
    entries.push_back(number_entry("seed", static_cast<double>(s.seed)));
  }
  if (s.rope_base) {
    entries.push_back(number_entry("rope", *s.rope_base));
    entries.push_back(
        text_entry("rope-style", s.rope_style == RopeStyle::half ? "half" : "interleaved"));
    entries.push_back(number_entry("rope-dim", static_cast<double>(s.rope_dim.value_or(sizes.D))));
    if (!request.inputs.position)
      entries.push_back(number_entry("position", static_cast<double>(s.first_position.value_or(
                                                     static_cast<long long>(sizes.P)))));
  }
  entries.push_back(flag_entry("causal", s.causal));
  entries.push_back(text_entry("causal-align", text_of(s.causal_align)));
  if (s.window)
    entries.push_back(text_entry("window", fmt::format("{},{}", s.window->left, s.window->right)));
  if (request.inputs.mask) {
    entries.push_back(text_entry("mask", request.inputs.mask->where));
    if (!mask_is_added(*request.inputs.mask, s))
      entries.push_back(text_entry("mask-true", text_of(s.mask_true)));
  }
  if (request.inputs.key_padding) {
    entries.push_back(text_entry("key-padding", request.inputs.key_padding->where));
    entries.push_back(text_entry("padding-true", text_of(s.padding_true)));
  }
  if (request.inputs.lengths)
    entries.push_back(text_entry("lengths", request.inputs.lengths->where));
  entries.push_back(text_entry("fill", fill_text(s.fill)));
  entries.push_back(text_entry("empty-rows", text_of(s.empty_rows)));
  return entries;
}

}  // namespace qkv::cli
