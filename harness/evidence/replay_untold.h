/* replay_untold.h - what a replay of a program cannot tell, for pages that show one.
 *
 * Callers: pages of advise, report and trace. docs/PROGRAMS.md has all of it.
 */
#ifndef SCHEDLAB_REPLAY_UNTOLD_H
#define SCHEDLAB_REPLAY_UNTOLD_H

#define REPLAY_UNTOLD                                                                              \
    "A replay has no garbage collector and no cache misses of the program's data. It computes "    \
    "for as long as the trace spun in critical sections, and takes what depends on timing "        \
    "(select, a lock that is tried, loops that try again) as it was. docs/PROGRAMS.md of "         \
    "schedlab says more."

#endif
