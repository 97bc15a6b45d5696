/* test_report.c - the parts of the report whose results are known exactly: numbers as text,
 * escaping, taking in an SVG, reading tables, and what is shown of each cell. */
#include "harness/answers/report_tsv.h"
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"
#include "tests/support/report_cell.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Text ----------------------------------------------------------------------------------------- */

static void numbers_keep_three_digits_across_units(void **state)
{
    (void)state;
    assert_string_equal(text_si(0).s, "0");
    assert_string_equal(text_si(7).s, "7.00");
    assert_string_equal(text_si(999.4).s, "999");
    assert_string_equal(text_si(999.6).s, "1.00 k");
    assert_string_equal(text_si(12345678).s, "12.3 M");
    assert_string_equal(text_si(1.5e15).s, "1500 T");
    assert_string_equal(text_si(NAN).s, "-");
    assert_string_equal(text_time(61200).s, "61.2 \302\265s");
    assert_string_equal(text_bytes(49152).s, "48 KiB");
}

static void ratios_and_counts_are_plain(void **state)
{
    (void)state;
    assert_string_equal(text_ratio(1.839).s, "1.84\303\227");
    assert_string_equal(text_ratio(28.04).s, "28.0\303\227");
    assert_string_equal(text_ratio(13385.6).s, "13386\303\227");
    assert_string_equal(text_ratio(0.0164).s, "0.0164\303\227");
    assert_string_equal(text_ratio(NAN).s, "-");
    assert_string_equal(text_ratio_interval((struct interval){1, 0.9, 1.1, 5}).s, "0.90 to 1.10");
    assert_string_equal(text_ratio_interval((struct interval){1, NAN, NAN, 5}).s, "too few");
    assert_string_equal(text_si_interval((struct interval){NAN, NAN, NAN, 0}).s, "-");
    assert_string_equal(text_time_interval((struct interval){5, 4, 6, 9}).s, "4.00 ns to 6.00 ns");
    assert_string_equal(text_count(0).s, "0");
    assert_string_equal(text_count(0.00001).s, "<0.0001");
    assert_string_equal(text_count(0.0164).s, "0.016");
    assert_string_equal(text_count(118.2).s, "118");
    assert_string_equal(counted(0, "worker").s, "0 workers");
    assert_string_equal(counted(1, "hardware thread").s, "1 hardware thread");
    assert_string_equal(counted(2, "hardware thread").s, "2 hardware threads");
}

/* HTML ----------------------------------------------------------------------------------------- */

struct memory {
    char *text;
    size_t size;
    FILE *to;
};

static void memory_open(struct memory *memory)
{
    memory->to = open_memstream(&memory->text, &memory->size);
    assert_non_null(memory->to);
}

static void memory_equals(struct memory *memory, const char *wanted)
{
    fclose(memory->to);
    assert_string_equal(memory->text, wanted);
    free(memory->text);
}

static void html_escapes_text_and_attributes(void **state)
{
    (void)state;
    struct memory memory;
    memory_open(&memory);
    html_put(memory.to, "<td title='%s'>%s & %d</td>", "\"><script>", "<a> & \"b\" 'c'", 3);
    memory_equals(&memory, "<td title=\"&quot;&gt;&lt;script&gt;\">"
                           "&lt;a&gt; &amp; &quot;b&quot; &#39;c&#39; &amp; 3</td>\n");
}

static void html_has_code_and_numbers(void **state)
{
    (void)state;
    struct memory memory;
    memory_open(&memory);
    html_put(memory.to, "%s `%s` <code>%s</code> %.*s %.2f %zu %lld 95 %%", "say `a<b` or `", "`|`",
             "`", 2, "abc", 0.125, (size_t)7, -8LL);
    memory_equals(&memory, "say <code>a&lt;b</code> or ` <code>`|`</code> <code>`</code> ab 0.12 7 "
                           "-8 95 %");
}

