# Run by CPack between staging and packing: moves files to where Debian's policy has them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(staged ${CPACK_TEMPORARY_DIRECTORY})
file(GLOB pages ${staged}/program/usr/share/man/man1/*.1)
foreach(page IN LISTS pages)
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# site-functions is for the administrator's own; zsh as packaged by Debian does not look there under /usr.
if(EXISTS ${staged}/program/usr/share/zsh/site-functions)
  file(RENAME ${staged}/program/usr/share/zsh/site-functions ${staged}/program/usr/share/zsh/vendor-completions)
endif()

file(COPY ${staged}/program/usr/share/doc/qkv/copyright
  DESTINATION ${staged}/development/usr/share/doc/libqkv-dev)
