/* program.c - reads a program file: see program.h. Its sense is checked in program_check.c.
 *
 * The text is copied once. Words become strings in that copy, and a step names a goroutine by the
 * place of its id in it until all goroutines are known.
 */
#include "program.h"
#include "program_check.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 4, SHOWN = 40 };

enum argument {
    ARGUMENT_NONE,
    ARGUMENT_TIME,
    ARGUMENT_GOROUTINE,
    ARGUMENT_REASON,
    ARGUMENT_LOCK,
    ARGUMENT_CHANNEL,
    ARGUMENT_CLASS
};

static const struct step_form {
    const char *word, *second;
    enum argument argument;
    const char *form; /* for messages */
} forms[PROGRAM_KINDS] = {
    [PROGRAM_RUN] = {"run", NULL, ARGUMENT_TIME, "run TIME"},
    [PROGRAM_GO] = {"go", NULL, ARGUMENT_GOROUTINE, "go GOROUTINE"},
    [PROGRAM_WAKE] = {"wake", NULL, ARGUMENT_GOROUTINE, "wake GOROUTINE [NUMBER]"},
    [PROGRAM_WAIT] = {"wait", NULL, ARGUMENT_REASON, "wait [REASON]"},
    [PROGRAM_SLEEP] = {"sleep", NULL, ARGUMENT_TIME, "sleep TIME"},
    [PROGRAM_CALL] = {"call", NULL, ARGUMENT_TIME, "call TIME"},
    [PROGRAM_BUSY] = {"call", "cpu", ARGUMENT_TIME, "call cpu TIME"},
    [PROGRAM_AT] = {"poll", "at", ARGUMENT_TIME, "poll at TIME"},
    [PROGRAM_AFTER] = {"poll", "after", ARGUMENT_TIME, "poll after TIME"},
    [PROGRAM_YIELD] = {"yield", NULL, ARGUMENT_NONE, "yield"},
    [PROGRAM_LOCK] = {"lock", NULL, ARGUMENT_LOCK, "lock NAME"},
    [PROGRAM_UNLOCK] = {"unlock", NULL, ARGUMENT_LOCK, "unlock NAME"},
    [PROGRAM_SEND] = {"send", NULL, ARGUMENT_CHANNEL, "send NAME"},
    [PROGRAM_RECEIVE] = {"receive", NULL, ARGUMENT_CHANNEL, "receive NAME"},
    [PROGRAM_BEGIN] = {"begin", NULL, ARGUMENT_CLASS, "begin [NAME]"},
    [PROGRAM_DONE] = {"done", NULL, ARGUMENT_NONE, "done"},
    [PROGRAM_END] = {"end", NULL, ARGUMENT_NONE, "end"},
};

/* Words and what they are numbered: open addressing, a power of two of slots, half of them free. */
struct index {
    uint32_t *slots; /* number + 1; 0 is free */
    size_t mask, count;
};

struct reader {
    struct program *program;
    char *text; /* the copy */
    uint32_t *lines;
    size_t steps_max, goroutines_max, locks_max, channels_max, classes_max, lines_max;
    struct index ids, locks, channels, classes;
    long version;
    bool is_open; /* between "goroutine" and "end" */
    uint32_t line;
    const char *name;
    char *why;
    size_t why_size;
};

static bool __attribute__((format(printf, 3, 4)))
refuse(const struct reader *self, uint32_t line, const char *format, ...)
{
    int length = snprintf(self->why, self->why_size, "%s:%" PRIu32 ": ", self->name, line);
    va_list args;
    va_start(args, format);
    if (length >= 0 && (size_t)length < self->why_size)
        vsnprintf(self->why + length, self->why_size - (size_t)length, format, args);
    va_end(args);
    for (char *at = self->why; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return false;
}

/* Room for one more element of that size; the array, perhaps elsewhere. */
static void *with_room(void *array, size_t count, size_t *max, size_t size)
{
    if (count < *max)
        return array;
    *max = *max ? 2 * *max : 64;
    void *grown = realloc(array, *max * size);
    if (!grown) {
        fprintf(stderr, "no memory for %zu bytes of a program\n", *max * size);
        abort();
    }
    return grown;
}

/* Indexes ------------------------------------------------------------------------------------- */

static size_t word_hash(const char *word)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *word; word++)
        hash = (hash ^ (unsigned char)*word) * UINT64_C(1099511628211);
    return (size_t)(hash ^ (hash >> 32));
}