static void markdown_has_blocks_and_escapes_what_is_filled_in(void **state)
{
    (void)state;
    struct memory memory;
    memory_open(&memory);
    struct doc doc = {.to = memory.to, .format = DOC_MARKDOWN};
    doc_put(&doc, "<h2>%s</h2><ul><li>**%s** `%s`</li></ul>", "a_b", "say `a|b*`\n<*>\n", "c|*");
    doc_put(&doc, "\n<thead><tr><th scope='col'>x</th><th scope='col' class='number'>y</th></tr>"
                  "</thead><tr><td class='z'>1<br>2</td><td>3</td></tr>");
    memory_equals(&memory, "\n## a\\_b\n\n- **say `a\\|b*` \\<\\*\\>** `c\\|*`\n"
                           "\n| x | y |\n|---|---:|\n| 1<br>2 | 3 |\n");
}

static void terminal_wraps_blocks_below_their_headings(void **state)
{
    (void)state;
    struct memory memory;
    memory_open(&memory);
    struct doc doc = {.to = memory.to, .format = DOC_TERMINAL, .columns = 20};
    doc_put(&doc, "<h1>%s</h1><p>%s</p>\nfree `%s`.\n", "A: b", "one two three\nfour <b>`\n", "x");
    doc_put(&doc, "<h2>H</h2><ul><li><b>one</b>: %s</li>\n<li>%d</li></ul>", "two three four", 7);
    doc_paragraphs(&doc, "first\n\nsecond\n");
    doc_put(&doc, "<h3>deep</h3><pre>a    b # a line as it is\n  c\n</pre>\n");
    memory_equals(&memory,
                  "A: b\n  one two three four\n  <b>`\n\n  free x.\n\nH\n  - one: two three\n"
                  "    four\n  - 7\n\n  first\n\n  second\n\n  deep\n    a    b # a line as it is\n"
                  "      c\n");
}

static void terminal_tables_fit(void **state)
{
    (void)state;
    struct memory memory;
    memory_open(&memory);
    struct doc doc = {.to = memory.to, .format = DOC_TERMINAL, .columns = 20};
    doc_put(&doc,
            "<thead><tr><th>#</th><th>says</th><th>why</th></tr></thead><tbody><tr><td>1</"
            "td><td>%s</td><td>5</td>"
            "</tr><tr><td>2</td><td></td><td></td></tr></tbody>\n",
            "it is so, or not");
    doc_put(&doc,
            "<thead><tr><th>k</th><th class='number'>number</th><th>other</th></tr></thead>"
            "<tbody><tr><th scope='row'>on</th><td>%d</td><td>%d</td></tr></tbody>",
            10, 2);
    memory_equals(&memory, "    #  says | why\n    1  it is so, or\n       not | 5\n    2   |\n\n"
                           "    k   number\n    on      10\n\n    k   other\n    on      2\n");
}

static void file_make(char *path, const char *text)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

#define SVG_OPEN(label)                                                                            \
    "<svg viewBox=\"0 0 20 10\" style=\"max-width:20px\" role=\"img\" aria-label=\"" label         \
    "\" xmlns=\"http://www.w3.org/2000/svg\" fill=\"none\" stroke=\"currentColor\" "               \
    "color=\"black\">"

static void svg_gets_label_and_unique_ids(void **state)
{
    (void)state;
    char path[] = "/tmp/schedlab-test-XXXXXX";
    struct memory memory;
    file_make(path, "<?xml version=\"1.0\"?>\n<svg width=\"20\" viewBox=\"0 0 20 10\"><defs><g "
                    "id=\"a\"/></defs>"
                    "<use xlink:href='#a' fill='url(#p)' stroke='red' id='b'/></svg>\n");
    memory_open(&memory);
    assert_true(html_svg(memory.to, path, "x-", "what & why"));
    memory_equals(&memory, SVG_OPEN("what &amp; why") "<defs><g id=\"x-a\"/></defs>"
                                                      "<use href=\"#x-a\" fill=\"url(#x-p)\" "
                                                      "stroke=\"red\" id=\"x-b\"/></svg>\n");
    unlink(path);
}

