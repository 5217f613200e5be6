// The dict in an .npy header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#include <array>
#include <bit>
#include <cctype>
#include <optional>

#include "io/data_size.hpp"
#include "io/npy.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

struct Code {
  std::string_view code;  ///< kind and bytes, as in '<f4'
  DType dtype;
};

constexpr std::array<Code, 13> codes{{{"b1", DType::boolean},
                                      {"i1", DType::int8},
                                      {"i2", DType::int16},
                                      {"i4", DType::int32},
                                      {"i8", DType::int64},
                                      {"u1", DType::uint8},
                                      {"u2", DType::uint16},
                                      {"u4", DType::uint32},
                                      {"u8", DType::uint64},
                                      {"f2", DType::float16},
                                      {"f4", DType::float32},
                                      {"f8", DType::float64},
                                      // NumPy has no code for bfloat16: ml_dtypes saves it as two
                                      // opaque bytes.
                                      {"V2", DType::bfloat16}}};

/// What the kinds that qkv does not read hold, in the words of their users.
std::string_view meaning_of(std::string_view code) {
  if (code.empty()) return "no type";
  if (code == "f1") return "an 8-bit float";
  switch (code.front()) {
    case 'f':
      return "an extended float";
    case 'c':
      return "complex numbers";
    case 'S':
    case 'a':
    case 'U':
      return "text";
    case 'M':
    case 'm':
      return "dates or durations";
    case 'V':
      return "opaque bytes";
    default:
      return "an unknown type";
  }
}

/// A reader of the few Python literals that a header is made of.
class Literals {
 public:
  Literals(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader header();

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const std::string_view rest = text_.substr(at_);
    throw Error(Complaint{.what = "malformed .npy header",
                          .where = where_,
                          .expected = expected,
                          .got = rest.empty() ? "its end" : "'" + escaped(rest, 40) + "'"});
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool next_is(char letter) {
    skip_space();
    return at_ < text_.size() && text_[at_] == letter;
  }
  bool accept(char letter) {
    if (!next_is(letter)) return false;
    ++at_;
    return true;
  }
  void require(char letter) {
    if (!accept(letter)) fail(std::string("'") + letter + "'");
  }
  std::string_view word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return text_.substr(start, at_ - start);
  }

  std::string_view quoted(const std::string& expected);
  std::size_t axis();
  void read_descr(NpyHeader& header);
  void read_order(NpyHeader& header);
  void read_shape(NpyHeader& header);

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// 'text' or "text"; Python 2 may have written u'text'.
std::string_view Literals::quoted(const std::string& expected) {
  skip_space();
  if (at_ + 1 < text_.size() && (text_[at_] == 'u' || text_[at_] == 'b') &&
      (text_[at_ + 1] == '\'' || text_[at_ + 1] == '"')) {
    ++at_;
  }
  if (!next_is('\'') && !next_is('"')) fail(expected);
  const std::size_t end = text_.find(text_[at_], at_ + 1);
  if (end == std::string_view::npos) fail("a quoted text that ends");
  const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return text;
}

void Literals::read_descr(NpyHeader& header) {
  const auto refuse = [&](const std::string& got, const std::string& hint) {
    throw Error(Complaint{.what = "element type that qkv does not read",
                          .where = where_,
                          .expected = "bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
                                      "float32 or float64",
                          .got = got,
                          .hint = hint});
  };
  if (next_is('[') || next_is('(') || next_is('{')) {
    refuse("a structured type", "save each field as an array of its own");
  }
  const std::string_view descr = quoted("the element type, such as '<f4'");
  std::string_view code = descr;
  char order = '=';
  if (!code.empty() && std::string_view("<>=|").find(code.front()) != std::string_view::npos) {
    order = code.front();
    code.remove_prefix(1);
  }
  std::optional<DType> dtype;
  for (const Code& known : codes) {
    if (code == known.code || descr == name(known.dtype)) dtype = known.dtype;
  }
  if (!dtype) {
    if (code.starts_with('O') || descr == "object") {
      refuse("'" + escaped(descr) + "' (Python objects)",
             "objects are pickled programs, not numbers, and are never loaded: save an array of "
             "numbers");
    }
    refuse("'" + escaped(descr) + "' (" + std::string(meaning_of(code)) + ")", "");
  }
  header.dtype = *dtype;
  // '=' and '|' promise no order: the bytes are taken as this machine's, as NumPy takes them.
  const bool little = std::endian::native == std::endian::little;
  header.swapped = size_of(*dtype) > 1 && ((order == '>' && little) || (order == '<' && !little));
}

void Literals::read_order(NpyHeader& header) {
  const std::size_t start = at_;
  const std::string_view value = word();
  if (value != "True" && value != "False") {
    at_ = start;
    fail("True or False for fortran_order");
  }
  header.fortran_order = value == "True";
}

/// One size; Python 2 wrote long ones as 2L.
std::size_t Literals::axis() {
  skip_space();
  constexpr std::size_t largest = ~std::size_t{0} >> 1;
  const std::size_t start = at_;
  std::size_t value = 0;
  for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    const auto digit = static_cast<std::size_t>(text_[at_] - '0');
    if (value > (largest - digit) / 10) {
      at_ = start;
      fail("an axis below 2^63");
    }
    value = value * 10 + digit;
  }
  if (at_ == start) fail("a size, 0 or more, for each axis");
  if (at_ < text_.size() && (text_[at_] == 'L' || text_[at_] == 'l')) ++at_;
  return value;
}

void Literals::read_shape(NpyHeader& header) {
  if (!accept('(')) fail("a shape such as (2, 3)");
  bool comma = true;
  while (!accept(')')) {
    if (!comma) fail("',' or ')' in the shape");
    header.shape.push_back(axis());
    comma = accept(',');
  }
  if (header.shape.size() == 1 && !comma) {
    fail("a tuple: ',' before the ')' of a shape with one axis");
  }
}

NpyHeader Literals::header() {
  NpyHeader header;
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  require('{');
  bool comma = true;
  while (!accept('}')) {
    if (!comma) fail("',' or '}'");
    const std::size_t start = at_;
    const std::string_view key = quoted("a quoted key");
    bool* seen = key == "descr"           ? &has_descr
                 : key == "fortran_order" ? &has_order
                 : key == "shape"         ? &has_shape
                                          : nullptr;
    if (seen == nullptr || *seen) {
      at_ = start;
      fail("each of descr, fortran_order and shape once");
    }
    *seen = true;
    require(':');
    if (seen == &has_descr) read_descr(header);
    if (seen == &has_order) read_order(header);
    if (seen == &has_shape) read_shape(header);
    comma = accept(',');
  }
  skip_space();
  if (at_ < text_.size()) fail("nothing behind the dict");
  if (!has_descr) fail("the key descr");
  if (!has_order) fail("the key fortran_order");
  if (!has_shape) fail("the key shape");
  return header;
}

}  // namespace

NpyHeader parse_npy_dict(std::string_view dict, const std::string& where) {
  NpyHeader header = Literals(dict, where).header();
  header.data_bytes = checked_data_bytes(header.dtype, header.shape, where);
  return header;
}

}  // namespace qkv
