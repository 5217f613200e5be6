# Installs, looks for every kind of file, then configures, builds and runs consumer/ against the installed package.
file(REMOVE_RECURSE ${SCRATCH})
set(prefix "${SCRATCH}/a prefix")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${prefix})

foreach(wanted IN ITEMS bin/qkv share/man/man1/qkv.1 share/bash-completion/completions/qkv
    share/zsh/site-functions/_qkv share/fish/vendor_completions.d/qkv.fish
    share/doc/qkv/copyright share/doc/qkv/examples/first-trace/cmd
    include/qkv/attention/pipeline.hpp lib*/libqkv.a lib*/cmake/qkv/qkvConfig.cmake)
  file(GLOB found "${prefix}/${wanted}")
  if(NOT found)
    message(FATAL_ERROR "not installed: ${wanted}")
  endif()
  list(GET found 0 file)
  file(SIZE "${file}" size)
  if(size EQUAL 0)
    message(FATAL_ERROR "installed, but empty: ${wanted}")
  endif()
endforeach()

run(${prefix}/bin/qkv --version)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${SCRATCH}/consumer -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${CXX_FLAGS})
run(${CMAKE_COMMAND} --build ${SCRATCH}/consumer)
run(${SCRATCH}/consumer/consumer)
file(REMOVE_RECURSE ${SCRATCH})
