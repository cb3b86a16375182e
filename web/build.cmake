# One step of the dashboard's build, run by web/CMakeLists.txt. Where the dashboard is not insisted on
# (HAI_WEB=AUTO), a registry that cannot be reached must not break the build of everything else: then no
# stamp is made, and the next build tries again.
function(run_npm)
  execute_process(COMMAND ${NPM} ${ARGN} WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
  if(code EQUAL 0)
    file(TOUCH ${STAMP})
  elseif(HAI_WEB STREQUAL "AUTO" AND STEP STREQUAL "modules")
    message(WARNING "npm ${ARGN} failed; what needs its packages is left out:\n${text}")
  else()
    message(FATAL_ERROR "npm ${ARGN} failed:\n${text}")
  endif()
endfunction()

if(STEP STREQUAL "modules")
  run_npm(ci --no-audit --no-fund)
elseif(EXISTS ${SOURCE}/node_modules)
  run_npm(run build -- --outDir ${OUT} --emptyOutDir --logLevel warn)
endif()
