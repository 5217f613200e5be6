// .npy as NumPy and others write it, and everything that is no such file.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "files.hpp"

using namespace qkv;
using namespace qkv::io_test;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

TEST_CASE("npy: every element type that NumPy writes is read with its values") {
  const auto [file, dtype] = GENERATE(table<std::string, DType>({{"int8", DType::int8},
                                                                 {"int16", DType::int16},
                                                                 {"int32", DType::int32},
                                                                 {"int64", DType::int64},
                                                                 {"uint8", DType::uint8},
                                                                 {"uint16", DType::uint16},
                                                                 {"uint32", DType::uint32},
                                                                 {"uint64", DType::uint64},
                                                                 {"float16", DType::float16},
                                                                 {"bfloat16", DType::bfloat16},
                                                                 {"float32", DType::float32},
                                                                 {"float64", DType::float64}}));
  CAPTURE(file);
  const Array array = read(data_file(file + ".npy"));
  CHECK(array.dtype == dtype);
  CHECK(array.shape == Shape{2, 3});
  CHECK(values(array) == counted(6));
  CHECK(values(read(data_file("bool.npy"))) == std::vector<double>(6, 1.0));
}

TEST_CASE("npy: Fortran order gives the same elements by strides, without a copy") {
  const Array array = read(data_file("fortran.npy"));
  CHECK(array.shape == Shape{2, 3, 4});
  CHECK(array.fortran_order);
  CHECK(array.strides == std::vector<std::ptrdiff_t>{4, 8, 24});
  CHECK(values(array) == counted(24));
  // The header's shape is the logical one: 1..6 stored by columns.
  CHECK(values_of_bytes(npy_bytes(dict("<f4", "(2,3)", "True"), raw<float>({1, 2, 3, 4, 5, 6}))) ==
        std::vector<double>{1, 3, 5, 2, 4, 6});
}

TEST_CASE("npy: big-endian elements are swapped") {
  CHECK(values_of_bytes(npy_bytes(dict(">f4", "(2,)"), {"\x3f\x80\0\0\x40\0\0\0", 8})) ==
        std::vector<double>{1, 2});
  CHECK(values(read(data_file("big_endian.npy"))) == counted(6));
  CHECK(values(read(data_file("big_endian_fortran.npy"))) == counted(6));
}

TEST_CASE("npy: an element type without a byte order is this machine's") {
  const std::string data = raw<float>({1, -2});
  for (const char* descr : {"f4", "=f4", "<f4", "float32"}) {
    CAPTURE(descr);
    CHECK(values_of_bytes(npy_bytes(dict(descr, "(2,)"), data)) == std::vector<double>{1, -2});
  }
  for (const char* descr : {"i1", "|i1", "<i1", ">i1"}) {
    CAPTURE(descr);
    CHECK(values_of_bytes(npy_bytes(dict(descr, "(2,)"), "\x01\xff")) ==
          std::vector<double>{1, -1});
  }
}

