# The program on Windows: its icon, what Windows asks of it and shows of it. It needs no library but those of Windows.
enable_language(RC)
configure_file(${here}/windows/trainscope.manifest trainscope.manifest @ONLY)
configure_file(${here}/windows/trainscope.rc.in trainscope.rc @ONLY)
target_sources(trainscope PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/trainscope.rc)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/trainscope.rc PROPERTIES OBJECT_DEPENDS
                            "${CMAKE_CURRENT_BINARY_DIR}/trainscope.manifest;${here}/windows/trainscope.ico")
install(TARGETS trainscope RUNTIME DESTINATION .)
