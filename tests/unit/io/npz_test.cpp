// .npz archives as NumPy and Python's zipfile write them, and hostile ones.
#include "io/npz.hpp"

#include <zlib.h>

#include <catch2/catch.hpp>

#include "files.hpp"

using namespace qkv;
using namespace qkv::io_test;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

namespace {

std::string little(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

/// What an archive of one member says of it; the truth unless a test changes it.
struct Member {
  std::string name = "a.npy";
  std::string packed = {};
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
};

std::string archive_of(const Member& member) {
  const std::string common = little(member.flags, 2) + little(member.method, 2) + little(0, 4) +
                             little(member.crc, 4) + little(member.packed.size(), 4) +
                             little(member.size, 4) + little(member.name.size(), 2);
  const std::string local = "PK\x03\x04" + little(20, 2) + common + little(0, 2) + member.name;
  const std::string entry = "PK\x01\x02" + little(20, 2) + little(20, 2) + common + little(0, 2) +
                            little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                            little(0, 4) + member.name;
  return local + member.packed + entry + "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) +
         little(entry.size(), 4) + little(local.size() + member.packed.size(), 4) + little(0, 2);
}

std::string deflated(const std::string& data) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, data.size()), '\0');
  std::string input = data;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Member deflated_member(const std::string& npy) {
  return {.packed = deflated(npy),
          .method = 8,
          .crc = static_cast<std::uint32_t>(
              crc32(0, reinterpret_cast<const Bytef*>(npy.data()), static_cast<uInt>(npy.size()))),
          .size = npy.size()};
}

std::string npz_error(const Member& member) { return error_of_bytes(archive_of(member), "x.npz"); }

}  // namespace

TEST_CASE("npz: stored, deflated, streamed and zip64 archives give the same arrays") {
  const std::string file =
      data_file(GENERATE("stored.npz", "deflated.npz", "piped.npz", "zip64.npz"));
  CAPTURE(file);
  CHECK(tensor_names(file) == std::vector<std::string>{"q", "deep/k", "f"});
  const Array q = read(file + ":q");
  CHECK(q.dtype == DType::float32);
  CHECK(q.shape == Shape{2, 3});
  CHECK(values(q) == counted(6));
  CHECK(values(read(file + ":q.npy")) == counted(6));
  CHECK(values(read(file + ":deep/k")) == counted(4));
  const Array f = read(file + ":f");
  CHECK(f.fortran_order);
  CHECK(values(f) == counted(6));
  CHECK(values(read(file + ":q[1,:2]")) == std::vector<double>{10, 13});
}

TEST_CASE("npz: a stored member is used where it lies in the mapped file") {
  const Bytes bytes = open_bytes(data_file("stored.npz"));
  const Array array = npz_read(bytes, "q", "x.npz");
  CHECK(array.data > bytes.data);
  CHECK(array.data < bytes.data + bytes.size);
}

TEST_CASE("npz: without a name the only array is taken, and other members do not count") {
  CHECK(values(read(data_file("one.npz"))) == counted(6));
  CHECK(tensor_names(data_file("one.npz")) == std::vector<std::string>{"only"});
  const std::string file = data_file("stored.npz");
  CHECK_THAT(read_error(file), Equals("which tensor of the file? (" + file + "): expected " + file +
                                      ":NAME with the name q, deep/k or f, got no name"));
}

TEST_CASE("npz: a missing member lists those there are and names the nearest") {
  const std::string file = data_file("stored.npz");
  CHECK_THAT(read_error(file + ":deep/q"),
             Equals("no such tensor (" + file +
                    ":deep/q): expected q, deep/k or f | did you mean deep/k?"));
  CHECK_THAT(read_error(data_file("one.npz:note.txt")), StartsWith("not a .npy file"));
}

TEST_CASE("npz: a directory whose numbers are all in the zip64 record is followed there") {
  std::string bytes = contents(data_file("zip64.npz"));
  bytes.replace(bytes.size() - 14, 12, std::string(12, '\xff'));
  const Folder folder;
  CHECK(values(read(put(folder / "x.npz", bytes) + ":q")) == counted(6));
}

TEST_CASE("npz: an archive with a comment is still found") {
  std::string bytes = contents(data_file("stored.npz"));
  bytes.replace(bytes.size() - 2, 2, little(5, 2) + "hello");
  const Folder folder;
  CHECK(values(read(put(folder / "x.npz", bytes) + ":q")) == counted(6));
}

