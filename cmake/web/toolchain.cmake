# For the browser: Emscripten from the cache, where tools/fetch-web-toolchain lays it.
if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(web_cache "$ENV{XDG_CACHE_HOME}/trainscope/web")
else()
  set(web_cache "$ENV{HOME}/.cache/trainscope/web")
endif()
set(EMSCRIPTEN_ROOT_PATH ${web_cache}/usr/share/emscripten)
include(${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)

# Exceptions and vectors of the processor's own, which browsers have since 2023; threads on memory that they
# share; and libc++'s std::jthread, which it still calls experimental.
set(CMAKE_C_FLAGS_INIT "-pthread -fwasm-exceptions -msimd128")
set(CMAKE_CXX_FLAGS_INIT "-pthread -fwasm-exceptions -msimd128 -D_LIBCPP_ENABLE_EXPERIMENTAL")

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/../cross/modules)
