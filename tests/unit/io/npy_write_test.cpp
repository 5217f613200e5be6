// Writing .npy: the bytes that NumPy writes.
#include <catch2/catch.hpp>
#include <filesystem>

#include "files.hpp"
#include "qkv/io/write.hpp"

using namespace qkv;
using namespace qkv::io_test;

TEST_CASE("write: every type, order and shape gives the bytes that NumPy saved") {
  const std::string name = GENERATE(
      "bool.npy", "int8.npy", "int16.npy", "int32.npy", "int64.npy", "uint8.npy", "uint16.npy",
      "uint32.npy", "uint64.npy", "float16.npy", "bfloat16.npy", "float32.npy", "float64.npy",
      "scalar.npy", "empty_0x4.npy", "empty_2x0x3.npy", "row.npy", "rank4.npy", "special.npy");
  CAPTURE(name);
  const Folder folder;
  const std::string path = folder / "out.npy";
  write_npy(path, read(data_file(name)));
  CHECK(contents(path) == contents(data_file(name)));
}

TEST_CASE("write: elements that come in pieces make the file that NumPy saved") {
  const Folder folder;
  const std::string path = folder / "out.npy";
  const Array whole = read(data_file("float32.npy"));
  NpyWriter file(path, whole.dtype, whole.shape);
  const std::size_t count = element_count(whole.shape);
  file.write(whole.data, 1);
  file.write(whole.data + 4, count - 1);
  CHECK(!std::filesystem::exists(path));
  file.commit();
  CHECK(contents(path) == contents(data_file("float32.npy")));
}

TEST_CASE("write: Fortran order and swapped bytes come out in C order, little endian") {
  const Folder folder;
  const std::string path = folder / "out.npy";
  write_npy(path, read(data_file("big_endian.npy")));
  CHECK(contents(path) == contents(data_file("float64.npy")));
  write_npy(path, read(data_file("big_endian_fortran.npy")));
  CHECK(contents(path) == contents(data_file("int16.npy")));
  write_npy(path, read(data_file("version_3.npy")));
  CHECK(contents(path) == contents(data_file("float32.npy")));
}

TEST_CASE("write: headers are NumPy's at every length around the multiples of 64") {
  // The shapes of header_shapes() in tests/data/make_npy.py, each followed by zeros.
  std::vector<Shape> shapes;
  for (std::size_t rank = 0; rank < 33; ++rank) shapes.emplace_back(rank, 1);
  std::size_t power = 1;
  for (int digits = 1; digits < 19; ++digits, power *= 10) {
    shapes.push_back({0, power});
    shapes.push_back({power, 0});
  }
  std::string all;
  for (const Shape& shape : shapes) {
    all += npy_header(DType::float64, shape) + std::string(8 * element_count(shape), '\0');
  }
  CHECK(all == contents(data_file("headers.npys")));
}

TEST_CASE("write: a header too long for version 1.0 takes version 2.0") {
  const std::string header = npy_header(DType::float32, Shape(30'000, 1));
  CHECK(header.size() % 64 == 0);
  CHECK(header.substr(0, 8) == std::string("\x93NUMPY\x02\0", 8));
  CHECK(header.back() == '\n');
}

TEST_CASE("write: a large strided array is written in blocks with every element in its place") {
  // (3,700,401) floats are 3.2 MiB: more than a block, and one item of axis 0 is as well.
  const Array array = floats({3, 700, 401});
  const Array turned = transposed(array, {2, 0, 1});
  const Folder folder;
  const std::string path = folder / "out.npy";
  write_npy(path, turned);
  const Array back = read(path);
  CHECK(back.shape == Shape{401, 3, 700});
  CHECK(is_plain(back));
  CHECK(values(back) == values(turned));
  CHECK(values(back)[1] == 3.0 * 401 + 1);
  write_npy(path, transposed(floats({2, 300'000}), {1, 0}));
  CHECK(values(read(path))[1] == 3.0 * 300'000 + 1);
}
