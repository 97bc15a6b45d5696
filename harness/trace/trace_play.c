/* trace_play.c - see trace.h: one event after the other on a terminal, forwards and back. */
#include "harness/trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { AROUND = 3, FAR = 10, TEXT_SIZE = 128, KEY_SIZE = 8, LANES_LINES = 2 };
enum { KEYS_WIDTH = 72 }; /* of a terminal with room for the names of keys */

static const char PART[] = " (--whole: all)";

struct player {
    const struct trace_page *page;
    size_t first, last, at; /* indices of events; the state is after `at` */
    int width, height;
    bool has_next; /* runnext is used at any time of the run */
    size_t most;   /* that a worker's own queue has at any time */
    FILE *to;
};

/* Drawing -------------------------------------------------------------------------------------- */

/* Cells in a row, as many as the line has room for, and how many more there are. Returns the
 * columns that are used then, all of them if there are more. */
static int cells_print(const struct player *player, const struct trace_queue *queue, int used)
{
    char text[SCHED_TRACE_NAME], more[32];
    for (size_t i = 0; i < queue->count; i++) {
        trace_id_text(&player->page->trace, queue->id[i], text);
        snprintf(more, sizeof more, " and %zu more", queue->count - i);
        int length = (int)strlen(text) + 2;
        bool rest = i + 1 < queue->count;
        if (used + length + (rest ? (int)strlen(more) : 0) > player->width) {
            fputs(more, player->to);
            return player->width;
        }
        used += fprintf(player->to, "[%s]", text);
    }
    return used;
}

/* Cells that are free, up to the longest queue of the run, as far as there is room. */
static void free_print(const struct player *player, size_t taken, int used)
{
    static const char cell[] = "[ ]";
    int length = (int)sizeof cell - 1;
    for (; taken < player->most && used + length <= player->width; taken++)
        used += fprintf(player->to, "%s", cell);
}

static void runs_print(const struct player *player, const struct trace_state *state, int32_t lane)
{
    char text[SCHED_TRACE_NAME];
    int32_t m = state->lane[lane].m;
    FILE *to = player->to;
    if (m < 0) {
        fputs("idle: nobody has it", to);
        return;
    }
    const struct trace_m *who = &state->m[m];
    if (who->g) {
        fprintf(to, "%s %s", who->in_call ? "in a call:" : "runs",
                trace_id_text(&player->page->trace, who->g, text));
        for (size_t i = 0; i < who->stack.count; i++)
            fprintf(to, " %s", trace_id_text(&player->page->trace, who->stack.id[i], text));
    } else {
        fputs(who->spins    ? "spins: it searches for work"
              : who->sleeps ? "sleeps"
                            : "runs nothing",
              to);
    }
}

static void lane_print(const struct player *player, const struct trace_state *state, int32_t i,
                       bool acts)
{
    const struct trace_lane *lane = &state->lane[i];
    char text[SCHED_TRACE_NAME];
    fprintf(player->to, "%s%c%-3" PRId32 "%s ", acts ? "\033[1m" : "", state->by_m ? 'M' : 'P', i,
            acts ? "\033[0m" : "");
    runs_print(player, state, i);
    fputs("\r\n     ", player->to);
    int used = 5;
    size_t taken = lane->queue.count;
    if (player->has_next)
        used += fprintf(player->to, "(%s)",
                        lane->next ? trace_id_text(&player->page->trace, lane->next, text) : " ");
    used = cells_print(player, &lane->queue, used);
    if (lane->m >= 0) {
        used = cells_print(player, &state->m[lane->m].tasks, used);
        taken += state->m[lane->m].tasks.count;
    }
    free_print(player, taken, used);
    fputs("\r\n", player->to);
}

static void event_print(const struct player *player, const struct trace_state *before, size_t i)
{
    const struct sched_trace_event *event = &player->page->trace.event[i];
    char text[TEXT_SIZE], who[16], line[2 * TEXT_SIZE];
    snprintf(line, sizeof line, "%5zu %10.3f us  %s %s", i + 1,
             (double)(event->when_ps - player->page->trace.event[0].when_ps) / 1e6,
             trace_who(before, event, who, sizeof who),
             trace_event_text(before, event, text, sizeof text));
    fprintf(player->to, "%.*s\r\n", player->width - 1, line); /* behind one sign */
}