static const char *word_of(const struct reader *self, const struct index *index, size_t number)
{
    const struct program *program = self->program;
    if (index == &self->ids)
        return program->goroutines[number].id;
    if (index == &self->classes)
        return program->classes[number];
    return index == &self->locks ? program->locks[number] : program->channels[number];
}

/* The slot of the word, or the free one where it belongs. */
static uint32_t *index_slot(const struct reader *self, const struct index *index, const char *word)
{
    size_t at = word_hash(word) & index->mask;
    while (index->slots[at] && strcmp(word_of(self, index, index->slots[at] - 1), word) != 0)
        at = (at + 1) & index->mask;
    return &index->slots[at];
}

static void index_grow(const struct reader *self, struct index *index)
{
    if (index->slots && 2 * (index->count + 1) <= index->mask)
        return;
    index->mask = index->slots ? 2 * index->mask + 1 : 63;
    free(index->slots);
    index->slots = calloc(index->mask + 1, sizeof *index->slots);
    if (!index->slots)
        abort();
    for (size_t i = 0; i < index->count; i++)
        *index_slot(self, index, word_of(self, index, i)) = (uint32_t)i + 1;
}

/* The number of the word; PROGRAM_NONE if there is none. */
static uint32_t index_find(const struct reader *self, const struct index *index, const char *word)
{
    uint32_t found = index->slots ? *index_slot(self, index, word) : 0;
    return found ? found - 1 : PROGRAM_NONE;
}

/* pre: the word of that number is in its array already, and is new. */
static void index_add(const struct reader *self, struct index *index, const char *word)
{
    index_grow(self, index);
    *index_slot(self, index, word) = (uint32_t)++index->count;
}

/* Steps --------------------------------------------------------------------------------------- */

static bool time_read(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    int64_t value = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++)
        if (value > PROGRAM_NS_MAX || (value = 10 * value + (*at - '0')) > PROGRAM_NS_MAX)
            return false;
    for (size_t i = 0; at > text && i < sizeof units / sizeof *units; i++) {
        if (strcmp(at, units[i].unit) == 0) {
            *ns = value * units[i].ns;
            return value <= PROGRAM_NS_MAX / units[i].ns;
        }
    }
    return false;
}

static bool reason_read(struct reader *self, const char *word, uint8_t *reason)
{
    struct program *program = self->program;
    for (size_t i = 0; i < program->reasons_count; i++) {
        if (strcmp(program->reasons[i], word) == 0) {
            *reason = (uint8_t)i;
            return true;
        }
    }
    if (program->reasons_count == PROGRAM_REASONS_MAX)
        return refuse(self, self->line, "\"%.*s\" is one reason to wait too many; valid: %d", SHOWN,
                      word, PROGRAM_REASONS_MAX);
    *reason = (uint8_t)program->reasons_count;
    program->reasons[program->reasons_count++] = word;
    return true;
}

/* The number of a lock, channel or class, which is new where it is named first. */
static uint32_t name_read(struct reader *self, struct index *index, const char ***names,
                          size_t *count, size_t *max, const char *word)
{
    uint32_t number = index_find(self, index, word);
    if (number != PROGRAM_NONE)
        return number;
    *names = with_room(*names, *count, max, sizeof **names);
    (*names)[*count] = word;
    number = (uint32_t)(*count)++;
    index_add(self, index, word);
    return number;
}

