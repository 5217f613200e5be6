# OpenBLAS as a static archive: OpenBLAS::static.
# The archive starts in under a millisecond where the shared library takes three, and lets the program choose the CPU
# kernel before OpenBLAS looks at the CPU (see src/tensor/blas_kernel.cpp).
find_library(OPENBLAS_STATIC_LIBRARY NAMES libopenblas.a PATH_SUFFIXES openblas-pthread openblas)
find_path(OPENBLAS_INCLUDE_DIR NAMES cblas.h PATH_SUFFIXES openblas-pthread openblas)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASStatic
  REQUIRED_VARS OPENBLAS_STATIC_LIBRARY OPENBLAS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "On Debian: apt-get install libopenblas-dev")
mark_as_advanced(OPENBLAS_STATIC_LIBRARY OPENBLAS_INCLUDE_DIR)
if(OpenBLASStatic_FOUND AND NOT TARGET OpenBLAS::static)
  find_package(Threads REQUIRED)
  add_library(OpenBLAS::static STATIC IMPORTED)
  set_target_properties(OpenBLAS::static PROPERTIES
    IMPORTED_LOCATION "${OPENBLAS_STATIC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OPENBLAS_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
