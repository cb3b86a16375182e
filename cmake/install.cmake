# What `cmake --install` puts where, by component: all of them, or one with --component. Those of the
# command line are in cli_install.cmake. Units, the system user and its folders come with the Debian
# packages only (deploy/debian), which are made of these components.
include(GNUInstallDirs)

install(TARGETS hai-server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)
install(PROGRAMS deploy/hai-backup deploy/hai-store-setup DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)
install(FILES deploy/hai_store_files.py DESTINATION ${CMAKE_INSTALL_DATADIR}/hai/store COMPONENT server)
install(FILES deploy/server.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}-server/examples COMPONENT server)
install(DIRECTORY deploy/prometheus deploy/grafana deploy/postgres
  DESTINATION ${CMAKE_INSTALL_DOCDIR}-server/examples COMPONENT server)

# What no person calls is apart; hai-agent looks there (agent/os/helper_program.h).
install(TARGETS hai-agent hai-pam hai-validator RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT agent)
install(TARGETS hai-shim hai-hang-evidence hai-image
  RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hai COMPONENT agent)
install(FILES deploy/agent.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}-agent/examples COMPONENT agent)
install(DIRECTORY deploy/pam DESTINATION ${CMAKE_INSTALL_DOCDIR}-agent/examples COMPONENT agent)

# Links under Slurm's names, in a folder of their own: nobody gets them in place of a real Slurm unasked.
install(TARGETS hai-slurm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT slurm)
install(TARGETS hai-slurm-pmix RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hai COMPONENT slurm)
install(TARGETS hai-slurm-in-image
  RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hai/in-image COMPONENT slurm)
file(STRINGS cli/slurm/link_names.txt slurm_link_names)
list(JOIN slurm_link_names " " slurm_link_names)
install(CODE "
  set(links \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBEXECDIR}/hai/slurm\")
  file(MAKE_DIRECTORY \"\${links}\")
  foreach(command ${slurm_link_names})
    file(CREATE_LINK ../../../${CMAKE_INSTALL_BINDIR}/hai-slurm \"\${links}/\${command}\" SYMBOLIC)
  endforeach()" COMPONENT slurm)

# Left out where npm is missing: then hai-server shows a plain status page.
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/hai/web
  DESTINATION ${CMAKE_INSTALL_DATADIR}/hai COMPONENT web OPTIONAL)

# Where agents and rehearsals look for it (common/machine/sdk_path.h).
install(DIRECTORY sdk/python/hai sdk/python/hfai
  DESTINATION ${CMAKE_INSTALL_DATADIR}/hai/python COMPONENT python PATTERN __pycache__ EXCLUDE)
