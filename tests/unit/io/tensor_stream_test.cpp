// Standard input: arrays back to back, each read with no byte more.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "files.hpp"

using namespace qkv;
using namespace qkv::io_test;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

namespace {

/// A pipe into which another thread writes `bytes`, `at_once` at a time.
class Piped {
 public:
  explicit Piped(std::string bytes, std::size_t at_once = 1 << 16) {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
    writer_ = std::thread([this, bytes = std::move(bytes), at_once] {
      for (std::size_t at = 0; at < bytes.size(); at += at_once) {
        if (::write(ends_[1], bytes.data() + at, std::min(at_once, bytes.size() - at)) < 0) break;
      }
      ::close(ends_[1]);
    });
  }
  ~Piped() {
    std::string rest(1 << 16, '\0');
    while (::read(ends_[0], rest.data(), rest.size()) > 0) {
    }
    writer_.join();
    ::close(ends_[0]);
  }
  Piped(const Piped&) = delete;
  Piped& operator=(const Piped&) = delete;
  int end() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
  std::thread writer_;
};

std::string error_of_stream(const std::string& bytes, int arrays_before = 0) {
  const Piped pipe(bytes);
  TensorStream stream(pipe.end());
  for (int i = 0; i < arrays_before; ++i) stream.next();
  return error_of([&] { stream.next(); });
}

std::string npy(const std::string& name) { return contents(data_file(name)); }

}  // namespace

TEST_CASE("stream: the n-th '-' is the n-th array, whatever the types and orders before it") {
  const Piped pipe(npy("float32.npy") + npy("fortran.npy") + npy("scalar.npy") +
                   npy("empty_0x4.npy") + npy("big_endian.npy") + npy("version_2.npy"));
  TensorStream stream(pipe.end());
  CHECK(values(read_tensor("-", stream)) == counted(6));
  CHECK(values(read_tensor("-", stream)) == counted(24));
  CHECK(values(read_tensor("-", stream)) == std::vector<double>{5});
  CHECK(read_tensor("-", stream).shape == Shape{0, 4});
  CHECK(values(read_tensor("-[1,::2]", stream)) == std::vector<double>{10, 16});
  CHECK(values(read_tensor("-", stream)) == counted(6));
  CHECK(stream.arrays_read() == 6);
}

TEST_CASE("stream: no byte is read beyond the array") {
  const Piped pipe(npy("float32.npy") + "the rest");
  TensorStream stream(pipe.end());
  stream.next();
  char rest[9] = {};
  std::size_t got = 0;
  while (got < 8) {
    const ssize_t more = ::read(pipe.end(), rest + got, 8 - got);
    REQUIRE(more > 0);
    got += static_cast<std::size_t>(more);
  }
  CHECK(std::string(rest) == "the rest");
}

TEST_CASE("stream: bytes that trickle in one at a time make the same array") {
  const Piped pipe(npy("float32.npy") + npy("row.npy"), 1);
  TensorStream stream(pipe.end());
  CHECK(values(stream.next()) == counted(6));
  CHECK(values(stream.next()) == counted(5));
}

TEST_CASE("stream: a non-blocking descriptor is waited for") {
  const Piped pipe(npy("float32.npy"), 7);
  ::fcntl(pipe.end(), F_SETFL, O_NONBLOCK);
  TensorStream stream(pipe.end());
  CHECK(values(stream.next()) == counted(6));
  ::fcntl(pipe.end(), F_SETFL, 0);
}

TEST_CASE("stream: an end before or within an array is an error that counts them") {
  CHECK_THAT(error_of_stream(""),
             Equals("standard input is empty (-): expected a .npy array for each '-'"));
  const std::string one = npy("float32.npy");
  CHECK_THAT(error_of_stream(one, 1),
             Equals("standard input ended (-): expected a .npy array for each '-', got 1 array"));
  CHECK_THAT(error_of_stream(one + one.substr(0, 150), 1),
             Equals("truncated .npy (standard input, array 2): expected 24 bytes of data for "
                    "float32 (2,3), got 22"));
  CHECK_THAT(error_of_stream(one.substr(0, 9)),
             Equals("truncated .npy (standard input, array 1): expected 10 bytes of magic, version "
                    "and length, got 9"));
  CHECK_THAT(error_of_stream(one.substr(0, 100)),
             Equals("truncated .npy (standard input, array 1): expected 118 bytes of header, got "
                    "90"));
  CHECK_THAT(error_of_stream(one + "\n", 1),
             Equals("not a .npy file (standard input, array 2): expected \\x93NUMPY as its first "
                    "bytes, got text, beginning ''"));
}

TEST_CASE("stream: an archive on standard input is told where it is read") {
  CHECK_THAT(error_of_stream(npy("stored.npz")),
             Equals("not a .npy file (standard input, array 1): expected \\x93NUMPY as its first "
                    "bytes, got a zip archive | a .npz on standard input is read as "
                    "/dev/stdin:NAME"));
}

TEST_CASE("stream: a claim of terabytes costs only what really comes") {
  CHECK_THAT(error_of_stream(npy_bytes(dict("<f8", "(1099511627776,)"), "12345678")),
             Equals("truncated .npy (standard input, array 1): expected 8796093022208 bytes of "
                    "data for float64 (1099511627776), got 8"));
}

TEST_CASE("stream: a descriptor that cannot be read is an error") {
  TensorStream closed(-1);
  CHECK_THAT(error_of([&] { closed.next(); }),
             Equals("cannot read: bad file descriptor (standard input, array 1)"));
  const int folder = ::open("/", O_RDONLY);
  TensorStream directory(folder);
  CHECK_THAT(error_of([&] { directory.next(); }),
             Equals("cannot read: is a directory (standard input, array 1)"));
  ::close(folder);
}

TEST_CASE("stream: arrays that NumPy saved one behind another are all read") {
  const int file = ::open(data_file("headers.npys").c_str(), O_RDONLY);
  TensorStream stream(file);
  for (int i = 0; i < 33 + 36; ++i) CHECK(stream.next().dtype == DType::float64);
  CHECK_THAT(error_of([&] { stream.next(); }), StartsWith("standard input ended"));
  ::close(file);
}
