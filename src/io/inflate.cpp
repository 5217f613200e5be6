// Unpacking a deflated zip member as its bytes are asked for.
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "io/zip.hpp"
#include "qkv/base/error.hpp"

namespace qkv {

namespace {

/// zlib's state with its counts of 32 bits fed from sizes of 64.
class Inflater {
 public:
  Inflater(Bytes packed, const ZipMember& member, std::string where)
      : packed_(std::move(packed)),
        crc_wanted_(member.crc),
        left_(member.size),
        where_(std::move(where)) {
    constexpr int raw_deflate = -MAX_WBITS;
    if (inflateInit2(&stream_, raw_deflate) != Z_OK) {
      throw Error(Complaint{.what = "out of memory for unpacking", .where = where_});
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t take(std::byte* into, std::size_t most) {
    const std::size_t wanted = std::min(most, left_);
    if (unpack(into, wanted) < wanted) damaged("it ends before its declared size");
    left_ -= wanted;
    if (left_ == 0 && !checked_) check_end();
    return wanted;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(Complaint{.what = "damaged member of a zip archive: " + what, .where = where_});
  }

  /// Unpacks up to `most` bytes; fewer only at the end of the packed stream.
  std::size_t unpack(std::byte* into, std::size_t most) {
    constexpr std::size_t largest = std::size_t{1} << 30;
    std::size_t size = 0;
    while (size < most && !ended_) {
      const std::size_t room = std::min(most - size, largest);
      const std::size_t offered = std::min(packed_.size - used_, largest);
      // zlib reads through next_in only; its type lacks the const.
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed_.data + used_));
      stream_.avail_in = static_cast<uInt>(offered);
      stream_.next_out = reinterpret_cast<Bytef*>(into + size);
      stream_.avail_out = static_cast<uInt>(room);
      const int outcome = inflate(&stream_, Z_NO_FLUSH);
      used_ += offered - stream_.avail_in;
      const std::size_t got = room - stream_.avail_out;
      crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(into + size), got);
      size += got;
      if (outcome == Z_STREAM_END) {
        ended_ = true;
      } else if (outcome == Z_MEM_ERROR) {
        throw Error(Complaint{.what = "out of memory for unpacking", .where = where_});
      } else if (outcome != Z_OK || (got == 0 && stream_.avail_in == offered)) {
        damaged("its deflated data is no such data, or cut off");
      }
    }
    return size;
  }

  void check_end() {
    checked_ = true;
    std::byte more{};
    if (unpack(&more, 1) != 0) damaged("it is longer than its declared size");
    if (crc_ != crc_wanted_) damaged("its CRC differs from that of its data");
  }

  z_stream stream_ = {};
  Bytes packed_;
  std::size_t used_ = 0;  ///< bytes of packed_
  bool ended_ = false;
  uLong crc_ = 0;  ///< of what was unpacked so far
  std::uint32_t crc_wanted_;
  std::size_t left_;  ///< declared bytes that are not unpacked yet
  bool checked_ = false;
  std::string where_;
};

}  // namespace

Take zip_inflate(const Bytes& packed, const ZipMember& member, const std::string& where) {
  const auto inflater = std::make_shared<Inflater>(packed, member, where);
  return [inflater](std::byte* into, std::size_t most) { return inflater->take(into, most); };
}

}  // namespace qkv
