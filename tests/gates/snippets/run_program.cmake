# cmake -DPROGRAM=… [-DARGUMENTS=…] [-DEXPECTED=…] [-DSHOWS=…] -DSOURCE=… -P run_program.cmake
# Runs a program of the documentation and compares what it prints with what the document shows, or with a regular
# expression.
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} OUTPUT_VARIABLE actual RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(NOTICE "${actual}")
  message(FATAL_ERROR "the program of ${SOURCE} ended with: ${status}")
endif()
if(SHOWS AND NOT actual MATCHES "${SHOWS}")
  message(NOTICE "${actual}")
  message(FATAL_ERROR "the program of ${SOURCE} does not show ${SHOWS}")
endif()
if(NOT EXPECTED)
  return()
endif()

# A document cannot show whether the last line ends with a newline.
file(READ "${EXPECTED}" expected)
string(REGEX REPLACE "\n$" "" expected "${expected}")
string(REGEX REPLACE "\n$" "" actual "${actual}")
if(NOT actual STREQUAL "${expected}")
  file(WRITE "${EXPECTED}.shown" "${expected}\n")
  file(WRITE "${EXPECTED}.printed" "${actual}\n")
  execute_process(COMMAND diff -u --label "shown in ${SOURCE}" --label "printed by the program"
                          "${EXPECTED}.shown" "${EXPECTED}.printed")
  message(FATAL_ERROR "${SOURCE} shows another output than its program prints")
endif()
