// Tensor arguments: which file, which tensor, which part; and files that cannot be opened.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "files.hpp"

using namespace qkv;
using namespace qkv::io_test;
using Catch::Matchers::Equals;

namespace {

/// Root may read and write everything, so the tests of permissions become nobody.
class AsNobody {
 public:
  AsNobody() : changed_(::geteuid() == 0 && ::seteuid(65534) == 0) {}
  ~AsNobody() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool changed_;
};

}  // namespace

TEST_CASE("read: a regular file is mapped, its elements are not copied") {
  const Bytes bytes = open_bytes(data_file("float32.npy"));
  CHECK(bytes.size == 152);
  CHECK(reinterpret_cast<std::uintptr_t>(bytes.data) % 4096 == 0);
  const Array array = read(data_file("float32.npy"));
  CHECK(reinterpret_cast<std::uintptr_t>(array.data) % 4096 == 128);
}

TEST_CASE("read: the elements outlive the file's name and its change by replacement") {
  const Folder folder;
  const std::string path = put(folder / "x.npy", contents(data_file("float32.npy")));
  const Array array = read(path);
  std::filesystem::remove(path);
  put(path, "something else");
  CHECK(values(array) == counted(6));
}

TEST_CASE("read: elements that lie at odd addresses are read all the same") {
  const Folder folder;
  const std::string odd = dict("<f4", "(3,)");
  for (std::size_t shift = 0; shift < 4; ++shift) {
    const std::string bytes = npy_bytes(odd + std::string(shift, ' '), raw<float>({1, 4, 7}));
    CHECK(values(read(put(folder / "x.npy", bytes))) == counted(3));
  }
}

TEST_CASE("read: a part in brackets is NumPy's") {
  const std::string file = data_file("rank4.npy");
  CHECK(read(file + "[1]").shape == Shape{3, 4, 5});
  CHECK(values(read(file + "[1,2,3,4]")) == std::vector<double>{3 * 119 + 1});
  CHECK(values(read(file + "[0,-1,0,::-2]")) == std::vector<double>{133, 127, 121});
  CHECK_THAT(read_error(file + "[5,0]"),
             Equals("index out of bounds (" + file + "[5,0], axis 0): expected -2..1, got 5"));
}

TEST_CASE("read: a name that holds a colon or a bracket is opened where such a file exists") {
  const Folder folder;
  const std::string bytes = contents(data_file("float32.npy"));
  for (const char* name : {"a:b.npy", "x[1].npy", "x[1]", "b:c"}) {
    CAPTURE(name);
    CHECK(values(read(put(folder / name, bytes))) == counted(6));
  }
  CHECK(values(read(folder / "x[1].npy[0,1]")) == std::vector<double>{4});
  CHECK(values(read(folder / "a:b.npy[1,0]")) == std::vector<double>{10});
  const std::string archive = put(folder / "a:b.npz", contents(data_file("stored.npz")));
  CHECK(values(read(archive + ":q")) == counted(6));
}

TEST_CASE("read: the first bytes choose the format, not the suffix") {
  const Folder folder;
  CHECK(values(read(put(folder / "x.npz", contents(data_file("float32.npy"))))) == counted(6));
  CHECK(values(read(put(folder / "x", contents(data_file("stored.npz"))) + ":q")) == counted(6));
}

TEST_CASE("read: a name for the only array of a .npy is an error") {
  const std::string file = data_file("float32.npy");
  CHECK_THAT(read_error(file + ":q"),
             Equals("a .npy file holds one array, which has no name (" + file + ":q)"));
}

TEST_CASE("read: a missing file names the nearest one in its folder") {
  const Folder folder;
  put(folder / "attn.npy", "x");
  put(folder / "keys.npy", "x");
  const std::string in = folder / "";
  CHECK_THAT(read_error(folder / "atn.npy"),
             Equals("no such file (" + in + "atn.npy) | did you mean " + in + "attn.npy?"));
  CHECK_THAT(read_error(folder / "attn"),
             Equals("no such file (" + in + "attn) | did you mean " + in + "attn.npy?"));
  CHECK_THAT(read_error(folder / "values.npy"), Equals("no such file (" + in + "values.npy)"));
  CHECK_THAT(read_error(folder / "no/q.npy"),
             Equals("no such file (" + in + "no/q.npy) | there is no folder " + in + "no"));
  CHECK_THAT(read_error(folder / "w.npz:q"), Equals("no such file (" + in + "w.npz)"));
}

TEST_CASE("read: brackets that are no one pair at the end are explained") {
  const std::string file = data_file("rank4.npy");
  for (const char* part : {"[0,:8", "[0][1]"}) {
    CHECK_THAT(read_error(file + part),
               Equals("not an index (" + file + part +
                      "): expected one pair of brackets at the end, such as [0,3,:8]"));
  }
}

TEST_CASE("read: directories, empty files and files that may not be read are errors that say so") {
  const Folder folder;
  CHECK_THAT(read_error(folder.path()),
             Equals("a directory where a file should be (" + folder.path() + ")"));
  const std::string empty = put(folder / "empty.npy", "");
  CHECK_THAT(read_error(empty), Equals("empty file (" + empty + ")"));
  const std::string secret = put(folder / "secret.npy", "x");
  ::chmod(folder.path().c_str(), 0755);
  ::chmod(secret.c_str(), 0);
  const AsNobody nobody;
  CHECK_THAT(read_error(secret), Equals("not permitted to read (" + secret + ")"));
}

TEST_CASE("read: control bytes in a file's name do not reach the terminal") {
  CHECK_THAT(read_error("\x1b[2J/x.npy"),
             Equals("no such file (\\x1b[2J/x.npy) | there is no folder \\x1b[2J"));
}

TEST_CASE("read: a FIFO is read from its start to its end") {
  const Folder folder;
  const std::string fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  // More than the first block of memory, so that it grows.
  const std::vector<double> wanted = counted(400'000);
  const std::string bytes = npy_bytes(dict("<f8", "(400000,)"), raw(wanted));
  std::thread writer([&] { put(fifo, bytes); });
  const Array array = read(fifo);
  writer.join();
  CHECK(values(array) == wanted);
}

TEST_CASE("read: files whose size reads as 0 are read, not taken for empty ones") {
  if (!has_proc()) return;
  CHECK(open_bytes("/proc/self/status").size > 0);
}
