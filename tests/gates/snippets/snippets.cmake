# extract_programs(<document> <output directory> <result variable>)
#
# Consecutive ```cpp blocks form one translation unit; the block with `int main` ends a program. When the next fenced
# block is ```text, it is the exact output of that program. Writes <output directory>/<n>.cpp and, with an expected
# output, <n>.txt; the result is the list of "<n>:<line of the closing block>".
#
# The text is walked with FIND and SUBSTRING and never becomes a CMake list: ; [ ] and \ in code would not survive that.
function(extract_programs document output_dir result)
  cmake_path(GET document FILENAME name)
  file(READ "${document}" rest)
  file(MAKE_DIRECTORY "${output_dir}")

  set(programs "")
  set(count 0)
  set(unit "")             # C++ gathered so far for the next program
  set(unit_line 0)         # where its first block begins
  set(awaits_output FALSE) # the last block ended a program and no fence has followed yet
  set(fence "")            # backticks that opened the current block; empty outside of blocks
  set(number 0)

  while(NOT rest STREQUAL "")
    math(EXPR number "${number} + 1")
    string(FIND "${rest}" "\n" end)
    if(end EQUAL -1)
      set(line "${rest}")
      set(rest "")
    else()
      string(SUBSTRING "${rest}" 0 ${end} line)
      math(EXPR end "${end} + 1")
      string(SUBSTRING "${rest}" ${end} -1 rest)
    endif()

    if(fence STREQUAL "")
      if(line MATCHES "^(```+) *([^ `]*)[^`]*$")
        set(fence "${CMAKE_MATCH_1}")
        set(language "${CMAKE_MATCH_2}")
        set(block_line ${number})
        set(block "")
      elseif(line MATCHES "^[ \t>]+```+ *cpp *$")
        message(FATAL_ERROR "${name}:${number}: a cpp block must begin in the first column, or nobody compiles it")
      endif()
      continue()
    endif()
    if(NOT line MATCHES "^${fence}`* *$")
      string(APPEND block "${line}\n")
      continue()
    endif()

    set(fence "")
    if(language STREQUAL "text" AND awaits_output)
      write_if_different("${output_dir}/${count}.txt" "${block}")
    endif()
    set(awaits_output FALSE)
    if(language STREQUAL "cpp")
      if(unit STREQUAL "")
        set(unit_line ${block_line})
      endif()
      math(EXPR first_line "${block_line} + 1")
      string(APPEND unit "#line ${first_line} \"${document}\"\n${block}")
      string(FIND "${block}" "int main" main)
      if(NOT main EQUAL -1)
        math(EXPR count "${count} + 1")
        write_if_different("${output_dir}/${count}.cpp" "${unit}")
        file(REMOVE "${output_dir}/${count}.txt")
        list(APPEND programs "${count}:${block_line}")
        set(unit "")
        set(awaits_output TRUE)
      endif()
    endif()
  endwhile()

  if(NOT fence STREQUAL "")
    message(FATAL_ERROR "${name}:${block_line}: this block is never closed")
  endif()
  if(NOT unit STREQUAL "")
    message(FATAL_ERROR "${name}:${unit_line}: the cpp blocks from here on never reach an `int main`; "
                        "a block that is not meant to be compiled is a ```cpp-sketch")
  endif()
  set(${result} "${programs}" PARENT_SCOPE)
endfunction()

# An untouched file keeps its time stamp, so an edit to one document recompiles only its own programs.
function(write_if_different path content)
  if(EXISTS "${path}")
    file(READ "${path}" previous)
    if(previous STREQUAL "${content}")
      return()
    endif()
  endif()
  file(WRITE "${path}" "${content}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  extract_programs("${DOCUMENT}" "${OUTPUT_DIR}" programs)
endif()
