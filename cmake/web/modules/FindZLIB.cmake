# For the browser zlib is compiled with the rest (../dependencies.cmake), for FreeType too.
set(ZLIB_FOUND TRUE)
set(ZLIB_LIBRARIES ZLIB::ZLIB)
set(ZLIB_INCLUDE_DIRS ${TRAINSCOPE_WEB_SOURCES}/zlib)
