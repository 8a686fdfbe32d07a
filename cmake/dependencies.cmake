# Everything that is not ours. Debian packages by name in tools/packages.txt; the pinned UI sources in
# cmake/third_party_ui.cmake.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
