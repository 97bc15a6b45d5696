/* build_info.h - how this program was built: version, revision, compiler, options, folder.
 *
 * Callers: the writers of records and of environment.json, and the readers of the project's data.
 * The Makefile defines the values for build_info.c alone: a new revision compiles one file anew.
 */
#ifndef SCHEDLAB_BUILD_INFO_H
#define SCHEDLAB_BUILD_INFO_H

/* "1.0.0", as CHANGELOG.md counts. */
const char *build_version(void);

/* The git revision of the build, "-dirty" at its end if the tree was, or "unknown". */
const char *build_revision(void);

/* The first line that the compiler prints about its version. */
const char *build_compiler(void);

/* The options that it was compiled with. */
const char *build_flags(void);

/* The folder of the sources when the program was built. */
const char *build_source_dir(void);

#endif
