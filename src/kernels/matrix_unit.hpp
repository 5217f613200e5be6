// The CPU's matrix unit for bfloat16: whether this process may use it.
#pragma once

#include <string>

namespace qkv {

/// Unusable ones say why, in the words of an error's "got".
struct MatrixUnit {
  bool usable = false;
  std::string lacks = {};
};

/// AMX-BF16. The first call asks the operating system for it, for all threads of the process.
///
/// source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter on
///         programming with AMX (detection); Linux, Documentation/x86/xstate.rst (the request)
const MatrixUnit& matrix_unit();

}  // namespace qkv
