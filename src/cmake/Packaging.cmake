# What is installed, and what CPack packs. Two components: `program` (what users run and read), `development` (the
# library, its headers and its CMake package).
include(CMakePackageConfigHelpers)

# The shells' completions are made by the program from its own options.
set(completion_files)
foreach(shell IN ITEMS bash zsh fish)
  set(completion_file ${PROJECT_BINARY_DIR}/completions/qkv.${shell})
  add_custom_command(OUTPUT ${completion_file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/completions
    COMMAND qkv completions ${shell} > ${completion_file}
    DEPENDS qkv VERBATIM
    COMMENT "Making the completions for ${shell}")
  list(APPEND completion_files ${completion_file})
endforeach()
add_custom_target(qkv_completions ALL DEPENDS ${completion_files})

install(TARGETS qkv RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(FILES man/qkv.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/completions/qkv.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME qkv COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/completions/qkv.zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _qkv COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/completions/qkv.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)

set(qkv_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
set_target_properties(qkv_core PROPERTIES OUTPUT_NAME qkv EXPORT_NAME core)
install(TARGETS qkv_core EXPORT qkvTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/qkv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN *.hpp)
install(EXPORT qkvTargets NAMESPACE qkv:: DESTINATION ${qkv_package_dir} COMPONENT development)
configure_package_config_file(src/cmake/qkvConfig.cmake.in ${PROJECT_BINARY_DIR}/qkvConfig.cmake
  INSTALL_DESTINATION ${qkv_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/qkvConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/qkvConfig.cmake ${PROJECT_BINARY_DIR}/qkvConfigVersion.cmake
  src/cmake/FindOpenBLASStatic.cmake DESTINATION ${qkv_package_dir} COMPONENT development)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_VENDOR qkv)
set(CPACK_PACKAGE_CONTACT "qkv maintainers <qkv@example.org>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_IGNORE_FILES "/\\.git/;/\\.git$;/build/;/out/;/\\.cache/")
set(CPACK_STRIP_FILES ON)

# Debian: a package with the program, and one for developers.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/src/cmake/DebianLayout.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attention on .npy tensors, with every number inside it")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME qkv)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "qkv computes scaled dot-product attention from tensors in files, step by step,
and shows shape, range and health of every intermediate result: queries, keys,
values, scores, mask, softmax weights and output.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libqkv-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libopenblas-pthread-dev, libpng-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "The library behind qkv, for developers: static archive, headers and CMake package.")
include(CPack)
