/* build_info.c - see build_info.h. The Makefile defines SCHEDLAB_* for this file. */
#include "harness/base/build_info.h"

#ifndef SCHEDLAB_CC
#define SCHEDLAB_CC "unknown"
#endif
#ifndef SCHEDLAB_CFLAGS
#define SCHEDLAB_CFLAGS "unknown"
#endif
#ifndef SCHEDLAB_VERSION
#define SCHEDLAB_VERSION "unknown"
#endif
#ifndef SCHEDLAB_GIT
#define SCHEDLAB_GIT "unknown"
#endif
#ifndef SCHEDLAB_SOURCE_DIR
#define SCHEDLAB_SOURCE_DIR "."
#endif

const char *build_version(void)
{
    return SCHEDLAB_VERSION;
}

const char *build_revision(void)
{
    return SCHEDLAB_GIT;
}

const char *build_compiler(void)
{
    return SCHEDLAB_CC;
}

const char *build_flags(void)
{
    return SCHEDLAB_CFLAGS;
}

const char *build_source_dir(void)
{
    return SCHEDLAB_SOURCE_DIR;
}