TEST_CASE("npz: other compressions and encryption are refused by name") {
  const std::string file = data_file("bzip2.npz");
  CHECK_THAT(read_error(file + ":q"),
             Equals("compression that qkv does not read (" + file +
                    ":q): expected stored (method 0) or deflated (8), as NumPy writes, got method "
                    "12"));
  const std::string npy = npy_bytes(dict("<f4", "(1,)"), raw<float>({1}));
  CHECK_THAT(npz_error({.packed = npy, .flags = 1, .size = npy.size()}),
             Equals("encrypted member of a zip archive (x.npz:a)"));
}

TEST_CASE("npz: a member whose declared size is a lie is refused before it is unpacked") {
  const std::string npy = npy_bytes(dict("<f4", "(2,)"), raw<float>({1, 2}));
  const Member right = deflated_member(npy);
  CHECK(npz_error(right).empty());

  Member wrong = right;
  wrong.size = npy.size() + 4;
  CHECK_THAT(npz_error(wrong), Equals("header and declared size disagree (x.npz:a): expected 8 "
                                      "bytes of data for float32 (2), got 12"));
  wrong.size = 20;
  CHECK_THAT(npz_error(wrong), StartsWith("damaged member of a zip archive: it is longer"));
  wrong.size = 0;
  CHECK_THAT(npz_error(wrong), StartsWith("damaged member of a zip archive: it is longer"));
  // A header that asks for 4 TiB, of which the archive holds nothing.
  CHECK_THAT(npz_error(deflated_member(npy_bytes(dict("<f4", "(1099511627776,)"), ""))),
             Equals("header and declared size disagree (x.npz:a): expected 4398046511104 bytes of "
                    "data for float32 (1099511627776), got 0"));
  Member stored{.packed = npy, .size = npy.size() + 1};
  CHECK_THAT(npz_error(stored), StartsWith("damaged zip archive: a stored member has two sizes"));
}

TEST_CASE("npz: a bomb is unpacked no further than its header allows") {
  // 64 MiB of zeros in 64 KiB, declared as the 4 bytes that the header asks for.
  const std::string start = npy_bytes(dict("<f4", "(1,)"), "");
  Member bomb = deflated_member(start + std::string(std::size_t{64} << 20, '\0'));
  bomb.size = start.size() + 4;
  CHECK_THAT(npz_error(bomb),
             Equals("damaged member of a zip archive: it is longer than its declared size "
                    "(x.npz:a)"));
}

TEST_CASE("npz: damaged deflated data and a wrong CRC are errors") {
  const std::string npy = npy_bytes(dict("<f4", "(2,)"), raw<float>({1, 2}));
  Member crc = deflated_member(npy);
  crc.crc ^= 1;
  CHECK_THAT(npz_error(crc), StartsWith("damaged member of a zip archive: its CRC differs"));
  Member cut = deflated_member(npy);
  cut.packed.resize(cut.packed.size() - 6);
  CHECK_THAT(npz_error(cut), StartsWith("damaged member of a zip archive"));
  Member noise = deflated_member(npy);
  noise.packed.assign(noise.packed.size(), '\xff');
  CHECK_THAT(npz_error(noise), StartsWith("damaged member of a zip archive: its deflated data"));
}

TEST_CASE("npz: a file that is no archive, cut off, or a PyTorch checkpoint says so") {
  CHECK_THAT(error_of_bytes("hello\n", "x.npz"),
             Equals("not a zip archive, which .npz is (x.npz): expected PK as its first bytes, got "
                    "text, beginning 'hello'"));
  const std::string whole = contents(data_file("stored.npz"));
  CHECK_THAT(error_of_bytes(whole.substr(0, 500), "x.npz"),
             Equals("truncated zip archive (x.npz): expected a directory of its members at its "
                    "end, got none in 500 B"));
  CHECK_THAT(npz_error({.name = "model/data.pkl", .packed = "x", .size = 1}),
             StartsWith("a PyTorch checkpoint, whose pickle is never loaded (x.npz)"));
  CHECK_THAT(error_of_bytes(std::string("PK\x05\x06") + std::string(18, '\0'), "x.npz"),
             Equals("the file holds no tensor (x.npz)"));
}

TEST_CASE("npz: offsets that point outside of the archive are refused") {
  const std::string npy = npy_bytes(dict("<f4", "(1,)"), raw<float>({1}));
  const std::string whole = archive_of({.packed = npy, .size = npy.size()});
  const std::size_t end = whole.size() - 22;
  for (const std::size_t at : {end + 12, end + 16, end - 5 - 4, end - 5 - 26}) {
    std::string bytes = whole;
    bytes.replace(at, 4, "\xf0\xff\xff\x7f");
    CAPTURE(at);
    CHECK_THAT(error_of_bytes(bytes, "x.npz"), StartsWith("damaged zip archive"));
  }
}
