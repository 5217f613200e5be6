// .safetensors: types, offsets and the lies that a header can tell.
#include "io/safetensors.hpp"

#include <catch2/catch.hpp>

#include "files.hpp"

using namespace qkv;
using namespace qkv::io_test;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes += static_cast<char>(std::uint64_t{header.size()} >> (8 * i) & 0xff);
  }
  return bytes + header + data;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

std::string error_of_file(const std::string& header, const std::string& data) {
  return error_of_bytes(file_of(header, data), "x.safetensors");
}

}  // namespace

TEST_CASE("safetensors: every element type is read with its values") {
  const std::string file = data_file("weights.safetensors");
  const auto [name, dtype] = GENERATE(table<std::string, DType>({{"F64", DType::float64},
                                                                 {"F32", DType::float32},
                                                                 {"F16", DType::float16},
                                                                 {"BF16", DType::bfloat16},
                                                                 {"I64", DType::int64},
                                                                 {"I32", DType::int32},
                                                                 {"I16", DType::int16},
                                                                 {"I8", DType::int8},
                                                                 {"U8", DType::uint8},
                                                                 {"U16", DType::uint16},
                                                                 {"U32", DType::uint32},
                                                                 {"U64", DType::uint64}}));
  CAPTURE(name);
  const Array array = read(file + ":" + name);
  CHECK(array.dtype == dtype);
  CHECK(array.shape == Shape{2, 3});
  CHECK(values(array) == counted(6));
  CHECK(values(read(file + ":BOOL")) == std::vector<double>(6, 1.0));
}

TEST_CASE("safetensors: scalars, empty tensors and names with brackets are read") {
  const std::string file = data_file("weights.safetensors");
  CHECK(read(file + ":scalar").shape.empty());
  CHECK(values(read(file + ":scalar")) == std::vector<double>{5});
  CHECK(read(file + ":empty").shape == Shape{0, 4});
  CHECK(values(read(file + ":layers[0]")) == counted(3));
  CHECK(values(read(file + ":layers[0][1]")) == std::vector<double>{4});
  CHECK(values(read(file + ":F32[1]")) == std::vector<double>{10, 13, 16});
}

TEST_CASE("safetensors: a tensor is used where it lies in the mapped file") {
  const Bytes bytes = open_bytes(data_file("weights.safetensors"));
  const Array array = safetensors_read(bytes, "F32", "x");
  CHECK(array.data > bytes.data);
  CHECK(array.data < bytes.data + bytes.size);
}

TEST_CASE("safetensors: metadata is no tensor") {
  const std::string file = data_file("weights.safetensors");
  for (const std::string& name : tensor_names(file)) CHECK(name != "__metadata__");
  CHECK_THAT(read_error(file + ":__metadata__"), StartsWith("no such tensor"));
}

TEST_CASE("safetensors: an unknown element type is refused by name") {
  const std::string file = data_file("weights.safetensors");
  CHECK_THAT(read_error(file + ":float8"),
             Equals("element type that qkv does not read (" + file +
                    ":float8): expected F64, F32, F16, BF16, I64, I32, I16, I8, U8, U16, U32, U64 "
                    "or BOOL, got F8_E4M3"));
}

