// .npz: stored members are used where they lie, deflated ones are unpacked.
#include "io/npz.hpp"

#include <algorithm>
#include <unordered_set>

#include "io/names.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::string_view suffix = ".npy";

/// The arrays are the members that end in .npy, called without it; as for NumPy, of two members
/// with one name the last counts.
std::vector<std::string> array_names(const std::vector<ZipMember>& members) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (const ZipMember& member : members) {
    std::string_view name = member.name;
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    if (seen.insert(name).second) names.emplace_back(name);
  }
  return names;
}

const ZipMember* find(const std::vector<ZipMember>& members, std::string_view name) {
  const auto named = std::find_if(members.rbegin(), members.rend(),
                                  [&](const ZipMember& member) { return member.name == name; });
  return named == members.rend() ? nullptr : &*named;
}

}  // namespace

bool npz_sniff(const Bytes& bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data), bytes.size);
  return start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06");
}

std::vector<std::string> npz_members(const Bytes& bytes, const std::string& where) {
  return array_names(zip_members(bytes, where));
}

Array npz_read(const Bytes& bytes, std::string_view member, const std::string& where) {
  const std::vector<ZipMember> members = zip_members(bytes, where);
  const std::vector<std::string> names = array_names(members);
  if (names.empty() && std::any_of(members.begin(), members.end(), [](const ZipMember& each) {
        return each.name.ends_with("/data.pkl");
      })) {
    throw Error(Complaint{.what = "a PyTorch checkpoint, whose pickle is never loaded",
                          .where = where,
                          .expected = "a .npz of arrays",
                          .hint = "save its tensors as .safetensors or .npz"});
  }
  const std::string name(member.empty() ? only_tensor(names, where) : member);
  const ZipMember* found = find(members, name);
  if (found == nullptr) found = find(members, name + std::string(suffix));
  if (found == nullptr) no_such_tensor(name, names, where);

  const std::string full_name = where + ":" + escaped(name);
  const Bytes data = zip_data(bytes, *found, full_name);
  // The CRC of a stored member is left alone: reading all of a file to use a part of it, or only
  // its shape, is what mapping is there to save.
  if (found->method == 0) return npy_read(data, "", full_name);
  std::optional<Array> array =
      npy_read_next(zip_inflate(data, *found, full_name), found->size, full_name);
  if (!array) throw Error(Complaint{.what = "empty member", .where = full_name});
  return std::move(*array);
}

}  // namespace qkv