/* words[0] is the argument, if there is one; the rest may follow it. */
static bool argument_read(struct reader *self, struct program_step *step, char **words)
{
    const struct step_form *form = &forms[step->kind];
    bool is_optional = form->argument == ARGUMENT_REASON || form->argument == ARGUMENT_NONE ||
                       form->argument == ARGUMENT_CLASS;
    size_t most = form->argument == ARGUMENT_NONE ? 0 : step->kind == PROGRAM_WAKE ? 2 : 1;
    if ((!words[0] && !is_optional) || words[most])
        return refuse(self, self->line, "%s %s; write \"%s\"", form->word,
                      words[most] ? "has a word too many" : "needs more", form->form);
    switch (form->argument) {
    case ARGUMENT_NONE:
        return true;
    case ARGUMENT_TIME:
        return time_read(words[0], &step->ns) ||
               refuse(self, self->line,
                      "%s \"%.*s\" is not valid; valid: 0 to 3600 s, in ns, us, ms (as in 200ms) "
                      "or s; plain numbers are ns",
                      form->word, SHOWN, words[0]);
    case ARGUMENT_GOROUTINE:
        step->target = (uint32_t)(words[0] - self->text);
        if (words[1] && (!time_read(words[1], &step->ns) || step->ns < 1 ||
                         !isdigit((unsigned char)words[1][strlen(words[1]) - 1])))
            return refuse(self, self->line,
                          "\"%.*s\" is not the number of a wait; valid: 1 is the first", SHOWN,
                          words[1]);
        return true;
    case ARGUMENT_REASON:
        return reason_read(self, words[0] ? words[0] : "wait", &step->reason);
    case ARGUMENT_LOCK:
        step->target = name_read(self, &self->locks, &self->program->locks,
                                 &self->program->locks_count, &self->locks_max, words[0]);
        return true;
    case ARGUMENT_CHANNEL:
        step->target = name_read(self, &self->channels, &self->program->channels,
                                 &self->program->channels_count, &self->channels_max, words[0]);
        return true;
    case ARGUMENT_CLASS:
        if (words[0] && self->version < 2)
            return refuse(self, self->line, "a name behind begin takes \"%s 2\" in the first line",
                          PROGRAM_HEAD);
        step->target =
            name_read(self, &self->classes, &self->program->classes, &self->program->classes_count,
                      &self->classes_max, words[0] ? words[0] : "");
        return true;
    }
    return false;
}

/* The kind whose words these begin with; PROGRAM_KINDS if there is none. */
static enum program_kind kind_of(char *const *words, size_t *taken)
{
    enum program_kind found = PROGRAM_KINDS;
    for (enum program_kind kind = 0; kind < PROGRAM_KINDS; kind++) {
        if (strcmp(words[0], forms[kind].word) != 0)
            continue;
        if (forms[kind].second && words[1] && strcmp(words[1], forms[kind].second) == 0) {
            *taken = 2;
            return kind;
        }
        if (!forms[kind].second)
            found = kind;
    }
    *taken = 1;
    return found;
}

static bool complain_of_step(const struct reader *self, char *const *words)
{
    char valid[512] = "";
    bool is_poll = strcmp(words[0], "poll") == 0;
    for (size_t kind = 0; kind < PROGRAM_KINDS; kind++) {
        bool is_same = kind > 0 && strcmp(forms[kind].word, forms[kind - 1].word) == 0;
        const char *shown = is_poll ? forms[kind].form : forms[kind].word;
        if (is_poll ? strcmp(forms[kind].word, "poll") == 0 : !is_same)
            snprintf(valid + strlen(valid), sizeof valid - strlen(valid), "%s%s",
                     *valid ? ", " : "", shown);
    }
    return refuse(self, self->line, "\"%.*s\" is no step; valid: %s%s", SHOWN, words[0], valid,
                  is_poll ? "" : ", and goroutine after end");
}

