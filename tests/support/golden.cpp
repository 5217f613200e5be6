// Golden cases: reading them, making their inputs and judging a stage by them.
#include "support/golden.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "qkv/base/text.hpp"
#include "support/arrays.hpp"

namespace qkv::test {

namespace {

using nlohmann::json;

/// The numbers of a one-dimensional little-endian float64 .npy file, version 1.0; by hand, so that
/// the reader under test is not what the tests are read by.
std::vector<double> npy_numbers(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string bytes = stream.str();
  if (bytes.size() < 10 || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0 ||
      bytes.find("'descr': '<f8', 'fortran_order': False") == std::string::npos) {
    throw std::runtime_error(path + ": not the float64 .npy that make_golden.py writes");
  }
  const auto header =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  std::vector<double> numbers((bytes.size() - 10 - header) / sizeof(double));
  std::memcpy(numbers.data(), bytes.data() + 10 + header, numbers.size() * sizeof(double));
  return numbers;
}

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

void set(Settings& s, const std::string& name, const json& value) {
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

/// The elements of a recipe (golden/draw.py says what its members mean).
std::vector<double> made(const json& recipe, std::size_t count, bool is_float_type) {
  if (recipe.contains("data")) return recipe["data"].get<std::vector<double>>();
  const std::uint64_t tag = recipe["tag"];
  std::vector<double> values(count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint32_t low_byte = hashed(tag, n) & 255u;
    if (!is_float_type) {
      values[n] = low_byte < recipe["keep"].get<std::uint32_t>() ? 1 : 0;
    } else if (low_byte < recipe.value("hide", 0u)) {
      values[n] = -std::numeric_limits<double>::infinity();
    } else {
      values[n] = hashed_value(tag, n) / recipe.value("divide", 1.0);
    }
  }
  return values;
}

NamedArray input_of(const json& recipe, const std::string& name) {
  const Shape shape = recipe["shape"];
  const DType dtype = dtype_named(recipe["dtype"].get<std::string>());
  NamedArray input =
      array_of(shape, made(recipe, element_count(shape), is_float(dtype)), dtype, name + ".npy");
  if (recipe.value("order", "C") == "F") input.array = in_fortran_order(input.array);
  return input;
}

std::optional<NamedArray>& slot(Inputs& inputs, const std::string& name) {
  static const std::map<std::string, std::optional<NamedArray> Inputs::*> slots = {
      {"x", &Inputs::x},
      {"context", &Inputs::context},
      {"q", &Inputs::q},
      {"k", &Inputs::k},
      {"v", &Inputs::v},
      {"wq", &Inputs::wq},
      {"wk", &Inputs::wk},
      {"wv", &Inputs::wv},
      {"wo", &Inputs::wo},
      {"wqkv", &Inputs::wqkv},
      {"bq", &Inputs::bq},
      {"bk", &Inputs::bk},
      {"bv", &Inputs::bv},
      {"bo", &Inputs::bo},
      {"bqkv", &Inputs::bqkv},
      {"mask", &Inputs::mask},
      {"key_padding", &Inputs::key_padding},
      {"lengths", &Inputs::lengths},
      {"past_k", &Inputs::past_k},
      {"past_v", &Inputs::past_v},
      {"sinks", &Inputs::sinks},
      {"q_norm", &Inputs::q_norm},
      {"k_norm", &Inputs::k_norm},
      {"position", &Inputs::position}};
  return inputs.*slots.at(name);
}

GoldenStage stage_of(const json& row, const std::vector<double>& numbers, std::size_t sampled,
                     std::uint64_t tag) {
  GoldenStage stage;
  stage.id = row[0];
  stage.shape = row[1].get<Shape>();
  stage.shown = row[2].get<Shape>();
  std::size_t next = row[3];
  for (double* number :
       {&stage.sum, &stage.size_sum, &stage.mixed_sum, &stage.worst_error, &stage.summed_error})
    *number = numbers.at(next++);
  stage.neg_inf = row[4][0];
  stage.nan = row[4][1];
  stage.fills = row[4][2];
  stage.zeros = row[4][3];
  stage.tag = tag;
  const std::size_t count = element_count(stage.shape);
  for (std::size_t n = 0; n < std::min(count, sampled); ++n) {
    stage.at.push_back(count <= sampled ? n : hashed(tag + 1, n) % count);
    stage.values.push_back(numbers.at(next++));
  }
  return stage;
}

bool is_plain_number(double x) { return std::isfinite(x) && std::abs(x) < 1e8; }

/// Infinities, NaN and fills must be met exactly; the lowest number is that of the type.
template <class T>
bool is_near(T got, double want, double allowed) {
  if (std::isnan(want)) return std::isnan(got);
  if (want == std::numeric_limits<double>::lowest()) return got == std::numeric_limits<T>::lowest();
  if (!is_plain_number(want)) return static_cast<double>(got) == want;
  return std::abs(static_cast<double>(got) - want) <= allowed;
}

}  // namespace

std::uint32_t hashed(std::uint64_t tag, std::uint64_t n) {
  auto bits = static_cast<std::uint32_t>(n * 2654435761u + tag * 2246822519u);
  bits = (bits ^ (bits >> 15)) * 3266489917u;
  bits = (bits ^ (bits >> 15)) * 668265263u;
  return bits ^ (bits >> 16);
}

double hashed_value(std::uint64_t tag, std::uint64_t n) {
  return (static_cast<double>(hashed(tag, n) >> 20) - 2048.0) / 1024.0;
}

GoldenCase golden_case(const json& entry) {
  GoldenCase golden;
  golden.name = entry["name"];
  for (const auto& [setting, value] : entry["settings"].items())
    set(golden.settings, setting, value);
  for (const auto& [input, recipe] : entry["inputs"].items())
    slot(golden.inputs, input) = input_of(recipe, input);
  return golden;
}

std::vector<GoldenCase> golden_cases(const std::string& name) {
  const std::string path = std::string(QKV_TEST_DATA) + "/golden/" + name;
  std::ifstream file(path + ".json");
  const json document = json::parse(file);
  const std::vector<double> numbers = npy_numbers(path + ".npy");
  std::vector<GoldenCase> cases;
  for (const json& entry : document["cases"]) {
    GoldenCase golden = golden_case(entry);
    const std::uint64_t tag = 64 * cases.size();
    for (const json& row : entry["stages"])
      golden.stages.push_back(
          stage_of(row, numbers, document["sampled"], tag + 2 * golden.stages.size()));
    for (const json& row : entry["present"])
      golden.present.push_back(
          stage_of(row, numbers, document["sampled"], tag + 32 + 2 * golden.present.size()));
    cases.push_back(std::move(golden));
  }
  return cases;
}

template <class T>
std::string mismatch(const Tensor<T, 4>& got, const GoldenStage& want) {
  std::ostringstream wrong;
  wrong.precision(17);
  if (got.shape() != want.shape) {
    wrong << "shape " << shape_text(got.shape()) << ", expected " << shape_text(want.shape);
    return wrong.str();
  }
  // The bounds are first order in epsilon and count a whole one where rounding costs a half; below
  // the smallest normal number, precision ends.
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double tiny = static_cast<double>(std::numeric_limits<T>::min());
  const double allowed = eps * want.worst_error + tiny;
  for (std::size_t n = 0; n < want.at.size(); ++n) {
    const T value = got.data()[want.at[n]];
    if (is_near(value, want.values[n], allowed)) continue;
    wrong << "element " << want.at[n] << " of " << shape_text(want.shape) << " is " << value
          << ", expected " << want.values[n] << " within " << allowed << "; ";
    break;
  }
  double sum = 0, size_sum = 0, mixed_sum = 0;
  std::size_t neg_inf = 0, nan = 0, fills = 0, zeros = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const auto value = static_cast<double>(got.data()[n]);
    if (std::isnan(value))
      ++nan;
    else if (std::isinf(value))
      ++neg_inf;  // +Inf is never expected, so either way the count is off
    else if (!is_plain_number(value))
      ++fills;
    else {
      if (value == 0) ++zeros;
      sum += value;
      size_sum += std::abs(value);
      mixed_sum += value * hashed_value(want.tag, n);
    }
  }
  const auto count = [&](const char* what, std::size_t is, std::size_t should) {
    if (is != should) wrong << is << " " << what << ", expected " << should << "; ";
  };
  count("infinite", neg_inf, want.neg_inf);
  count("NaN", nan, want.nan);
  count("fills", fills, want.fills);
  // Hidden keys weigh exactly 0. In float, a visible key far below the maximum may underflow as
  // well.
  if (want.id == "attn" && (sizeof(T) == sizeof(double) || zeros < want.zeros))
    count("zeros", zeros, want.zeros);
  // Adding up here costs at most an epsilon of double per term; weights of the mixed sum are
  // below 2.
  const double sum_allowed =
      eps * want.summed_error + static_cast<double>(got.size()) * (tiny + 0x1p-52 * want.size_sum);
  const auto near = [&](const char* what, double is, double should, double off) {
    if (!(std::abs(is - should) <= off))
      wrong << what << " is " << is << ", expected " << should << " within " << off << "; ";
  };
  near("sum", sum, want.sum, sum_allowed);
  near("sum of sizes", size_sum, want.size_sum, sum_allowed);
  near("mixed sum", mixed_sum, want.mixed_sum, 2 * sum_allowed);
  return wrong.str();
}

template std::string mismatch(const Tensor<float, 4>&, const GoldenStage&);
template std::string mismatch(const Tensor<double, 4>&, const GoldenStage&);

}  // namespace qkv::test
