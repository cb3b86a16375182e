# Where `cmake --install` puts the command line, what its man pages are and how shells complete it.
# The man pages and scripts are written by hai itself, so that they say what it does.
include(GNUInstallDirs)

set(hai_man_folder ${CMAKE_BINARY_DIR}/man)
set(hai_completion_folder ${CMAKE_BINARY_DIR}/completion)
set(completion_commands)
foreach(shell bash zsh fish)
  list(APPEND completion_commands COMMAND hai completion ${shell} > ${hai_completion_folder}/${shell})
endforeach()
add_custom_command(
  OUTPUT ${hai_man_folder}.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${hai_man_folder}
  COMMAND hai __man ${hai_man_folder}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${hai_completion_folder}
  ${completion_commands}
  COMMAND ${CMAKE_COMMAND} -E touch ${hai_man_folder}.stamp
  DEPENDS hai
  COMMENT "Man pages and completion scripts of hai"
  VERBATIM)
add_custom_target(hai_man ALL DEPENDS ${hai_man_folder}.stamp)

install(TARGETS hai RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)
install(DIRECTORY ${hai_man_folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT cli)
install(FILES ${hai_completion_folder}/bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hai COMPONENT cli)
install(FILES ${hai_completion_folder}/zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _hai COMPONENT cli)
install(FILES ${hai_completion_folder}/fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME hai.fish COMPONENT cli)