/* Expects that `from`, inside an SVG, becomes `to`. */
static void expect_squeezed(const char *from, const char *to)
{
    char path[] = "/tmp/schedlab-test-XXXXXX", file[2048], wanted[2048];
    struct memory memory;
    snprintf(file, sizeof file, "<svg viewBox=\"0 0 20 10\">\n%s\n</svg>\n", from);
    snprintf(wanted, sizeof wanted, SVG_OPEN("l") "%s</svg>\n", to);
    file_make(path, file);
    memory_open(&memory);
    assert_true(html_svg(memory.to, path, "x-", "l"));
    memory_equals(&memory, wanted);
    unlink(path);
}

static void svg_loses_what_does_not_show(void **state)
{
    (void)state;
    expect_squeezed("<title>Gnuplot</title>\n<desc>by it</desc><!-- why -->", "");
    expect_squeezed("<g id=\"gnuplot_plot_1\" ><title>t</title>\n<g fill=\"none\">\n</g>\n\t</g>",
                    "");
    expect_squeezed("<g transform=\"translate(1.00,2.50)\"><text></text></g>", "");
    expect_squeezed("<g id=\"gnuplot_canvas\" fill=\"none\" stroke=\"red\"><rect/></g>",
                    "<g stroke=\"red\"><rect/></g>");
    expect_squeezed(
        "<g fill='red'><path stroke='rgb(  0, 114, 178)'  d='M1.00,20.06 L-0.04,3  '/></g>",
        "<g fill=\"red\"><path stroke=\"#0072b2\" d=\"M1,20.1 L-0,3 \"/></g>");
    expect_squeezed("<rect fill = 'rgb(34,34,34)' stroke='none'/>",
                    "<rect fill=\"#222\" stroke=\"none\"/>");
}

static void svg_keeps_the_colors_of_what_counts_on_the_defaults(void **state)
{
    (void)state;
    expect_squeezed("<rect fill=\"#ffffff\"/>", "<rect fill=\"#ffffff\" stroke=\"none\"/>");
    expect_squeezed("<g stroke=\"red\"><path/></g>", "<g stroke=\"red\"><path fill=\"#000\"/></g>");
}

static void svg_keeps_only_attributes_that_change_something(void **state)
{
    (void)state;
    expect_squeezed(
        "<g fill=\"none\" stroke=\"red\" stroke-width=\"1.00\"><g stroke=\"currentColor\" "
        "stroke-width=\"2.00\"><g stroke-width=\"1.00\"><path/></g></g></g>",
        "<g stroke=\"red\"><g stroke=\"currentColor\" stroke-width=\"2\">"
        "<g stroke-width=\"1\"><path/></g></g></g>");
    /* Definitions are drawn elsewhere, under groups that set other colors. */
    expect_squeezed(
        "<defs><g stroke=\"currentColor\"><path id='p' stroke='currentColor'/></g></defs>",
        "<defs><g stroke=\"currentColor\"><path id=\"x-p\" stroke=\"currentColor\"/></g>"
        "</defs>");
}

static void svg_text_takes_the_place_of_its_group(void **state)
{
    (void)state;
    expect_squeezed("<g transform=\"translate(14.00,81.24)\" stroke=\"none\" fill=\"rgb(1,2,3)\" "
                    "font-family=\"f\" text-anchor=\"start\">\n<text>a &lt; b</text>\n</g>",
                    "<text x=\"14\" y=\"81.2\" fill=\"#010203\">a &lt; b</text>");
    expect_squeezed("<g transform=\"translate(1,2) rotate(-90)\"><text>t</text></g>",
                    "<text transform=\"translate(1,2) rotate(-90)\">t</text>");
    expect_squeezed("<g fill=\"red\"><text>a</text><text>b</text></g>",
                    "<g fill=\"red\"><text>a</text><text>b</text></g>");
}

static void svg_that_is_cut_short_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/schedlab-test-XXXXXX";
    struct memory memory;
    file_make(path, "<svg viewBox=\"0 0 20 10\"><g id=\"a\"");
    memory_open(&memory);
    assert_false(html_svg(memory.to, path, "x-", "label"));
    assert_false(html_svg(memory.to, "/nowhere/at/all.svg", "x-", "label"));
    unlink(path);
    char other[] = "/tmp/schedlab-test-XXXXXX";
    file_make(other, "<svg viewBox=\"0 0 20 10\"><g><path d=></g></svg>");
    assert_false(html_svg(memory.to, other, "x-", "label"));
    memory_equals(&memory, "");
    unlink(other);
}

