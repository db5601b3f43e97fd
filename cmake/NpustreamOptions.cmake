# How our own code is compiled: the same flags for every target, set through the interface library npustream_options.
option(NPUSTREAM_BUILD_TESTS "Build the tests" ON)
option(NPUSTREAM_FUZZ "Build the targets of tests/fuzz for libFuzzer (needs clang)" OFF)
set(NPUSTREAM_SANITIZE "" CACHE STRING "Sanitizers for all of our code: empty, address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Asserts guard against our own bugs and cost nothing that shows; debug information of line tables keeps links short.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/static")
# Programs and libraries find each other wherever the folder is moved to.
set(CMAKE_BUILD_RPATH "\$ORIGIN/../lib;\$ORIGIN;\$ORIGIN/..")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_program(NPUSTREAM_CCACHE ccache)
if(NPUSTREAM_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${NPUSTREAM_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NPUSTREAM_CCACHE}")
endif()

add_library(npustream_options INTERFACE)
target_compile_features(npustream_options INTERFACE cxx_std_20)
target_compile_options(npustream_options INTERFACE -Wall -Wextra -Werror -fno-math-errno)
target_include_directories(npustream_options INTERFACE "${CMAKE_SOURCE_DIR}")
if(NPUSTREAM_SANITIZE)
  # GCC's data-flow warnings see ghosts in instrumented code (std::optional of a vector, for one); the other presets have them.
  target_compile_options(npustream_options INTERFACE
    -fsanitize=${NPUSTREAM_SANITIZE} -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
  target_link_options(npustream_options INTERFACE -fsanitize=${NPUSTREAM_SANITIZE})
  # Undefined behaviour ends a test instead of a line that nobody reads.
  if(NPUSTREAM_SANITIZE MATCHES undefined)
    target_compile_options(npustream_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
if(NPUSTREAM_FUZZ)
  # Coverage counters in all of our code; only the targets get libFuzzer's main. Clang's warnings are not the build's.
  target_compile_options(npustream_options INTERFACE -fsanitize=fuzzer-no-link -Wno-error)
  target_link_options(npustream_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_program(NPUSTREAM_MOLD mold)
if(NPUSTREAM_MOLD)
  target_link_options(npustream_options INTERFACE -fuse-ld=mold)
endif()
