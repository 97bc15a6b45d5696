/* preset.h - a named set of knob values: a scheduler that exists elsewhere, in the terms of a
 * variant here.
 *
 * Wherever a variant is named, a preset may be: "tokio-1.50", and with knobs of the variant behind
 * it, which count in place of the preset's: "tokio-1.50,ring=512". The program runs the variant,
 * and records have all its knobs. harness/spec/spec.c reads it.
 */
#ifndef SCHEDLAB_PRESET_H
#define SCHEDLAB_PRESET_H

struct preset {
    const char *name;     /* as users write it, and no variant's */
    const char *variant;  /* a name of sched_variants[] */
    const char *settings; /* knobs, as in a specification: "key=value,key=value" */
    const char *idea;     /* one line for `schedlab list` */
    const char *source;   /* keys of docs/PAPERS.md */
    const char *left_out; /* what of the original is not modelled: sentences, without an end mark */
};

/* Ends with a name that is NULL. */
extern const struct preset presets[];

#endif