/* Tables --------------------------------------------------------------------------------------- */

static void table_is_read_by_column_names(void **state)
{
    (void)state;
    char path[] = "/tmp/schedlab-test-XXXXXX";
    struct error error;
    struct tsv tsv;
    file_make(path, "name\tn\tmedian\nfirst one\t3\t1.5\nsecond\t0\tNA\n");
    assert_true(tsv_load(&tsv, path, &error));
    assert_int_equal(tsv.rows, 3);
    assert_string_equal(tsv_text(&tsv, 1, "name"), "first one");
    assert_true(tsv_number(&tsv, 1, "median") == 1.5);
    assert_null(tsv_text(&tsv, 2, "median"));
    assert_true(isnan(tsv_number(&tsv, 2, "median")));
    assert_null(tsv_text(&tsv, 1, "no such column"));
    assert_int_equal(tsv_interval(&tsv, 1, "median", "median", "median").n, 3);
    tsv_free(&tsv);
    unlink(path);
}

static void table_with_a_short_row_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/schedlab-test-XXXXXX";
    struct error error;
    struct tsv tsv;
    file_make(path, "a\tb\n1\t2\n3\n");
    assert_false(tsv_load(&tsv, path, &error));
    assert_non_null(strstr(error.text, ":3:"));
    assert_false(tsv_load(&tsv, "/nowhere/at/all.tsv", &error));
    unlink(path);
}

/* Cells ---------------------------------------------------------------------------------------- */

/* Two groups hold cell "c"; its samples are out of order; "d" was measured outside a sweep. */
static const char samples_table[] =
    "cell\tposition\tgroup\tstatus\tthroughput\tdistance\tmarks\tline_ns\n"
    "c\t9\tg\tok\t110\tfar\tsteal,throttle\t320\n"
    "c\t2\tg\tok\t100\tnear\t-\t72\n"
    "c\t5\tg\tfailed\tNA\tNA\tNA\tNA\n"
    "d\tNA\t-\tok\t7\t-\tNA\tNA\n"
    "d\tNA\t-\tok\t8\t-\tNA\tNA\n"
    "c\t9\th\tok\t110\tfar\tsteal,throttle\t320\n"
    "c\t2\th\tok\t100\tnear\t-\t72\n"
    "c\t7\tg\tok\t90\tmixed\t-\t150\n"
    "c\t7\th\tok\t90\tmixed\t-\t150\n";

static struct report_samples samples_of_text(struct tsv *tsv, const char *text)
{
    char path[] = "/tmp/schedlab-test-XXXXXX";
    struct error error;
    file_make(path, text);
    assert_true(tsv_load(tsv, path, &error));
    unlink(path);
    return report_samples_make(tsv);
}

static struct report_samples samples_of_table(struct tsv *tsv)
{
    return samples_of_text(tsv, samples_table);
}

static void runs_that_were_merged_stand_one_after_the_other(void **state)
{
    (void)state;
    struct tsv tsv;
    struct report_samples samples =
        samples_of_text(&tsv, "cell\tposition\tgroup\tstatus\tthroughput\tseed\n"
                              "c\t0\tg\tok\t1\t5\n"
                              "d\t3\tg\tok\t2\t5\n"
                              "c\t0\tg\tok\t3\t7\n"
                              "c\t1\tg\tok\t4\t7\n"
                              "c\t0\th\tok\t1\t5\n");
    size_t count;
    const struct report_sample *of = report_samples_of(&samples, "c", &count);
    assert_int_equal(count, 3);
    assert_true(of[0].position == 0 && of[1].position == 4 && of[2].position == 5);
    assert_true(of[1].throughput == 3);
    report_samples_free(&samples);
    tsv_free(&tsv);
}

