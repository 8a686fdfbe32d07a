# Everything that is not ours. Debian packages by name in tools/packages.txt; the pinned UI sources in
# cmake/third_party_ui.cmake.
if(CMAKE_CROSSCOMPILING)
  include(cross/dependencies)
  return()
endif()
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
if(TRAINSCOPE_FUZZ)
  # Header-only, so that the parser is compiled with the fuzzer's instruments too.
  add_library(tomlplusplus::tomlplusplus INTERFACE IMPORTED)
  target_compile_definitions(tomlplusplus::tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
else()
  find_package(tomlplusplus REQUIRED)
endif()
find_package(CLI11 REQUIRED)

if(TRAINSCOPE_GPUS)
  # Asio without Boost: headers alone, and Debian's package names no target.
  find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
  add_library(asio::asio INTERFACE IMPORTED)
  target_include_directories(asio::asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
  # Asio looks for std::aligned_alloc before it includes a header that says whether there is one: what
  # it finds depends on what a file includes first, and files that differ free each other's memory.
  target_compile_definitions(asio::asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED
                                                  ASIO_DISABLE_STD_ALIGNED_ALLOC)
  target_link_libraries(asio::asio INTERFACE Threads::Threads)
endif()

if(TRAINSCOPE_OPENBLAS)
  # Debian's package of OpenBLAS names its files, but no target.
  find_package(OpenBLAS REQUIRED)
  if(NOT TARGET OpenBLAS::OpenBLAS)
    add_library(OpenBLAS::OpenBLAS INTERFACE IMPORTED)
    target_include_directories(OpenBLAS::OpenBLAS SYSTEM INTERFACE ${OpenBLAS_INCLUDE_DIRS})
    target_link_libraries(OpenBLAS::OpenBLAS INTERFACE ${OpenBLAS_LIBRARIES})
  endif()
else()
  find_package(Eigen3 REQUIRED NO_MODULE)
endif()