TEST_CASE("npy: versions 2 and 3 have a length of four bytes") {
  CHECK(values(read(data_file("version_2.npy"))) == counted(6));
  CHECK(values(read(data_file("version_3.npy"))) == counted(6));
  const std::string padded = dict("<f4", "(2,3)") + std::string(48, ' ') + "\n";
  CHECK(values_of_bytes(npy_bytes(padded, raw<float>({0, 1, 2, 3, 4, 5}), 2)) ==
        std::vector<double>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("npy: the header may be padded to anything, with a final newline or without") {
  const std::string data = raw<float>({0, 1, 2, 3, 4, 5});
  const std::string bare = dict("<f4", "(2, 3)");
  for (const std::size_t alignment : {1U, 16U, 64U}) {
    for (const std::string end : {"", "\n"}) {
      std::string text = bare;
      while ((10 + text.size() + end.size()) % alignment != 0) text += ' ';
      CAPTURE(alignment, end);
      CHECK(values_of_bytes(npy_bytes(text + end, data)) == std::vector<double>{0, 1, 2, 3, 4, 5});
    }
  }
}

TEST_CASE("npy: keys come in any order, quoted either way, with or without a last comma") {
  const std::string data = raw<std::int16_t>({7, 8});
  for (const char* text : {"{'shape': (2,), 'descr': '<i2', 'fortran_order': False}",
                           "{\"fortran_order\": False, \"shape\": (1, 2,), \"descr\": \"<i2\",}",
                           "{ 'descr' :'<i2','fortran_order':False,'shape':( 2 , ) }",
                           "{u'descr': u'<i2', u'fortran_order': False, u'shape': (2,)}"}) {
    CAPTURE(text);
    CHECK(values_of_bytes(npy_bytes(text, data)) == std::vector<double>{7, 8});
  }
}

TEST_CASE("npy: a size with Python 2's long suffix is that size") {
  CHECK(values_of_bytes(npy_bytes(dict("<f8", "(2L,)"), raw<double>({1, 2}))) ==
        std::vector<double>{1, 2});
  CHECK(values_of_bytes(npy_bytes(dict("<f8", "(2L, 1L)"), raw<double>({1, 2}))) ==
        std::vector<double>{1, 2});
}

TEST_CASE(
    "npy: a size whose digits were grouped is reported as extra data, with the likely cause") {
  const std::string data(2621 * 401, '\x01');
  CHECK_THAT(error_of_bytes(npy_bytes(dict("|u1", "(2,621, 401)"), data)),
             Equals("trailing bytes in .npy (x.npy): expected 498042 bytes of data for uint8 "
                    "(2,621,401), got 1051021 | the size fits (2621,401): was 2621 written with a "
                    "comma between its digits?"));
}

TEST_CASE("npy: a 0-d array has rank 0 and one element") {
  const Array array = read(data_file("scalar.npy"));
  CHECK(array.shape.empty());
  CHECK(values(array) == std::vector<double>{5});
}

TEST_CASE("npy: an array of size zero keeps its shape") {
  CHECK(read(data_file("empty_0x4.npy")).shape == Shape{0, 4});
  CHECK(read(data_file("empty_2x0x3.npy")).shape == Shape{2, 0, 3});
  CHECK(values(read(data_file("empty_0x4.npy"))).empty());
}

TEST_CASE("npy: two opaque bytes, and 'bfloat16', are bfloat16") {
  const std::string bits{"\x80\x3f\0\x40\x40\x40", 6};
  for (const char* descr : {"<V2", "|V2", "bfloat16"}) {
    CAPTURE(descr);
    CHECK(values_of_bytes(npy_bytes(dict(descr, "(3,)"), bits)) == std::vector<double>{1, 2, 3});
  }
}

TEST_CASE("npy: float16 is converted, not reinterpreted") {
  const std::string bits{"\0\x3c\0\xc0\xff\x7b\x01\0\0\x7c", 10};
  CHECK(values_of_bytes(npy_bytes(dict("<f2", "(5,)"), bits)) ==
        std::vector<double>{1, -2, 65504, std::ldexp(1.0, -24),
                            std::numeric_limits<double>::infinity()});
}

TEST_CASE("npy: a bool byte above 1 is true, a one-byte integer is itself") {
  CHECK(values_of_bytes(npy_bytes(dict("|b1", "(3,)"), {"\0\x01\x02", 3})) ==
        std::vector<double>{0, 1, 1});
  CHECK(values_of_bytes(npy_bytes(dict("|u1", "(3,)"), {"\0\x01\xff", 3})) ==
        std::vector<double>{0, 1, 255});
}

TEST_CASE(
    "npy: element types that are no numbers, or no such numbers, are refused by what they are") {
  const auto refused = [](const std::string& descr) {
    const std::string error = error_of_bytes(npy_bytes(
        "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,)}", std::string(64, '\0')));
    const std::string start =
        "element type that qkv does not read (x.npy): expected bool, int8 to int64, uint8 to "
        "uint64, float16, bfloat16, float32 or float64, got ";
    REQUIRE_THAT(error, StartsWith(start));
    return error.substr(start.size());
  };
  CHECK(refused("'|O'") ==
        "'|O' (Python objects) | objects are pickled programs, not numbers, and are never loaded: "
        "save an array of numbers");
  CHECK(refused("'<f1'") == "'<f1' (an 8-bit float)");
  CHECK(refused("'<f16'") == "'<f16' (an extended float)");
  CHECK(refused("'<c8'") == "'<c8' (complex numbers)");
  CHECK(refused("'|S3'") == "'|S3' (text)");
  CHECK(refused("'<U5'") == "'<U5' (text)");
  CHECK(refused("'<M8[ns]'") == "'<M8[ns]' (dates or durations)");
  CHECK(refused("'|V4'") == "'|V4' (opaque bytes)");
  CHECK(refused("'<i16'") == "'<i16' (an unknown type)");
  CHECK(refused("''") == "'' (no type)");
  CHECK(refused("[('a', '<f4'), ('b', '<i4')]") ==
        "a structured type | save each field as an array of its own");
}

TEST_CASE("npy: float64 elements are converted where float32 is wanted") {
  const Array array = read(data_file("float64.npy"));
  std::vector<float> converted(6);
  copy_elements(array, converted.data());
  CHECK(converted == std::vector<float>{1, 4, 7, 10, 13, 16});
}

TEST_CASE("npy: a file that is cut off says how many bytes there should be") {
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f8", "(2,)"), std::string(15, 'x'))),
             Equals("truncated .npy (x.npy): expected 16 bytes of data for float64 (2), got 15"));
  CHECK_THAT(
      error_of_bytes(npy_bytes(dict("<f4", "(128,4)"), std::string(1024, 'x'))),
      Equals("truncated .npy (x.npy): expected 2048 bytes of data for float32 (128,4), got 1024"));
  CHECK_THAT(error_of_bytes("\x93NUM"),
             Equals("truncated .npy (x.npy): expected 8 bytes of magic and version, got 4"));
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f4", "(1,)"), "").substr(0, 40)),
             Equals("truncated .npy (x.npy): expected 57 bytes of header, got 30"));
}

