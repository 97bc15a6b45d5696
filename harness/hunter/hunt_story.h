/* hunt_story.h - a failure as a story: what each thread did, in the words of `schedlab trace`, and
 * between them the switches, with the places in the source of both sides. */
#ifndef SCHEDLAB_HUNT_STORY_H
#define SCHEDLAB_HUNT_STORY_H

#include "harness/hunter/hunt_trace.h"

/* Prints it. Where events do not tell what the variant does, or the execution cannot be made again,
 * the switches alone. Pre: campaign->failure. */
void hunt_story_print(const struct hunt_shown *shown, struct campaign *campaign);

/* Prints the last switches and events of an execution that has too many of them, if it can be told.
 * Pre: campaign->failure. */
void hunt_story_end_print(const struct hunt_shown *shown, struct campaign *campaign);

/* The same as an array of events and switches, owned by the caller; null: it cannot be told. */
json_t *hunt_story_to_json(const struct hunt_shown *shown, struct campaign *campaign);

#endif
