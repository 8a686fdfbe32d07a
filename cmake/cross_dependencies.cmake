# Everything that is not ours, for another system than the one that builds: the headers of Debian's packages, which are
# for any system, and what else they need compiled here. zlib is the other system's own. Sources that Debian's packages
# do not hold are pinned here, package, version and sha256 of its archive, and fetched by tools/fetch-cross-sources,
# which reads these lines.
set(TRAINSCOPE_SOURCE_FMT fmtlib 9.1.0+ds1 84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583)
set(TRAINSCOPE_SOURCE_SIMDJSON simdjson 3.0.1 156b1bc5eb0561b2bd166b46d191fd3d95a3e709cc63761477d3b7aec2b6e9ed)

if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(source_cache $ENV{XDG_CACHE_HOME}/trainscope)
else()
  set(source_cache $ENV{HOME}/.cache/trainscope)
endif()
# trainscope_source(VARIABLE package version hash): the folder of a package's sources.
function(trainscope_source variable package version)
  set(folder ${source_cache}/${package}-${version})
  if(NOT EXISTS ${folder}/there)
    message(FATAL_ERROR "The sources of ${package} are not in the cache: tools/fetch-cross-sources gets them")
  endif()
  set(${variable} ${folder} PARENT_SCOPE)
endfunction()
trainscope_source(fmt_source ${TRAINSCOPE_SOURCE_FMT})
trainscope_source(simdjson_source ${TRAINSCOPE_SOURCE_SIMDJSON})

find_package(Threads REQUIRED)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
find_package(ZLIB REQUIRED)

# By links: /usr/include itself is full of headers for the system that builds.
set(headers ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(name nlohmann toml++ CLI stb catch2 eigen3/Eigen)
  get_filename_component(link ${name} NAME)
  if(NOT EXISTS /usr/include/${name})
    message(FATAL_ERROR "There are no headers /usr/include/${name}: tools/install-packages gets them")
  endif()
  file(CREATE_LINK /usr/include/${name} ${headers}/${link} SYMBOLIC)
endforeach()

# trainscope_headers(NAME): an imported target of headers alone. All stand in one folder.
function(trainscope_headers name)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} SYSTEM INTERFACE ${headers})
endfunction()

trainscope_headers(nlohmann_json::nlohmann_json)
trainscope_headers(CLI11::CLI11)
trainscope_headers(Catch2::Catch2)
trainscope_headers(Eigen3::Eigen)

# Compiled once rather than in each file that includes it.
file(WRITE ${headers}/tomlplusplus.cpp "#define TOML_IMPLEMENTATION\n#include <toml++/toml.h>\n")
add_library(tomlplusplus STATIC ${headers}/tomlplusplus.cpp)
target_include_directories(tomlplusplus SYSTEM PUBLIC ${headers})
target_compile_definitions(tomlplusplus PUBLIC TOML_HEADER_ONLY=0)
add_library(tomlplusplus::tomlplusplus ALIAS tomlplusplus)

add_library(fmt STATIC ${fmt_source}/src/format.cc ${fmt_source}/src/os.cc)
target_include_directories(fmt SYSTEM PUBLIC ${fmt_source}/include)
add_library(fmt::fmt ALIAS fmt)

add_library(simdjson STATIC ${simdjson_source}/singleheader/simdjson.cpp)
target_include_directories(simdjson SYSTEM PUBLIC ${simdjson_source}/singleheader)
add_library(simdjson::simdjson ALIAS simdjson)