static bool step_read(struct reader *self, char **words)
{
    struct program *program = self->program;
    struct program_step step = {.kind = 0};
    size_t taken;
    if (strcmp(words[0], "goroutine") == 0)
        return refuse(self, self->line, "goroutine %s, line %" PRIu32 ", has no \"end\" yet",
                      program->goroutines[program->goroutines_count - 1].id,
                      program->goroutines[program->goroutines_count - 1].line);
    enum program_kind kind = kind_of(words, &taken);
    if (kind == PROGRAM_KINDS)
        return complain_of_step(self, words);
    step.kind = (uint8_t)kind;
    if (!argument_read(self, &step, words + taken))
        return false;
    size_t max = self->steps_max, lines_max = self->lines_max;
    program->steps = with_room(program->steps, program->steps_count, &max, sizeof step);
    self->lines = with_room(self->lines, program->steps_count, &lines_max, sizeof *self->lines);
    self->steps_max = max;
    self->lines_max = lines_max;
    self->lines[program->steps_count] = self->line;
    program->steps[program->steps_count++] = step;
    program->goroutines[program->goroutines_count - 1].count++;
    self->is_open = kind != PROGRAM_END;
    return true;
}

static bool goroutine_read(struct reader *self, char **words)
{
    struct program *program = self->program;
    if (strcmp(words[0], "goroutine") != 0)
        return refuse(self, self->line,
                      "\"%.*s\" stands outside of any goroutine; valid: \"goroutine ID [NAME]\"",
                      SHOWN, words[0]);
    if (!words[1] || words[3])
        return refuse(self, self->line, "goroutine %s; write \"goroutine ID [NAME]\"",
                      words[1] ? "has a word too many" : "needs more");
    uint32_t same = index_find(self, &self->ids, words[1]);
    if (same != PROGRAM_NONE)
        return refuse(self, self->line, "goroutine %.*s is there already, in line %" PRIu32, SHOWN,
                      words[1], program->goroutines[same].line);
    program->goroutines = with_room(program->goroutines, program->goroutines_count,
                                    &self->goroutines_max, sizeof *program->goroutines);
    program->goroutines[program->goroutines_count++] = (struct program_goroutine){
        .id = words[1],
        .name = words[2] ? words[2] : words[1],
        .line = self->line,
        .started_by = PROGRAM_NONE,
        .first = program->steps_count,
    };
    index_add(self, &self->ids, words[1]);
    self->is_open = true;
    return true;
}

/* Lines --------------------------------------------------------------------------------------- */

/* Splits the line, which ends with a zero. */
static bool line_read(struct reader *self, char *line)
{
    char *words[WORDS_MAX + 1] = {NULL};
    size_t count = 0;
    for (char *at = line; *at && *at != '#' && count < WORDS_MAX;) {
        size_t length = strcspn(at, " \t\r#");
        if (length > PROGRAM_WORD_MAX)
            return refuse(self, self->line, "a word is longer than %d characters",
                          PROGRAM_WORD_MAX);
        if (length > 0)
            words[count++] = at;
        char *end = at + length;
        at = end + (*end && *end != '#');
        if (*end == '#')
            *at = '\0';
        *end = '\0';
    }
    if (count == 0)
        return true;
    return self->is_open ? step_read(self, words) : goroutine_read(self, words);
}

static bool head_read(struct reader *self, const char *line)
{
    size_t length = strlen(PROGRAM_HEAD);
    if (strncmp(line, PROGRAM_HEAD, length) != 0 || !strchr(" \t\r", line[length]))
        return refuse(self, self->line, "not a program file; valid: the first line is \"%s %d\"",
                      PROGRAM_HEAD, PROGRAM_VERSION);
    char *end;
    self->version = strtol(line + length, &end, 10);
    if (self->version < 1 || self->version > PROGRAM_VERSION || end[strspn(end, " \t\r")])
        return refuse(self, self->line,
                      "version \"%.*s\" of a program file is not known; valid: 1, %d", SHOWN,
                      line + length + strspn(line + length, " \t"), PROGRAM_VERSION);
    return true;
}

