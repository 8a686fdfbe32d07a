# For the browser: what dependencies.cmake finds elsewhere. Libraries of headers alone are those of Debian's packages,
# seen through a folder of links, so that no header of this machine's C library is; the others are compiled from
# Debian's sources, which tools/fetch-web-toolchain lays into the cache.
set(web_headers ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${web_headers})
foreach(name fmt CLI nlohmann toml++ stb eigen3)
  file(GLOB found /usr/include/${name} /usr/include/*-linux-gnu/${name})
  if(NOT found)
    message(FATAL_ERROR "The headers ${name} are missing; tools/install-packages installs them.")
  endif()
  list(GET found 0 found)
  file(CREATE_LINK ${found} ${web_headers}/${name} SYMBOLIC)
endforeach()

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/modules)
find_package(Threads REQUIRED)
function(web_headers_target name)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} SYSTEM INTERFACE ${web_headers})
  target_compile_definitions(${name} INTERFACE ${ARGN})
endfunction()
web_headers_target(fmt::fmt FMT_HEADER_ONLY)
web_headers_target(nlohmann_json::nlohmann_json)
web_headers_target(tomlplusplus::tomlplusplus)
web_headers_target(CLI11::CLI11)
web_headers_target(Eigen3::Eigen)
target_include_directories(Eigen3::Eigen SYSTEM INTERFACE ${web_headers}/eigen3)

# web_library(NAME FOLDER FILES...): a library of others' sources.
function(web_library name folder)
  list(TRANSFORM ARGN PREPEND ${TRAINSCOPE_WEB_SOURCES}/${folder}/)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE -w)
endfunction()

web_library(web_zlib zlib adler32.c compress.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c uncompr.c
            zutil.c)
target_include_directories(web_zlib SYSTEM PUBLIC ${TRAINSCOPE_WEB_SOURCES}/zlib)
add_library(ZLIB::ZLIB ALIAS web_zlib)

web_library(web_simdjson simdjson singleheader/simdjson.cpp)
target_include_directories(web_simdjson SYSTEM PUBLIC ${TRAINSCOPE_WEB_SOURCES}/simdjson/singleheader)
add_library(simdjson::simdjson ALIAS web_simdjson)