TEST_CASE("safetensors: a missing name lists ten of those there are, the likeliest first") {
  std::string header = "{";
  for (int i = 0; i < 30; ++i) {
    header += (i == 0 ? "" : ",") + ("\"model.layers." + std::to_string(i)) +
              R"(.q_proj.weight":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  const std::string error = [&] {
    const Folder folder;
    const std::string file = put(folder / "x.safetensors", file_of(header + "}", ""));
    return read_error(file + ":layers.7.q_proj");
  }();
  CHECK(error.find("expected model.layers.7.q_proj.weight, ") != std::string::npos);
  CHECK(error.find(" or one of 20 others") != std::string::npos);
}

TEST_CASE("safetensors: without a name the only tensor is taken") {
  const Folder folder;
  const std::string file =
      put(folder / "x.safetensors", file_of(entry("F32", "[2]", "[0,8]"), raw<float>({1, 2})));
  CHECK(values(read(file)) == std::vector<double>{1, 2});
  CHECK_THAT(read_error(data_file("weights.safetensors")), StartsWith("which tensor of the file?"));
}

TEST_CASE("safetensors: offsets, shape and file must agree") {
  const std::string data = raw<float>({1, 2});
  CHECK(error_of_file(entry("F32", "[2]", "[0,8]"), data).empty());
  CHECK_THAT(error_of_file(entry("F32", "[3]", "[0,8]"), data),
             Equals("shape and data_offsets disagree (x.safetensors:a): expected 12 bytes for "
                    "float32 (3), got 8"));
  CHECK_THAT(error_of_file(entry("F32", "[2]", "[0,8]"), data.substr(1)),
             Equals("truncated .safetensors (x.safetensors): expected 8 bytes of data, as the "
                    "header says, got 7"));
  CHECK_THAT(error_of_file(entry("F32", "[2]", "[0,8]"), data + "x"),
             Equals("trailing bytes in .safetensors (x.safetensors): expected 8 bytes of data, as "
                    "the header says, got 9"));
  for (const char* offsets : {"[8,0]", "[0]", "[-8,0]", "[0,8.5]", "[0,1e300]", "[0,\"8\"]", "8"}) {
    CAPTURE(offsets);
    CHECK_THAT(error_of_file(entry("F32", "[2]", offsets), data),
               Equals("malformed entry in the .safetensors header (x.safetensors:a): expected "
                      "data_offsets [begin, end] in whole bytes"));
  }
  CHECK_THAT(error_of_file(entry("F32", "[-2]", "[0,8]"), data),
             Equals("malformed entry in the .safetensors header (x.safetensors:a): expected a "
                    "shape of whole numbers"));
  CHECK_THAT(error_of_file(entry("F32", "[9007199254740992,2048]", "[0,8]"), data),
             Equals("absurd shape (x.safetensors:a): expected less than 2^63 bytes, got float32 "
                    "(9007199254740992,2048)"));
  CHECK_THAT(error_of_file(R"({"a":[1]})", data), StartsWith("malformed entry"));
  CHECK_THAT(error_of_file(R"([1])", data), StartsWith("malformed entry"));
}

TEST_CASE("safetensors: a header length beyond the file or beyond reason is refused") {
  const auto of = [](const std::string& bytes) { return error_of_bytes(bytes, "x.safetensors"); };
  CHECK_THAT(of({"\x00\x01\0\0\0\0\0\0{", 9}),
             Equals("truncated .safetensors (x.safetensors): expected 256 bytes of header, got 1"));
  CHECK_THAT(of({"\xff\xff\xff\xff\xff\xff\xff\x7f{", 9}),
             Equals("not a .safetensors file (x.safetensors): expected a header length of at most "
                    "100000000 bytes at its start, got the bytes ff ff ff ff ff ff ff 7f"));
  CHECK_THAT(of("{}"), Equals("truncated .safetensors (x.safetensors): expected 8 bytes of header "
                              "length, got 2"));
  CHECK_THAT(
      of("version https://git-lfs.github.com/spec/v1\n"),
      Equals("not a .safetensors file (x.safetensors): expected a header length of at most "
             "100000000 bytes at its start, got text: a git-lfs pointer | the file itself is "
             "in the large-file store: git lfs pull"));
}

TEST_CASE("safetensors: a header that is no JSON is refused with line and column") {
  CHECK_THAT(error_of_file("{\"a\":}", ""),
             StartsWith("not JSON (x.safetensors, line 1, column 6)"));
  CHECK_THAT(error_of_file("{\"a\":1,\"a\":2}", ""),
             Equals("not JSON: the key \"a\" comes twice (x.safetensors)"));
  CHECK_THAT(error_of_file("{\"a\":" + std::string(100'000, '['), ""),
             Equals("JSON is nested too deeply (x.safetensors): expected at most 256 levels"));
}
