# For another system zlib is compiled along (../dependencies.cmake), for FreeType too, which else brings one of its own.
include(${CMAKE_CURRENT_LIST_DIR}/../sources.cmake)
set(ZLIB_FOUND TRUE)
set(ZLIB_LIBRARIES ZLIB::ZLIB)
trainscope_source(ZLIB_INCLUDE_DIRS zlib)
# The UI sources are a project of their own, an archive: it is compiled by the headers, and linked with ours.
if(NOT TARGET ZLIB::ZLIB)
  add_library(ZLIB::ZLIB INTERFACE IMPORTED GLOBAL)
  target_include_directories(ZLIB::ZLIB SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})
endif()
