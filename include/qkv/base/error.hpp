// Error: what is wrong, where, what was expected and what came instead.
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace qkv {

/// One thing that is wrong with the input, in the parts that the error line shows.
struct Complaint {
  std::string what;           ///< lower case, no full stop: "head width differs from q"
  std::string where = {};     ///< flag or file, axis and symbol: "k.npy, axis 3, D"
  std::string expected = {};  ///< and what set it: "64 as in q.npy (2,8,16,64)"
  std::string got = {};       ///< "16 in (2,8,64,16)"
  std::string hint = {};      ///< a way out, only where it is honest
};

/// "WHAT (WHERE): expected ..., got ..." on one line, without the hint.
std::string text(const Complaint& complaint);

/// qkv cannot go on. Thrown low, caught once in main, which prints each complaint and exits with 2.
class Error : public std::exception {
 public:
  explicit Error(Complaint complaint);
  explicit Error(std::vector<Complaint> complaints);

  const std::vector<Complaint>& complaints() const noexcept { return complaints_; }
  const char* what() const noexcept override { return first_line_.c_str(); }

 private:
  std::vector<Complaint> complaints_;
  std::string first_line_;
};

/// Gathers complaints so that one run can name every bad input.
class Complaints {
 public:
  void add(Complaint complaint) { complaints_.push_back(std::move(complaint)); }
  /// Runs a step that may throw Error and keeps what it complains of.
  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const Error& error) {
      for (const Complaint& complaint : error.complaints()) complaints_.push_back(complaint);
    }
  }
  bool empty() const { return complaints_.empty(); }
  /// throws  Error with everything gathered, if anything was
  void throw_if_any() const {
    if (!complaints_.empty()) throw Error(complaints_);
  }

 private:
  std::vector<Complaint> complaints_;
};

}  // namespace qkv
