# SPDX-License-Identifier: Apache-2.0
# What packages contain besides the programs, and how CPack makes Debian packages of it. Included last by the top level;
# cli/package builds them.
include(GNUInstallDirs)

# `cmake --install` and cpack take what was built, and do not build tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(files ${CMAKE_CURRENT_BINARY_DIR}/package)
set(sources docs/usage.md docs/filters.md docs/policy.md docs/configuration.md docs/systemd/roceanalyze@.service
  gui/desktop/roceanalyze-gui.1 cli/packaging/changelog cli/packaging/files)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
add_custom_command(OUTPUT ${files}/changelog.gz
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/files $<TARGET_FILE:roceanalyze> $<TARGET_FILE:roceanalyze_manual> ${files}
  DEPENDS roceanalyze roceanalyze_manual ${sources} VERBATIM)
add_custom_target(package_files ALL DEPENDS ${files}/changelog.gz)

install(DIRECTORY ${files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT cli)
install(FILES ${files}/completion/roceanalyze DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT cli)
install(FILES ${files}/completion/_roceanalyze DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT cli)
install(FILES ${files}/completion/roceanalyze.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT cli)
install(FILES ${files}/roceanalyze@.service DESTINATION /lib/systemd/system COMPONENT cli)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/roceanalyze.toml DESTINATION /etc COMPONENT cli)
install(FILES docs/systemd/rdma.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/roceanalyze/examples COMPONENT cli)
install(FILES docs/prometheus/roceanalyze.rules.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/roceanalyze/examples COMPONENT cli)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${files}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/roceanalyze COMPONENT cli)
# Wireshark runs what lies in this folder.
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/extcap)
file(CREATE_LINK ../../../../bin/roceanalyze ${CMAKE_CURRENT_BINARY_DIR}/extcap/roceanalyze SYMBOLIC)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/extcap/roceanalyze
  DESTINATION lib/${CMAKE_LIBRARY_ARCHITECTURE}/wireshark/extcap COMPONENT cli)
install(FILES cli/wireshark/roceanalyze.lua
  DESTINATION lib/${CMAKE_LIBRARY_ARCHITECTURE}/wireshark/plugins COMPONENT cli)
set(CPACK_COMPONENTS_ALL cli)
if(ROCE_GUI)
  list(APPEND CPACK_COMPONENTS_ALL gui)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${files}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/roceanalyze-gui COMPONENT gui)
  install(FILES ${files}/roceanalyze-gui.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT gui)
endif()

if(ROCE_LIBRARY)
  list(APPEND CPACK_COMPONENTS_ALL library library_dev python)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${files}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libroceanalyze1 COMPONENT library)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${files}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libroceanalyze-dev COMPONENT library_dev)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${files}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-roceanalyze COMPONENT python)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME roceanalyze)
set(CPACK_PACKAGE_CONTACT "roceanalyze developers <developers@roceanalyze.invalid>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_CLI_PACKAGE_NAME roceanalyze)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CLI_PACKAGE_RECOMMENDS "bash-completion")
set(CPACK_DEBIAN_CLI_PACKAGE_SUGGESTS "roceanalyze-gui, libibverbs1, prometheus")
set(CPACK_DEBIAN_CLI_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/conffiles;${CMAKE_CURRENT_LIST_DIR}/postinst;${CMAKE_CURRENT_LIST_DIR}/postrm")
set(CPACK_COMPONENT_CLI_DESCRIPTION "Reads captures (pcap, pcapng) from a host, a switch mirror or a tap, or
captures live on network interfaces and RDMA devices. Follows every queue pair
and PSN, and reports losses, retransmissions, RNR NAKs, congestion marks,
pauses and markings against a policy: what is wrong, why and on which side,
with the packets that prove it.")
set(CPACK_DEBIAN_GUI_PACKAGE_NAME roceanalyze-gui)
set(CPACK_DEBIAN_GUI_PACKAGE_SECTION net)
set(CPACK_DEBIAN_GUI_PACKAGE_RECOMMENDS "roceanalyze")
set(CPACK_COMPONENT_GUI_DESCRIPTION "The results of roceanalyze in a window: overview, findings with the packets
that prove them, connections with sequence graphs, markings against a policy,
pauses, and a packet list with Wireshark's display filters.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libroceanalyze1)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/triggers")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_MULTIARCH same)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The results of roceanalyze for other programs, by a C interface: reports of
captures as tables, packets with what the analysis says of each, and single
frames by Wireshark's field names.")
set(CPACK_DEBIAN_LIBRARY_DEV_PACKAGE_NAME libroceanalyze-dev)
set(CPACK_DEBIAN_LIBRARY_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBRARY_DEV_PACKAGE_DEPENDS "libroceanalyze1 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRARY_DEV_PACKAGE_MULTIARCH same)
set(CPACK_COMPONENT_LIBRARY_DEV_DESCRIPTION "The header of libroceanalyze, the files for pkg-config and CMake, and an
example: reports of captures as tables, packets with what the analysis says of
each, and single frames by Wireshark's field names.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-roceanalyze)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any, libroceanalyze1 (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/python/postinst;${CMAKE_CURRENT_LIST_DIR}/python/prerm")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The results of roceanalyze in Python 3: reports of captures as tables and
DataFrames, packets with what the analysis says of each as columns without a
copy, and single frames by Wireshark's field names.")
include(CPack)