TEST_CASE("npy: bytes behind the array are an error that knows another array") {
  const std::string one = npy_bytes(dict("<f4", "(1,)"), raw<float>({1}));
  CHECK_THAT(error_of_bytes(one + one),
             Equals("trailing bytes in .npy (x.npy): expected 4 bytes of data for float32 (1), got "
                    "75 | another array follows: standard input reads them one by one, as -, - and "
                    "so on"));
  CHECK_THAT(error_of_bytes(one + "\n"),
             Equals("trailing bytes in .npy (x.npy): expected 4 bytes of data for float32 (1), got "
                    "5"));
}

TEST_CASE("npy: lengths and shapes that no file can have are refused before memory is taken") {
  CHECK_THAT(error_of_bytes({"\x93NUMPY\x02\0\xf0\xff\xff\xff", 12}),
             Equals("absurd length of the .npy header (x.npy): expected at most 1048576 bytes, got "
                    "4294967280"));
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f4", "(4294967296, 4294967296)"), "")),
             Equals("absurd shape (x.npy): expected less than 2^63 bytes, got float32 "
                    "(4294967296,4294967296)"));
  // Also where an axis of 0 hides the product: strides are made of it.
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f4", "(0, 4294967296, 4294967296)"), "")),
             StartsWith("absurd shape"));
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f4", "(4611686018427387904,)"), "")),
             StartsWith("absurd shape"));
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f4", "(99999999999999999999,)"), "")),
             StartsWith("malformed .npy header (x.npy): expected an axis below 2^63"));
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f4", many + ")"), raw<float>({1}))),
             Equals("absurd shape (x.npy): expected at most 64 axes, got 65"));
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f8", "(1073741824,)"), "1234")),
             Equals("truncated .npy (x.npy): expected 8589934592 bytes of data for float64 "
                    "(1073741824), got 4"));
}

