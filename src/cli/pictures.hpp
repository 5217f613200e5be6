// Pictures: the files that --svg, --png and --html name.
#pragma once

#include <string>
#include <vector>

namespace qkv::cli {

struct PictureFiles {
  std::string svg, png, html;  ///< "" for none, "-" for standard output
  bool any() const { return !svg.empty() || !png.empty() || !html.empty(); }
  /// Those that are named, in this order.
  std::vector<std::string> names() const;
};

/// throws  Error: several results would go to standard output (`json` is one), two to one file, or
///         one over a file that was read
void require_separate(const PictureFiles& files, bool json, const std::vector<std::string>& inputs);

struct Picture {
  std::string file;
  std::string bytes;
};

/// Writes all, then gives each its name: where one cannot be written, none appears.
/// throws  Error as OutputFile does
void write_pictures(const std::vector<Picture>& pictures);

}  // namespace qkv::cli