static void samples_stand_once_and_in_run_order(void **state)
{
    (void)state;
    struct tsv tsv;
    struct report_samples samples = samples_of_table(&tsv);
    size_t count;
    const struct report_sample *of = report_samples_of(&samples, "c", &count);
    assert_int_equal(count, 4);
    assert_true(of[0].position == 2 && of[1].position == 5);
    assert_true(of[2].position == 7 && of[3].position == 9);
    assert_string_equal(of[3].distance, "far");
    assert_string_equal(of[3].marks, "steal,throttle");
    assert_null(of[1].distance);
    assert_true(isnan(of[1].throughput));
    report_samples_of(&samples, "d", &count);
    assert_int_equal(count, 2);
    report_samples_of(&samples, "e", &count);
    assert_int_equal(count, 0);
    report_samples_free(&samples);
    tsv_free(&tsv);
}

/* The output of report_cells_write() about cell "c" with these records; free() it. */
static char *cells_page(const char *records)
{
    struct tsv tsv;
    struct report_cell c = cell("gmp", 2, 90, 110);
    struct report report = {.cells = &c, .cells_count = 1, .samples = samples_of_table(&tsv)};
    struct memory memory;
    c.id = "c";
    report.records = json_loads(records, 0, NULL);
    assert_non_null(report.records);
    report.by_cell = fields_group(report.records, "cell");
    c.is_first = true;
    memory_open(&memory);
    report_cells_write(memory.to, &report);
    fclose(memory.to);
    json_decref(report.by_cell);
    json_decref(report.records);
    report_samples_free(&report.samples);
    tsv_free(&tsv);
    return memory.text;
}

static void expect_part(const char *page, const char *part)
{
    if (!strstr(page, part))
        fail_msg("no \"%s\" in %s", part, page);
}

static void strip_shows_samples_by_place_distance_and_mark(void **state)
{
    (void)state;
    char *page = cells_page("[{\"cell\": \"c\", \"status\": \"ok\", \"command\": \"run <it>\"}]");
    expect_part(page, "id=\"cell-c\"");
    expect_part(page, "run &lt;it&gt;");
    /* From 6 to 234 over positions 0 to 9; 10 % up or down is the whole height. */
    expect_part(page, "<path class=\"s-near\" d=\"M57 18h0\"/>"
                      "<path class=\"s-far\" d=\"M230 9h8l-4-7z\"/>"
                      "<path class=\"s-mixed\" d=\"M183 30h.1\"/>"
                      "<path class=\"s-mark\" d=\"M229 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0\"/>"
                      "<path class=\"s-bad\" d=\"M130 27l6 6m0-6l-6 6\"/>");
    expect_part(page, "Samples in run order: 3 good, 1 bad, 1 disturbed");
    expect_part(page, "10.0 to +10.0 %");
    expect_part(page, "disturbed from outside");
    assert_null(strstr(page, "By M"));
    free(page);
}

static void uneven_counts_by_m_are_shown(void **state)
{
    (void)state;
    char *page = cells_page(
        "[{\"cell\": \"c\", \"status\": \"ok\", \"events\": ["
        "{\"name\": \"sde:::schedlab::EVEN\", \"per_m\": [5, 5]},"
        "{\"name\": \"sde:::schedlab::STEALS\", \"per_m\": [0, 40]},"
        "{\"name\": \"sde:::schedlab::NEVER\", \"per_m\": [0, 0]},"
        "{\"name\": \"PAPI_TOT_INS\", \"absent\": \"no\"}]},"
        " {\"cell\": \"c\", \"status\": \"ok\", \"events\": [{\"name\": \"sde:::schedlab::EVEN\"},"
        "{\"name\": \"sde:::schedlab::STEALS\", \"per_m\": [2, 60]}]}]");
    expect_part(page, "of 2 events the most uneven: ");
    expect_part(page, "STEALS 1.00 / 50.0</span>; <span class=\"share\">EVEN 5.00 / 5.00");
    assert_null(strstr(page, "NEVER"));
    free(page);
}

