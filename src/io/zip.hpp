// zip archives, as far as .npz needs them: the central directory, stored and deflated members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/take.hpp"
#include "qkv/io/format.hpp"

namespace qkv {

struct ZipMember {
  std::string name = {};
  std::uint16_t flags = 0;
  std::uint16_t method = 0;     ///< 0 stored, 8 deflated
  std::uint32_t crc = 0;        ///< of the bytes before compression
  std::size_t packed_size = 0;  ///< in the archive
  std::size_t size = 0;         ///< before compression, as declared
  std::size_t header_at = 0;    ///< of the member's own header, checked by zip_data()
};

/// The members as the central directory at the end of the archive lists them, zip64 included.
///
/// throws  Error: no zip archive, cut off, a directory that points outside of it
std::vector<ZipMember> zip_members(const Bytes& bytes, const std::string& where);

/// The member's bytes as they lie in the archive.
///
/// throws  Error: outside of the archive, encrypted, neither stored nor deflated
Bytes zip_data(const Bytes& bytes, const ZipMember& member, const std::string& where);

/// Unpacks the bytes of a deflated member one after another. After the last of `member.size` bytes
/// the CRC is compared.
///
/// throws  Error (from Take): damaged data, more or fewer bytes than declared, another CRC
Take zip_inflate(const Bytes& packed, const ZipMember& member, const std::string& where);

}  // namespace qkv