/* The lines of a picture, by how many there are. A terminal with few has no blank ones, fewer
 * events before the one at hand, and at last no global queue. */
struct layout {
    size_t around;
    bool blanks, global;
    int lanes; /* for workers */
};

static struct layout layout_of(int height)
{
    enum { ALWAYS = 3 /* title, event, keys */, GLOBAL = 2, BLANKS = 3 };
    int left = height - ALWAYS - LANES_LINES;
    struct layout layout = {.global = left >= GLOBAL};
    left -= layout.global ? GLOBAL : 0;
    layout.blanks = left >= BLANKS + AROUND;
    left -= layout.blanks ? BLANKS : 0;
    layout.around = left < AROUND ? (size_t)left : AROUND;
    layout.lanes = LANES_LINES + left - (int)layout.around;
    return layout;
}

/* As many as there is room for. If that is not all, a line says so: one of theirs, or that of the
 * title where there is none to spare. */
static int32_t lanes_shown(const struct layout *layout, int32_t lanes)
{
    int room = layout->lanes / LANES_LINES;
    if (room < lanes)
        room = layout->lanes > LANES_LINES ? (layout->lanes - 1) / LANES_LINES : 1;
    return lanes < room ? lanes : room;
}

static bool title_says_so(const struct layout *layout, int32_t lanes)
{
    return lanes_shown(layout, lanes) < lanes && layout->lanes <= LANES_LINES;
}

static void hidden_print(const struct player *player, const struct layout *layout,
                         const struct trace_state *state)
{
    char line[TEXT_SIZE];
    snprintf(line, sizeof line, "and %" PRId32 " more %cs: make the terminal taller",
             state->lanes - lanes_shown(layout, state->lanes), state->by_m ? 'M' : 'P');
    fprintf(player->to, "%.*s\r\n", player->width, line);
}

/* The lanes that there is room for, the one of the event among them. */
static void lanes_print(const struct player *player, const struct layout *layout,
                        const struct trace_state *state, int32_t acts)
{
    int32_t shown = lanes_shown(layout, state->lanes);
    int32_t first = acts >= shown ? acts - shown + 1 : 0;
    for (int32_t i = first; i < first + shown; i++)
        lane_print(player, state, i, i == acts);
    if (shown < state->lanes && !title_says_so(layout, state->lanes))
        hidden_print(player, layout, state);
    if (!layout->global)
        return;
    fprintf(player->to, "global (%zu)\r\n     ", state->global.count);
    cells_print(player, &state->global, 5);
    fputs("\r\n", player->to);
}

/* Prints the events up to the one at hand. Each is told with the state that it meets, so the run
 * is gone through from its beginning; runs to be played are small. */
static void events_print(const struct player *player, size_t around, struct trace_state *state)
{
    const struct trace_page *page = player->page;
    size_t from = player->at, told = 0;
    for (size_t i = player->at; i > player->first && told < around; i--)
        if (trace_shows(page, &page->trace.event[i - 1])) {
            from = i - 1;
            told++;
        }
    for (size_t i = 0; i <= player->at; i++) {
        if (i >= from && trace_shows(page, &page->trace.event[i])) {
            fputs(i == player->at ? "\033[1m>" : " ", player->to);
            event_print(player, state, i);
            fputs(i == player->at ? "\033[0m" : "", player->to);
        }
        trace_state_apply(state, &page->trace.event[i]);
    }
    for (; told < around; told++)
        fputs("\r\n", player->to);
}

