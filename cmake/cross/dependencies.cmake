# What dependencies.cmake finds elsewhere, for a system other than the one that builds. Libraries of headers alone are
# those of Debian's packages, seen through a folder of links, since /usr/include is full of headers that are for the
# system that builds; the others are compiled along (sources.txt).
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)
set(headers ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(name fmt CLI nlohmann toml++ stb catch2 eigen3/Eigen)
  file(GLOB found /usr/include/${name} /usr/include/*-linux-gnu/${name})
  if(NOT found)
    message(FATAL_ERROR "The headers ${name} are missing; tools/install-packages installs them.")
  endif()
  list(GET found 0 found)
  get_filename_component(link ${name} NAME)
  file(CREATE_LINK ${found} ${headers}/${link} SYMBOLIC)
endforeach()

find_package(Threads REQUIRED)

# trainscope_headers(NAME [DEFINITION...]): a target of headers alone.
function(trainscope_headers name)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} SYSTEM INTERFACE ${headers})
  target_compile_definitions(${name} INTERFACE ${ARGN})
endfunction()
trainscope_headers(fmt::fmt FMT_HEADER_ONLY)
trainscope_headers(nlohmann_json::nlohmann_json)
trainscope_headers(CLI11::CLI11)
trainscope_headers(Catch2::Catch2)
trainscope_headers(Eigen3::Eigen)

# trainscope_compiled(NAME ALIAS FOLDER FILES...): a library of others' sources; its headers are in the folder.
function(trainscope_compiled name alias folder)
  list(TRANSFORM ARGN PREPEND ${folder}/)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} SYSTEM PUBLIC ${folder})
  target_compile_options(${name} PRIVATE -w)
  add_library(${alias} ALIAS ${name})
endfunction()

trainscope_source(zlib zlib)
trainscope_compiled(cross_zlib ZLIB::ZLIB ${zlib} adler32.c compress.c crc32.c deflate.c gzclose.c gzlib.c gzread.c
                    gzwrite.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c)
if(UNIX)
  target_compile_definitions(cross_zlib PUBLIC Z_HAVE_UNISTD_H)  # what its configure finds out
endif()
trainscope_source(simdjson simdjson)
trainscope_compiled(cross_simdjson simdjson::simdjson ${simdjson}/singleheader simdjson.cpp)
# Once rather than in each file that includes it.
file(CONFIGURE OUTPUT ${headers}/tomlplusplus.cpp CONTENT "#define TOML_IMPLEMENTATION\n#include <toml++/toml.h>\n")
trainscope_compiled(cross_tomlplusplus tomlplusplus::tomlplusplus ${headers} tomlplusplus.cpp)
target_compile_definitions(cross_tomlplusplus PUBLIC TOML_HEADER_ONLY=0)