/* Events fall into two sets: what the first sample did not count the others may have. */
static void counts_by_m_of_other_sets_of_events_are_shown(void **state)
{
    (void)state;
    char *page = cells_page(
        "[{\"cell\": \"c\", \"status\": \"ok\", \"events\": ["
        "{\"name\": \"PAPI_TOT_INS\", \"absent\": \"counted in another sample of this cell\"},"
        "{\"name\": \"PAPI_L1_DCM\", \"per_m\": [10, 20]}]},"
        " {\"cell\": \"c\", \"status\": \"ok\", \"events\": ["
        "{\"name\": \"PAPI_TOT_INS\", \"per_m\": [300, 100]},"
        "{\"name\": \"PAPI_L1_DCM\", \"absent\": \"counted in another sample of this cell\"}]}]");
    expect_part(page, "of 2 events the most uneven: ");
    expect_part(page,
                "PAPI_TOT_INS 300 / 100</span>; <span class=\"share\">PAPI_L1_DCM 10.0 / 20.0");
    free(page);
}

static void how_warming_up_ended_is_shown(void **state)
{
    (void)state;
    char *page =
        cells_page("[{\"cell\": \"c\", \"status\": \"ok\", \"warmup_rule\": \"change-point\"},"
                   " {\"cell\": \"c\", \"status\": \"ok\", \"warmup_rule\": \"limit\"},"
                   " {\"cell\": \"c\", \"status\": \"ok\", \"warmup_rule\": \"change-point\"}]");
    expect_part(page, "2 of 3 samples settled (change-point); 1 had not when the limit came");
    free(page);
    page = cells_page("[{\"cell\": \"c\", \"status\": \"ok\", \"warmup_rule\": \"fixed\"}]");
    assert_null(strstr(page, "settled"));
    free(page);
}

/* The class of the samples behind the numbers, how many were left out, why there are no more. */
static void numbers_stand_beside_the_class_of_their_samples(void **state)
{
    (void)state;
    struct report_event event = {.group = "g",
                                 .name = "STEALS",
                                 .source = "sde",
                                 .id = "gmp",
                                 .per_op = {1, 1, 1, 3},
                                 .value = 3};
    struct report_latency latency = {.group = "g",
                                     .workload = "w",
                                     .id = "gmp",
                                     .workers = 2,
                                     .quantile = 1,
                                     .ns = {50, 40, 60, 3}};
    struct report_cell cells[] = {cell("gmp", 2, 90, 110), cell("grq", 2, 50, 60)};
    cells[0].op = cells[1].op = "task";
    cells[0].chosen = CLASS_FAR;
    cells[0].n_all = 15;
    cells[0].stop = "class-limit";
    cells[0].events = &event;
    cells[0].events_count = 1;
    cells[0].latencies = &latency;
    cells[0].latencies_count = 1;
    cells[1].n_all = CELL_SAMPLES;
    struct report_group group = {.id = "g", .cells = cells, .count = 2};
    struct report report = {.cells = cells,
                            .cells_count = 2,
                            .groups = &group,
                            .groups_count = 1,
                            .latencies = &latency,
                            .latencies_count = 1};
    struct figures figures = {.count = 0};
    struct memory memory;
    memory_open(&memory);
    report_section_write(memory.to, &report, &group, &figures);
    fclose(memory.to);
    expect_part(memory.text, ">8 of 15</td>\n<td>far</td>\n<td>class-limit</td>");
    expect_part(memory.text, ">8 of 8</td>\n<td>all</td>\n<td>-</td>");
    expect_part(memory.text, "<td class=\"number\">2</td>\n<td>far</td>\n<td class=\"number\">-");
    expect_part(memory.text, "class of the samples</th>\n<td>-</td>\n<td>far</td>\n<td>all</td>");
    free(memory.text);
}

