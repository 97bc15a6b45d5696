/* files.c - goroutines that read a file: calls that no poller can wait for.
 *
 * Source: schedlab. A regular file is always ready for the poller, so a read of it waits in the
 *         kernel and keeps its thread, in Go as here.
 *
 * A temporary file of `size` bytes is made before the run. In each of the passes, `readers`
 * goroutines read it in blocks and add up its words:
 *
 *   share=own  each opens the file for itself and reads all of it
 *   share=one  they take turns at one descriptor: each block is read by one of them
 *
 * The latency is that of a read. After the first pass the file is in memory, if it fits. Then a
 * read is a copy, and the latency shows the price of marking a call that does not wait.
 *
 * The file has no name any more when the run begins, and is opened through /proc. So a run that was
 * stopped leaves nothing behind. Word i of the file is digest_mix(i).
 */
#include "workload.h"

#include "histogram.h"
#include "runtime/io.h"

#include <inttypes.h>
#include <string.h>

enum { FILES_READERS_MAX = 10000, FILES_WORD = sizeof(uint64_t) };

enum files_share { FILES_OWN, FILES_ONE };

struct files_params {
    int64_t size;
    int64_t block;
    int64_t readers;
    int64_t passes;
    int64_t share;
};

struct files_state;

struct files_reader {
    struct files_state *state;
    uint64_t *buffer;
    /* its own until it was waited for */
    uint64_t sum, blocks;
    int64_t error; /* 0, or -errno */
    struct histogram latency;
};

struct files_state {
    struct files_params params;
    struct files_reader *readers;
    FILE *file; /* NULL: it could not be made */
    char path[64];
    struct io *one; /* share=one: of this pass */
    int64_t open_error;
    struct waitgroup done;
    struct histogram latency;
};

static const char *const files_share_words[] = {"own", "one", NULL};

static const struct param files_param_table[] = {
    PARAM_NUMBER(struct files_params, size, 4194304, FILES_WORD, INT64_C(1) << 32, "bytes",
                 "schedlab", "size of the file, a multiple of 8"),
    PARAM_NUMBER(struct files_params, block, 65536, FILES_WORD, 1 << 26, "bytes", "schedlab",
                 "how much a read asks for, a multiple of 8"),
    PARAM_NUMBER(struct files_params, readers, 8, 1, FILES_READERS_MAX, "Gs", "schedlab",
                 "how many goroutines read"),
    PARAM_NUMBER(struct files_params, passes, 4, 1, 1000000, "passes", "schedlab",
                 "how often the file is read from its beginning"),
    PARAM_WORD(
        struct files_params, share, files_share_words, FILES_OWN, "schedlab",
        "own: each reader reads the whole file; one: all read parts of it from one descriptor"),
    {0},
};

static uint64_t files_live_gs_max(const void *params)
{
    return (uint64_t)((const struct files_params *)params)->readers + 1; /* and main */
}

static const char *files_check(const void *params)
{
    const struct files_params *p = params;
    return p->size % FILES_WORD || p->block % FILES_WORD
               ? "size and block must be multiples of 8 bytes"
               : NULL;
}

static bool files_has_latency(const void *params)
{
    (void)params;
    return true;
}

static bool files_write(FILE *file, int64_t words)
{
    for (int64_t i = 0; i < words; i++) {
        uint64_t word = digest_mix((uint64_t)i);
        if (fwrite(&word, sizeof word, 1, file) != 1)
            return false;
    }
    return fflush(file) == 0;
}

static void *files_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct files_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct files_params *)params;
    size_t readers = (size_t)state->params.readers;
    state->readers = go_alloc_zeroed(readers * sizeof state->readers[0]);
    for (size_t i = 0; i < readers; i++) {
        state->readers[i].state = state;
        state->readers[i].buffer = go_alloc((size_t)state->params.block);
    }
    state->file = tmpfile();
    if (state->file && !files_write(state->file, state->params.size / FILES_WORD)) {
        fclose(state->file);
        state->file = NULL;
    }
    if (state->file)
        snprintf(state->path, sizeof state->path, "/proc/self/fd/%d", fileno(state->file));
    return state;
}

