# The program on Linux, and the libraries that go along.
install(TARGETS trainscope RUNTIME_DEPENDENCY_SET libraries RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# An RPATH, not a RUNPATH: that of the program holds for the libraries of a library, too.
set_target_properties(trainscope PROPERTIES INSTALL_RPATH "$ORIGIN/../${our_libraries}")
target_link_options(trainscope PRIVATE -Wl,--disable-new-dtags)

# Libraries that go along. Of some each distribution has a version of its own; "carried" is what Debian and its
# children all have, for places where nobody may install packages.
set(of_one_version "libfmt|libsimdjson|libtomlplusplus")
set(of_all "libopenblas|libgfortran|libquadmath|libfreetype|libpng16|libbrotli")
install(RUNTIME_DEPENDENCY_SET libraries PRE_INCLUDE_REGEXES "^(${of_one_version})" PRE_EXCLUDE_REGEXES "."
        LIBRARY DESTINATION ${our_libraries} FRAMEWORK DESTINATION ${our_libraries})
install(RUNTIME_DEPENDENCY_SET libraries PRE_INCLUDE_REGEXES "^(${of_all})" PRE_EXCLUDE_REGEXES "."
        LIBRARY DESTINATION ${our_libraries} COMPONENT carried FRAMEWORK DESTINATION ${our_libraries})
# The plug-in for GPUs is no part of "all": it is installed where `ninja trainscope_cuda` has made it.
set(plugin ${CMAKE_BINARY_DIR}/libtrainscope_cuda.so)
install(FILES ${plugin} DESTINATION ${our_libraries} COMPONENT cuda OPTIONAL)
