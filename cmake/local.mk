# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What pkg-config and CMake are told.

pkgconfig_DATA = gpumem.pc
cmakedir = $(libdir)/cmake/gpumem
cmake_DATA = cmake/gpumem-config.cmake cmake/gpumem-config-version.cmake

# From libdir to another folder.
FROM_LIBDIR = realpath -m --relative-to='$(libdir)'
$(cmake_DATA): Makefile
	$(AM_V_GEN)$(MKDIR_P) cmake && \
	sed -e "s,@relative_includedir@,`$(FROM_LIBDIR) '$(includedir)'`,g" \
		-e "s,@relative_bindir@,`$(FROM_LIBDIR) '$(bindir)'`,g" \
		-e "s,@relative_plugindir@,`$(FROM_LIBDIR) '$(plugindir)'`,g" \
		-e "s,@libs_private@,`echo $(LIBS) | tr ' ' ';'`,g" \
		-e 's,@version@,$(PACKAGE_VERSION),g' \
		$(srcdir)/$@.in >$@.tmp && mv $@.tmp $@
cmake/gpumem-config.cmake: cmake/gpumem-config.cmake.in
cmake/gpumem-config-version.cmake: cmake/gpumem-config-version.cmake.in