static void files_read(struct files_reader *self, struct io *io)
{
    size_t block = (size_t)self->state->params.block;
    int64_t start = go_now(), bytes;
    while ((bytes = io_read_full(io, self->buffer, block)) > 0) {
        int64_t now_ns = go_now();
        histogram_record(&self->latency, now_ns - start);
        go_request(0, start, now_ns);
        self->blocks++;
        for (int64_t i = 0; i < bytes / FILES_WORD; i++)
            self->sum += self->buffer[i];
        start = go_now();
    }
    if (bytes < 0)
        self->error = bytes;
}

static void files_reader_main(void *arg)
{
    struct files_reader *self = arg;
    struct files_state *state = self->state;
    struct io *io = state->one;
    int error = io ? 0 : io_open(state->path, &io);
    if (error)
        self->error = error;
    else
        files_read(self, io);
    if (!error && !state->one)
        io_free(io);
    wg_done(&state->done);
}

static void files_pass(struct files_state *state)
{
    int64_t readers = state->params.readers;
    state->one = NULL;
    if (state->params.share == FILES_ONE && (state->open_error = io_open(state->path, &state->one)))
        return;
    wg_add(&state->done, (int32_t)readers);
    for (int64_t i = 0; i < readers; i++)
        go(files_reader_main, &state->readers[i]);
    wg_wait(&state->done);
    io_free(state->one);
}

static void files_run(void *arg, struct outcome *out)
{
    struct files_state *state = arg;
    int64_t readers = state->params.readers;
    histogram_reset(&state->latency);
    for (int64_t i = 0; i < readers; i++) {
        struct files_reader *reader = &state->readers[i];
        reader->sum = reader->blocks = 0;
        histogram_reset(&reader->latency);
    }
    for (int64_t i = 0; i < state->params.passes && state->file; i++)
        files_pass(state);
    for (int64_t i = 0; i < readers; i++) {
        const struct files_reader *reader = &state->readers[i];
        histogram_merge(&state->latency, &reader->latency);
        out->answer += reader->sum;
        out->ops += reader->blocks;
    }
    out->digest = digest_mix(out->answer) + digest_mix(~out->ops);
    out->latency = &state->latency;
}

static const char *files_error(const struct files_state *state)
{
    int64_t error = state->open_error;
    for (int64_t i = 0; i < state->params.readers && !error; i++)
        error = state->readers[i].error;
    if (!state->file)
        return "cannot be made";
    return error ? strerror((int)-error) : NULL;
}

static const char *files_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct files_state *state = arg;
    const struct files_params *params = &state->params;
    const char *error = files_error(state);
    if (error) {
        snprintf(why, why_size, "the temporary file: %s", error);
        return why;
    }
    uint64_t sum = 0, blocks = (uint64_t)((params->size + params->block - 1) / params->block);
    for (int64_t i = 0; i < params->size / FILES_WORD; i++)
        sum += digest_mix((uint64_t)i);
    uint64_t times = (uint64_t)params->passes;
    if (params->share == FILES_OWN)
        times *= (uint64_t)params->readers;
    if (out->answer == sum * times && out->ops == blocks * times)
        return NULL;
    snprintf(why, why_size,
             "expected the sum %" PRIx64 " of %" PRIu64 " blocks, found %" PRIx64 " of %" PRIu64,
             sum * times, blocks * times, out->answer, out->ops);
    return why;
}

static void files_fini(void *arg)
{
    struct files_state *state = arg;
    if (state->file)
        fclose(state->file);
    for (int64_t i = 0; i < state->params.readers; i++)
        go_free(state->readers[i].buffer);
    go_free(state->readers);
    go_free(state);
}

const struct workload workload_files = {
    .name = "files",
    .idea = "goroutines that read a file: blocking calls that no poller avoids",
    .op = "read",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = files_param_table,
    .params_size = sizeof(struct files_params),
    .live_gs_max = files_live_gs_max,
    .has_latency = files_has_latency,
    .check = files_check,
    .init = files_init,
    .run = files_run,
    .verify = files_verify,
    .fini = files_fini,
};
