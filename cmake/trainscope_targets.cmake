# How Trainscope's own targets are made: one static library a folder, all with the same warnings.

# A compiler cache, where there is one and the compiler is one that it knows.
find_program(TRAINSCOPE_CCACHE ccache)
if(TRAINSCOPE_CCACHE AND NOT EMSCRIPTEN AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It takes a precompiled header for what it is only when told so.
  set(launcher env CCACHE_SLOPPINESS=pch_defines,time_macros ${TRAINSCOPE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(trainscope_flags INTERFACE)
target_compile_options(trainscope_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Lets ccache see through a precompiled header.
  target_compile_options(trainscope_flags INTERFACE -fpch-preprocess)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlaps inside "text" + std::string that cannot happen (its bug 105651), and of
  # strings of negative length (105329).
  target_compile_options(trainscope_flags INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
                         -Wno-array-bounds -Wno-free-nonheap-object)
endif()
if(TRAINSCOPE_SANITIZE)
  # Tests run with intercept_tls_get_addr=0: until GCC 13 the leak checker takes thread-local memory
  # of a library loaded at run time for that of an old glibc, reads a wrong length before it, and dies
  # ("Tracer caught signal 11"; github.com/google/sanitizers/issues/1322).
  add_compile_options(-fsanitize=${TRAINSCOPE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TRAINSCOPE_SANITIZE})
endif()

if(TRAINSCOPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TRAINSCOPE_FUZZ needs Clang: CXX=clang++-19 cmake --preset fuzz")
  endif()
  # The fuzzer sees into the TOML parser only where it is compiled here. Its unicode tables end in
  # an "unreachable" that bytes which are no UTF-8 reach and nothing depends on.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=unreachable)
  add_compile_definitions(FMT_HEADER_ONLY NDEBUG)
endif()

# What most files include, parsed once a target rather than once a file: two thirds of what a small
# file takes. A file still includes what it uses: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows that it does.
set(TRAINSCOPE_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <fmt/format.h>
    <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <variant>
    <vector>)

# trainscope_precompile(TARGET headers...): the common headers and those named, precompiled for it.
function(trainscope_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR EMSCRIPTEN)
    target_precompile_headers(${target} PRIVATE ${ARGN} ${TRAINSCOPE_COMMON_HEADERS})
  endif()
endfunction()

# trainscope_library(NAME LINK targets... [WITHOUT folders...]): the library trainscope_NAME from src/NAME/*.cpp and
# the folders in it, but for those named.
function(trainscope_library name)
  cmake_parse_arguments(arg "" "" "LINK;WITHOUT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp
       ${CMAKE_SOURCE_DIR}/src/${name}/*/*.cpp)
  foreach(folder ${arg_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "/src/${name}/${folder}/")
  endforeach()
  if(sources)
    add_library(trainscope_${name} STATIC ${sources})
    target_include_directories(trainscope_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(trainscope_${name} PUBLIC ${arg_LINK} PRIVATE trainscope_flags)
    trainscope_precompile(trainscope_${name} <toml++/toml.h>)
  else()
    add_library(trainscope_${name} INTERFACE)
    target_include_directories(trainscope_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(trainscope_${name} INTERFACE ${arg_LINK})
  endif()
endfunction()

# trainscope_tests(NAME LINK targets...): the program tests_NAME from tests/NAME/*_test.cpp.
function(trainscope_tests name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(tests_${name} ${sources})
  target_include_directories(tests_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(tests_${name} PRIVATE trainscope_test_main ${arg_LINK} trainscope_flags)
  target_precompile_headers(tests_${name} REUSE_FROM trainscope_test_main)
  add_test(NAME ${name} COMMAND tests_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()
