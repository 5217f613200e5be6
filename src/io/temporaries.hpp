// Temporary files that must not outlive the process, however it ends.
#pragma once

#include <string>

namespace qkv {

/// From here on, a signal that ends the process (an interrupt, a hang-up, a broken pipe ...) first
/// removes `path`. Signals that are ignored or handled by somebody else stay so. Call it before the
/// file is made.
void remember_temporary(const std::string& path);

/// The file has been renamed or removed: signals leave `path` alone again.
void forget_temporary(const std::string& path) noexcept;

/// Ends the process as a broken pipe does, quietly and without temporary files left.
[[noreturn]] void end_by_broken_pipe() noexcept;

}  // namespace qkv
