# Everything that is not ours. Debian packages by name in tools/packages.txt; the pinned UI sources in
# cmake/third_party_ui.cmake.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
if(TRAINSCOPE_FUZZ)
  # Header-only, so that it is compiled with the fuzzer's instruments too.
  set_target_properties(tomlplusplus::tomlplusplus PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS TOML_HEADER_ONLY=1 INTERFACE_LINK_LIBRARIES "")
endif()
