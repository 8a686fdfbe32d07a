# Writes a C++ file with the text of a header and of all that it includes of ours, and with what stands for the
# standard headers that those name: cmake -DROOT=... -DHEADER=kernels/compiled_chain.cuh -DOUT=... -P this.
cmake_minimum_required(VERSION 3.25)

set(left ${HEADER})
set(done "")
set(standard "")
set(items "")

# A text as literals of one item.
function(add_item name text)
  string(APPEND items "    {\"${name}\", R\"~~(${text})~~\"},\n")
  set(items "${items}" PARENT_SCOPE)
endfunction()

while(left)
  list(POP_FRONT left name)
  if(name IN_LIST done OR name MATCHES "^kernels/emulator/")
    continue()
  endif()
  list(APPEND done ${name})
  set(path ${ROOT}/${name})
  if(NOT EXISTS ${path})
    set(path ${ROOT}/src/${name})
  endif()
  file(READ ${path} text)
  add_item(${name} "${text}")
  file(STRINGS ${path} includes REGEX "^#include ")
  foreach(line ${includes})
    if(line MATCHES "\"([^\"]+)\"")
      list(APPEND left ${CMAKE_MATCH_1})
    elseif(line MATCHES "<([a-z_]+)>")
      list(APPEND standard ${CMAKE_MATCH_1})
    endif()
  endforeach()
endwhile()
list(REMOVE_DUPLICATES standard)
foreach(name ${standard})
  add_item(${name} "#include \"kernels/nvrtc/language.h\"\n")
endforeach()

file(WRITE ${OUT} "// Made by cmake/embed_headers.cmake.
#include \"cuda/plugin/kernel_headers.h\"

namespace trainscope::cuda {

std::span<const KernelHeader> kernel_headers() {
  static constexpr KernelHeader kHeaders[] = {
${items}  };
  return kHeaders;
}

}  // namespace trainscope::cuda
")
