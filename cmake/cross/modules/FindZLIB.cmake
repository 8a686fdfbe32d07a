# For another system zlib is compiled along (../dependencies.cmake), for FreeType too, which else brings one of its own.
include(${CMAKE_CURRENT_LIST_DIR}/../sources.cmake)
set(ZLIB_FOUND TRUE)
set(ZLIB_LIBRARIES ZLIB::ZLIB)
trainscope_source(ZLIB_INCLUDE_DIRS zlib)
