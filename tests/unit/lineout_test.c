/* lineout_test.c: logs cut into whole lines, wherever their pieces end. */
#include "test.h"

#include <stdio.h>

#include "lineout.h"

struct seen {
    char text[256];
    uint32_t count;
    int64_t time_last;
    size_t len_last;
};

static void see(void *ctx, const struct lineout_line *line) {
    struct seen *s = ctx;
    size_t len = strlen(s->text);
    if (line->text.len < 100)
        snprintf(s->text + len, sizeof s->text - len, "%u:%.*s;", line->stream, SLICE_FMT(line->text));
    s->time_last = line->time_ms;
    s->len_last = line->text.len;
    s->count++;
}

static void cut(struct lineout_parts *p, struct seen *s, uint8_t stream, int64_t time_ms, const char *text) {
    struct wire_log_piece piece = {.stream = stream, .time_ms = time_ms, .data = slice_str(text)};
    lineout_cut(p, &piece, see, s);
}

static void a_line_waits_for_its_end(void **state) {
    (void)state;
    struct lineout_parts p;
    struct seen s = {0};
    lineout_init(&p);
    cut(&p, &s, WIRE_STREAM_OUT, 1, "on");
    assert_string_equal(s.text, "");
    cut(&p, &s, WIRE_STREAM_OUT, 5, "e\ntwo\n\nthr");
    assert_string_equal(s.text, "0:one;0:two;0:;");
    lineout_flush(&p, see, &s);
    assert_string_equal(s.text, "0:one;0:two;0:;0:thr;");
    assert_int_equal(s.time_last, 5);
    lineout_flush(&p, see, &s);
    assert_int_equal(s.count, 4);
    lineout_fini(&p);
}

static void a_line_has_the_time_of_its_beginning(void **state) {
    (void)state;
    struct lineout_parts p;
    struct seen s = {0};
    lineout_init(&p);
    cut(&p, &s, WIRE_STREAM_OUT, 7, "begun");
    cut(&p, &s, WIRE_STREAM_OUT, 9, " later\n");
    assert_int_equal(s.time_last, 7);
    lineout_fini(&p);
}

static void streams_do_not_mix(void **state) {
    (void)state;
    struct lineout_parts p;
    struct seen s = {0};
    lineout_init(&p);
    cut(&p, &s, WIRE_STREAM_OUT, 1, "out");
    cut(&p, &s, WIRE_STREAM_ERR, 1, "err\r\n");
    cut(&p, &s, WIRE_STREAM_OUT, 1, "put\n");
    assert_string_equal(s.text, "1:err;0:output;");
    lineout_fini(&p);
}

static void an_endless_line_is_cut(void **state) {
    (void)state;
    static uint8_t large[LINEOUT_BYTES_MAX + 10];
    struct lineout_parts p;
    struct seen s = {0};
    memset(large, 'x', sizeof large);
    lineout_init(&p);
    cut(&p, &s, WIRE_STREAM_OUT, 1, "yy");
    struct wire_log_piece piece = {.data = slice_of(large, sizeof large)};
    lineout_cut(&p, &piece, see, &s);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.len_last, LINEOUT_BYTES_MAX);
    lineout_flush(&p, see, &s);
    assert_int_equal(s.len_last, 12);
    lineout_fini(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_waits_for_its_end),
        cmocka_unit_test(a_line_has_the_time_of_its_beginning),
        cmocka_unit_test(streams_do_not_mix),
        cmocka_unit_test(an_endless_line_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
