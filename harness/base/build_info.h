/* build_info.h - how this program was built: revision, compiler, options, folder.
 *
 * Who calls: everybody who writes down what measured, or looks for the project's data. The Makefile
 * defines the values for build_info.c alone, so that a new revision compiles one file anew.
 */
#ifndef SCHEDLAB_BUILD_INFO_H
#define SCHEDLAB_BUILD_INFO_H

/* The git revision of the build, "-dirty" at its end if the tree was, or "unknown". */
const char *build_revision(void);

/* The first line of what the compiler says of its version. */
const char *build_compiler(void);

/* With which options it was compiled. */
const char *build_flags(void);

/* Where the sources were when the program was built. */
const char *build_source_dir(void);

#endif