TEST_CASE("npy: a file that is something else is called by what it is") {
  CHECK_THAT(error_of_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
             Equals("not a .npy file (x.npy): expected \\x93NUMPY as its first bytes, got text: a "
                    "git-lfs pointer | the file itself is in the large-file store: git lfs pull"));
  CHECK_THAT(error_of_bytes("1.0 2.0\n3.0 4.0\n"),
             Equals("not a .npy file (x.npy): expected \\x93NUMPY as its first bytes, got text, "
                    "beginning '1.0 2.0'"));
  CHECK_THAT(error_of_bytes("\x80\x04\x95"),
             StartsWith("not a .npy file (x.npy): expected \\x93NUMPY as its first bytes, got a "
                        "Python pickle | pickles are programs"));
  CHECK_THAT(
      error_of_bytes({"\0\x01\x02", 3}),
      Equals("not a .npy file (x.npy): expected \\x93NUMPY as its first bytes, got the bytes "
             "00 01 02"));
  CHECK_THAT(error_of_bytes("\x89HDF\r\n\x1a\n", "x.bin"),
             Equals("not a tensor file (x.bin): expected .npy, .npz or .safetensors, got an HDF5 "
                    "file | save its arrays as .npy"));
}

TEST_CASE("npy: unknown versions are refused") {
  CHECK_THAT(error_of_bytes(npy_bytes(dict("<f4", "(1,)"), raw<float>({1}), 4)),
             Equals("unknown version of .npy (x.npy): expected 1.0, 2.0 or 3.0, got 4.0"));
  std::string minor = npy_bytes(dict("<f4", "(1,)"), raw<float>({1}));
  minor[7] = 1;
  CHECK_THAT(error_of_bytes(minor), StartsWith("unknown version"));
}

TEST_CASE("npy: a header that is no such dict says what it should have said") {
  const auto header_error = [](const std::string& text) {
    return error_of_bytes(npy_bytes(text, raw<float>({1})));
  };
  const std::string start = "malformed .npy header (x.npy): expected ";
  CHECK(header_error("") == start + "'{', got its end");
  CHECK(header_error("[]") == start + "'{', got '[]'");
  CHECK(header_error("{'descr': '<f4'}") == start + "the key fortran_order, got its end");
  CHECK(header_error("{'fortran_order': False, 'shape': (1,)}") ==
        start + "the key descr, got its end");
  CHECK(header_error("{'descr': '<f4', 'descr': '<f4'}") ==
        start + "each of descr, fortran_order and shape once, got ''descr': '<f4'}'");
  CHECK(header_error("{'descr': '<f4', 'color': 1}") ==
        start + "each of descr, fortran_order and shape once, got ''color': 1}'");
  CHECK(header_error("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}") ==
        start + "True or False for fortran_order, got ' 0, 'shape': (1,)}'");
  CHECK(header_error(dict("<f4", "(-1,)")) ==
        start + "a size, 0 or more, for each axis, got '-1,), }'");
  CHECK(header_error(dict("<f4", "(1)")) ==
        start + "a tuple: ',' before the ')' of a shape with one axis, got ', }'");
  CHECK(header_error(dict("<f4", "1")) == start + "a shape such as (2, 3), got '1, }'");
  CHECK(header_error(dict("<f4", "(1 2)")) == start + "',' or ')' in the shape, got '2), }'");
  CHECK(header_error(dict("<f4", "(1,)") + "x") == start + "nothing behind the dict, got 'x'");
  CHECK(header_error("{'descr': '<f4") == start + "a quoted text that ends, got ''<f4'");
}