/* The rows of a table about these cells, at one and at two workers. */
static char *table_of(struct report_cell *cells, size_t count)
{
    struct report_group group = {.id = "g", .cells = cells, .count = count};
    struct report report = {
        .cells = cells, .cells_count = count, .groups = &group, .groups_count = 1};
    struct figures figures = {.count = 0};
    struct memory memory;
    for (size_t i = 0; i < count; i++)
        cells[i].op = "task";
    memory_open(&memory);
    report_section_write(memory.to, &report, &group, &figures);
    fclose(memory.to);
    return memory.text;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

static void only_who_is_shown_to_be_fastest_is_set_off(void **state)
{
    (void)state;
    struct report_cell won[] = {cell("gmp", 1, 90, 110), cell("gmp", 2, 90, 110),
                                cell("grq", 2, 190, 210)};
    char *text = table_of(won, 3);
    assert_int_equal(occurrences(text, "<tr class=\"best\""), 1);
    expect_part(text, "data-variant=\"grq\"");
    assert_true(strstr(text, "<tr class=\"best\"") < strstr(text, "<th scope=\"row\">grq"));
    assert_true(strstr(text, "<tr class=\"best\"") > strstr(text, "<th scope=\"row\">gmp"));
    assert_int_equal(occurrences(text, "<td class=\"number\">~"), 0);
    free(text);
    struct report_cell tied[] = {cell("gmp", 2, 90, 110), cell("grq", 2, 90.5, 110),
                                 cell("perm", 2, 10, 20)};
    text = table_of(tied, 3);
    assert_int_equal(occurrences(text, "<tr class=\"best\""), 0);
    assert_int_equal(occurrences(text, "<td class=\"number\">~ 100</td>"), 2);
    assert_int_equal(occurrences(text, "<td class=\"number\">~ 15.0</td>"), 0);
    free(text);
}

static void distances_of_a_run_are_counted(void **state)
{
    (void)state;
    struct tsv tsv;
    struct report report = {.samples = samples_of_table(&tsv)};
    struct memory memory;
    memory_open(&memory);
    report_distances_write(memory.to, &report);
    fclose(memory.to);
    expect_part(memory.text,
                ">near</th>\n<td class=\"number\">1</td>\n<td class=\"number\">33.3 %</td>\n"
                "<td class=\"number\">72.0 ns</td>");
    /* Positions 0 to 9 on 200 steps: near at 2, mixed at 7, far at 9. */
    expect_part(memory.text, "M40 0h1v14h-1z\" fill=\"var(--near)\"/>");
    expect_part(memory.text, "M140 8h1v6h-1z\" fill=\"var(--mixed)\"/>");
    expect_part(memory.text, "M180 4h1v10h-1z\" fill=\"var(--far)\"/>");
    free(memory.text);
    report_samples_free(&report.samples);
    memory_open(&memory);
    report_distances_write(memory.to, &report);
    memory_equals(&memory, "");
    tsv_free(&tsv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_three_digits_across_units),
        cmocka_unit_test(ratios_and_counts_are_plain),
        cmocka_unit_test(html_escapes_text_and_attributes),
        cmocka_unit_test(html_has_code_and_numbers),
        cmocka_unit_test(markdown_has_blocks_and_escapes_what_is_filled_in),
        cmocka_unit_test(terminal_wraps_blocks_below_their_headings),
        cmocka_unit_test(terminal_tables_fit),
        cmocka_unit_test(svg_gets_label_and_unique_ids),
        cmocka_unit_test(svg_loses_what_does_not_show),
        cmocka_unit_test(svg_keeps_the_colors_of_what_counts_on_the_defaults),
        cmocka_unit_test(svg_keeps_only_attributes_that_change_something),
        cmocka_unit_test(svg_text_takes_the_place_of_its_group),
        cmocka_unit_test(svg_that_is_cut_short_is_refused),
        cmocka_unit_test(table_is_read_by_column_names),
        cmocka_unit_test(table_with_a_short_row_is_refused),
        cmocka_unit_test(runs_that_were_merged_stand_one_after_the_other),
        cmocka_unit_test(samples_stand_once_and_in_run_order),
        cmocka_unit_test(strip_shows_samples_by_place_distance_and_mark),
        cmocka_unit_test(uneven_counts_by_m_are_shown),
        cmocka_unit_test(counts_by_m_of_other_sets_of_events_are_shown),
        cmocka_unit_test(how_warming_up_ended_is_shown),
        cmocka_unit_test(numbers_stand_beside_the_class_of_their_samples),
        cmocka_unit_test(only_who_is_shown_to_be_fastest_is_set_off),
        cmocka_unit_test(distances_of_a_run_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
