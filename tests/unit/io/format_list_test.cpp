// What must hold for every format in the list.
#include <catch2/catch.hpp>

#include "files.hpp"

using namespace qkv;
using namespace qkv::io_test;

namespace {

struct Sample {
  std::string file;
  std::string member;
};

/// A file of each format, by its suffix.
std::vector<Sample> samples() {
  return {{"float64.npy", ""},
          {"fortran.npy", ""},
          {"stored.npz", "f"},
          {"zip64.npz", "f"},
          {"weights.safetensors", "F64"}};
}

const Format* format_of(const Sample& sample) {
  for (const Format& format : format_list()) {
    if (sample.file.ends_with(format.suffix)) return &format;
  }
  return nullptr;
}

/// A copy of exactly these bytes, so that a sanitizer sees a read behind them.
Bytes exact(const std::string& text) {
  auto memory = std::make_shared<std::vector<std::byte>>(text.size());
  if (!text.empty()) std::memcpy(memory->data(), text.data(), text.size());
  return {.data = memory->data(), .size = memory->size(), .owner = memory};
}

}  // namespace

TEST_CASE("formats: each has a sample here, which it recognises, and no other format does") {
  for (const Format& format : format_list()) {
    bool sampled = false;
    for (const Sample& sample : samples()) {
      const bool own = sample.file.ends_with(format.suffix);
      sampled = sampled || own;
      CAPTURE(format.name, sample.file);
      CHECK(format.sniff(exact(contents(data_file(sample.file)))) == own);
    }
    CHECK(sampled);
  }
}

TEST_CASE("formats: every truncation of a file is an error, never a wrong array or a crash") {
  for (const Sample& sample : samples()) {
    const Format* format = format_of(sample);
    REQUIRE(format != nullptr);
    const std::string whole = contents(data_file(sample.file));
    CHECK(!format->read(exact(whole), sample.member, "x").shape.empty());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(sample.file, size);
      CHECK(error_of([&] { format->read(exact(whole.substr(0, size)), sample.member, "x"); }) !=
            "");
    }
  }
}

TEST_CASE("formats: a flipped bit gives an error or an array of the file's own bytes") {
  for (const Sample& sample : samples()) {
    const Format* format = format_of(sample);
    const std::string whole = contents(data_file(sample.file));
    for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 3) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      try {
        const Array array = format->read(exact(bytes), sample.member, "x");
        CHECK(values(array).size() <= whole.size());
      } catch (const Error&) {
      }
    }
  }
}
