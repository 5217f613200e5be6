// Labels: read, and fitted to the axes.
#include "cli/labels.hpp"

#include <algorithm>
#include <string_view>

#include "qkv/base/error.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace {

[[noreturn]] void not_tokens(const std::string& where, const std::string& got) {
  throw Error(Complaint{.what = "no tokens",
                        .where = where,
                        .expected = "an object with \"tokens\", a list of texts or of such lists",
                        .got = got});
}

std::vector<std::string> texts_of(const Json& list, const std::string& where) {
  std::vector<std::string> texts;
  for (const Json& item : list.items()) {
    if (item.kind() != Json::Kind::text) not_tokens(where, "an item that is no text");
    texts.push_back(item.text());
  }
  return texts;
}

std::vector<std::vector<std::string>> tokens_of(const Json& document, const std::string& where) {
  if (document.kind() != Json::Kind::object) not_tokens(where, "no object");
  const Json* tokens = document.find("tokens");
  if (tokens == nullptr) not_tokens(where, "an object without it");
  if (tokens->kind() != Json::Kind::array) not_tokens(where, "something else in \"tokens\"");
  const auto& items = tokens->items();
  if (items.empty() || items[0].kind() != Json::Kind::array) return {texts_of(*tokens, where)};
  std::vector<std::vector<std::string>> batch;
  for (const Json& row : items) {
    if (row.kind() != Json::Kind::array) not_tokens(where, "lists and something else");
    batch.push_back(texts_of(row, where));
  }
  // A padded batch: shorter texts end in nothing.
  std::size_t longest = 0;
  for (const auto& row : batch) longest = std::max(longest, row.size());
  for (auto& row : batch) row.resize(longest);
  return batch;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

/// The row of the batch that is shown.
const std::vector<std::string>& row_for(const Matrices& matrices, const Tokens& tokens,
                                        const std::string& flag) {
  if (tokens.batch.size() == 1) return tokens.batch[0];
  const bool fits = matrices.shape.size() == 4 && matrices.shape[0] == tokens.batch.size();
  if (fits) return tokens.batch[0];
  throw Error(
      Complaint{.what = "tokens of several texts",
                .where = flag + " " + escaped(tokens.file, 4096),
                .expected = "the tokens of one text, or a tensor (B,H,L,S) with a row for each",
                .got = std::to_string(tokens.batch.size()) + " texts for " +
                       escaped(matrices.name, 4096) + " " + shape_text(matrices.shape)});
}

[[noreturn]] void wrong_count(const Matrices& matrices, const std::string& flag,
                              const std::string& file, const std::string& expected,
                              std::size_t got) {
  throw Error(Complaint{.what = "labels do not fit",
                        .where = flag + " " + escaped(file, 4096),
                        .expected = expected + " of " + escaped(matrices.name, 4096) + " " +
                                    shape_text(matrices.shape),
                        .got = std::to_string(got)});
}

std::vector<std::string> labels_of_axis(const Matrices& matrices, const std::string& file,
                                        const std::string& flag, const char* axis,
                                        std::size_t count) {
  const Tokens tokens = read_tokens(file, flag);
  const std::vector<std::string>& labels = row_for(matrices, tokens, flag);
  if (labels.size() == count) return labels;
  wrong_count(matrices, flag, file, std::to_string(count) + " for the " + axis, labels.size());
}

}  // namespace

Tokens read_tokens(const std::string& file, const std::string& flag) {
  const std::string where = flag + " " + escaped(file, 4096);
  const Bytes bytes = open_bytes(file == "-" ? "/dev/stdin" : file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data), bytes.size);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool object = first != std::string_view::npos && text[first] == '{';
  // "{" may be a token as well; a file of lines is no JSON as a whole.
  if (file.ends_with(".json") || (object && text.find("\"tokens\"") != std::string_view::npos))
    return {.file = file, .batch = tokens_of(Json::parse(text, where), where)};
  return {.file = file, .batch = {lines_of(text)}};
}

HeatLabels labels_for(const Matrices& matrices, const LabelOptions& options) {
  HeatLabels labels;
  const std::size_t rows = matrices.rows(), columns = matrices.columns();
  if (!options.both.empty()) {
    const Tokens tokens = read_tokens(options.both, "--labels");
    const std::vector<std::string>& texts = row_for(matrices, tokens, "--labels");
    if (texts.size() == rows) labels.rows = texts;
    if (texts.size() == columns) labels.columns = texts;
    if (!labels.any()) {
      const std::string expected = rows == columns
                                       ? std::to_string(rows) + " for rows and columns"
                                       : std::to_string(rows) + " for the rows or " +
                                             std::to_string(columns) + " for the columns";
      wrong_count(matrices, "--labels", options.both, expected, texts.size());
    }
  }
  if (!options.rows.empty())
    labels.rows = labels_of_axis(matrices, options.rows, "--row-labels", "rows", rows);
  if (!options.columns.empty())
    labels.columns =
        labels_of_axis(matrices, options.columns, "--column-labels", "columns", columns);
  return labels;
}

}  // namespace qkv::cli
