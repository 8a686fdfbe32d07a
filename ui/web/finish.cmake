# What is done once the page is linked: cmake -DPAGE=FOLDER -DIN=index.html -DLICENCES=FILES,… -P this.

# The page says how many bytes it loads.
file(SIZE ${PAGE}/trainscope.wasm wasm)
file(SIZE ${PAGE}/trainscope.data data)
math(EXPR PAGE_BYTES "${wasm} + ${data}")
configure_file(${IN} ${PAGE}/index.html @ONLY)

# The licences of all that is in it: handing out the page passes on what others made.
string(REPLACE "," ";" files "${LICENCES}")
set(text "")
foreach(file ${files})
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "The page carries what ${file} is the licence of, and that is not here")
  endif()
  file(READ ${file} licence)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  string(APPEND text "---- ${name}\n\n${licence}\n\n")
endforeach()
file(WRITE ${PAGE}/licences.txt "${text}")