static bool lines_read(struct reader *self, size_t size)
{
    char *end = self->text + size;
    for (char *line = self->text, *next; line < end; line = next) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline ? newline + 1 : end;
        self->line++;
        if (newline)
            *newline = '\0';
        if (memchr(line, '\0', (size_t)(next - line) - (newline != NULL)))
            return refuse(self, self->line, "holds a byte 0, which is no text");
        if (!(self->line == 1 ? head_read(self, line) : line_read(self, line)))
            return false;
    }
    const struct program *program = self->program;
    if (self->line == 0)
        return head_read(self, "");
    if (self->is_open)
        return refuse(self, self->line,
                      "the file ends within goroutine %s; its steps end with "
                      "\"end\"",
                      program->goroutines[program->goroutines_count - 1].id);
    return program->goroutines_count > 0 ||
           refuse(self, self->line, "the program has no goroutine; valid: \"goroutine ID [NAME]\"");
}

/* Goroutines that steps name, by number instead of by place. */
static bool names_resolve(const struct reader *self)
{
    struct program *program = self->program;
    for (size_t i = 0; self->lines && i < program->steps_count; i++) {
        struct program_step *step = &program->steps[i];
        if (forms[step->kind].argument != ARGUMENT_GOROUTINE)
            continue;
        const char *id = self->text + step->target;
        step->target = index_find(self, &self->ids, id);
        if (step->target == PROGRAM_NONE)
            return refuse(self, self->lines[i],
                          "there is no goroutine %.*s; valid: an ID behind \"goroutine\"", SHOWN,
                          id);
    }
    return true;
}

struct program *program_parse(const char *name, const char *text, size_t size, char *why,
                              size_t why_size)
{
    struct reader self = {.name = name, .why = why, .why_size = why_size};
    struct program *program = self.program = calloc(1, sizeof *program);
    char *copy = malloc(size + 1);
    if (!program || !copy)
        abort();
    memcpy(copy, text, size);
    copy[size] = '\0';
    program->texts = self.text = copy;
    program->reasons[program->reasons_count++] = PROGRAM_NETWORK;
    bool is_right = size < UINT32_MAX || refuse(&self, 1, "is larger than 4 GiB");
    is_right = is_right && lines_read(&self, size) && names_resolve(&self);
    const struct program_draft draft = {program, self.lines, name, why, why_size};
    is_right = is_right && program_check(&draft);
    free(self.lines);
    free(self.ids.slots);
    free(self.locks.slots);
    free(self.channels.slots);
    free(self.classes.slots);
    if (is_right)
        return program;
    program_free(program);
    return NULL;
}

struct program *program_load(const char *path, char *why, size_t why_size)
{
    FILE *from = fopen(path, "re");
    char *text = NULL;
    size_t size = 0, max = 0, got = 1;
    if (!from) {
        snprintf(why, why_size, "%s: cannot be opened: %m", path);
        return NULL;
    }
    while (got > 0) {
        text = with_room(text, size + (1 << 16), &max, 1);
        if (max < size + (1 << 16))
            continue;
        got = fread(text + size, 1, max - size, from);
        size += got;
    }
    bool failed = ferror(from);
    if (failed)
        snprintf(why, why_size, "%s: cannot be read: %m", path);
    fclose(from);
    struct program *program = failed ? NULL : program_parse(path, text, size, why, why_size);
    free(text);
    return program;
}

void program_free(struct program *program)
{
    if (!program)
        return;
    free(program->steps);
    free(program->goroutines);
    free(program->waits);
    free(program->locks);
    free(program->channels);
    free(program->classes);
    free(program->request_class);
    free(program->texts);
    free(program);
}

const char *program_word(enum program_kind kind)
{
    return forms[kind].form;
}