static void draw(const struct player *player)
{
    const struct trace_page *page = player->page;
    struct trace_state state;
    FILE *to = player->to;
    struct layout layout = layout_of(player->height);
    const char *blank = layout.blanks ? "\r\n" : "";
    trace_state_init(&state, &page->trace, page->by_m, page->workers);
    fputs("\033[H\033[2J", to);
    if (title_says_so(&layout, state.lanes)) {
        hidden_print(player, &layout, &state);
    } else {
        char *title = trace_title(page);
        bool part = page->startup + page->check > 0 &&
                    strlen(title) + strlen(PART) <= (size_t)player->width;
        fprintf(to, "%.*s%s\r\n", player->width, title, part ? PART : "");
        free(title);
    }
    fputs(blank, to);
    events_print(player, layout.around, &state);
    fputs(blank, to);
    lanes_print(player, &layout, &state, trace_lane_of(&state, &page->trace.event[player->at]));
    fprintf(to, "%sstep %zu of %zu  %s", blank, player->at + 1, player->last + 1,
            player->width < KEYS_WIDTH ? "n b N B g G  q quit"
                                       : " n next  b back  N B ten  g G first, last  q quit");
    fflush(to);
    trace_state_free(&state);
}

/* Keys ----------------------------------------------------------------------------------------- */

/* The letter for a key; arrows come as three bytes. 0: nothing more comes. */
static char key_read(int in)
{
    char bytes[KEY_SIZE];
    ssize_t count = read(in, bytes, sizeof bytes);
    if (count <= 0)
        return 0;
    if (count < 3 || bytes[0] != '\033' || bytes[1] != '[')
        return bytes[0];
    static const char last[] = "CBDAHF65", letter[] = "nnbbgGNB";
    const char *at = memchr(last, bytes[2], sizeof last - 1);
    return at ? letter[at - last] : '?';
}

/* Goes over as many of the events that are shown, or as there are. */
static void go(struct player *player, int by)
{
    const struct trace_page *page = player->page;
    int left = by < 0 ? -by : by;
    for (size_t at = player->at; left > 0 && at != (by < 0 ? player->first : player->last);) {
        at += by < 0 ? (size_t)-1 : 1;
        if (!trace_shows(page, &page->trace.event[at]))
            continue;
        player->at = at;
        left--;
    }
}

/* False: it is over. */
static bool key_do(struct player *player, char key)
{
    /* ^C comes as a key, so that the terminal is always put right */
    if (key == 0 || strchr("q\033\003", key))
        return false;
    if (strchr("n \r\n", key))
        go(player, 1);
    else if (strchr("bp\177", key))
        go(player, -1);
    else if (key == 'N' || key == 'B')
        go(player, key == 'N' ? FAR : -FAR);
    else if (key == 'g' || key == 'G')
        player->at = key == 'g' ? player->first : player->last;
    return true;
}

/* Goes through the run once for the sizes of what is drawn. */
static void player_measure(struct player *player)
{
    const struct trace_page *page = player->page;
    struct trace_state state;
    trace_state_init(&state, &page->trace, page->by_m, page->workers);
    for (size_t i = 0; i < page->trace.count; i++) {
        trace_state_apply(&state, &page->trace.event[i]);
        int32_t at = trace_lane_of(&state, &page->trace.event[i]);
        if (at < 0 || at >= state.lanes)
            continue;
        const struct trace_lane *lane = &state.lane[at];
        size_t count = lane->queue.count + (lane->m >= 0 ? state.m[lane->m].tasks.count : 0);
        player->most = count > player->most ? count : player->most;
        player->has_next = player->has_next || lane->next;
    }
    trace_state_free(&state);
}

void trace_play(const struct trace_page *page, int width, int height, int in, FILE *to)
{
    struct termios before, raw;
    struct player player = {.page = page, .width = width, .height = height, .to = to};
    while (player.first < page->trace.count && !trace_shows(page, &page->trace.event[player.first]))
        player.first++;
    player.last = page->trace.count - 1;
    while (!trace_shows(page, &page->trace.event[player.last]))
        player.last--;
    player.at = player.first;
    player_measure(&player);
    if (tcgetattr(in, &before) != 0)
        return;
    raw = before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(in, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l", to);
    do
        draw(&player);
    while (key_do(&player, key_read(in)));
    fputs("\033[?25h\033[?1049l", to);
    fflush(to);
    tcsetattr(in, TCSANOW, &before);
}
