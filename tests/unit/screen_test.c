/* screen_test.c: pictures, and that a terminal which gets only the differences shows the same. */
#include "test.h"

#include <stdio.h>

#include "emulator.h"
#include "hash.h"
#include "screen.h"

static struct emulator terminal;

/* Below n, the same in every run. */
static int chance(uint32_t n) {
    static uint64_t last = 7;
    last = hash_mix(last + 1);
    return (int)(last % n);
}

static size_t flush(struct screen *s) {
    struct buf out;
    buf_init(&out, SCREEN_BYTES_MAX);
    screen_flush(s, &out);
    emulator_feed(&terminal, out.at, out.len);
    size_t len = out.len;
    buf_fini(&out);
    return len;
}

static void start(struct screen *s, uint32_t rows, uint32_t cols) {
    screen_init(s, false, true);
    screen_resize(s, rows, cols);
    emulator_init(&terminal, (int)rows, (int)cols);
}

static void only_what_changed_is_sent(void **state) {
    (void)state;
    struct screen s;
    start(&s, 24, 80);
    for (uint32_t r = 0; r < 24; r++) screen_print(&s, r, 0, 80, SCREEN_PLAIN, "row %u has a long text in it", r);
    assert_true(flush(&s) > 24 * 20);
    assert_int_equal(flush(&s), 0);
    screen_put(&s, 7, 4, 1, SCREEN_RED, SLICE("X"));
    assert_true(flush(&s) < 32);
    assert_string_equal(emulator_row(&terminal, 7), "row X has a long text in it");
    assert_int_equal(terminal.cells[7][4].colour, 31);
    assert_int_equal(terminal.cells[7][5].colour, 0);
    assert_int_equal(terminal.scrolled, 0);
    screen_fini(&s);
}

static void a_shorter_text_leaves_nothing_behind(void **state) {
    (void)state;
    struct screen s;
    start(&s, 3, 20);
    screen_put(&s, 1, 0, 20, SCREEN_BOLD, SLICE("twenty characters ab"));
    flush(&s);
    assert_string_equal(emulator_row(&terminal, 1), "twenty characters ab");
    screen_clear(&s);
    screen_put(&s, 1, 0, 20, SCREEN_PLAIN, SLICE("two"));
    flush(&s);
    assert_string_equal(emulator_row(&terminal, 1), "two");
    screen_fini(&s);
}

static void text_is_cut_with_an_ellipsis_and_cleaned(void **state) {
    (void)state;
    struct screen s;
    start(&s, 4, 20);
    assert_int_equal(screen_put(&s, 0, 0, 5, SCREEN_PLAIN, SLICE("abcdefgh")), 5);
    screen_put(&s, 1, 0, 20, SCREEN_PLAIN,
               SLICE("a\033[2Jb\tc\xff"
                     "d\xe2\x80\xae"
                     "e"));
    screen_put(&s, 2, 18, 20, SCREEN_PLAIN, SLICE("edge"));
    assert_int_equal(screen_put(&s, 9, 0, 5, SCREEN_PLAIN, SLICE("outside")), 0);
    flush(&s);
    assert_string_equal(emulator_row(&terminal, 0), "abcd…");
    assert_string_equal(emulator_row(&terminal, 1), "a?[2Jb?c?de");
    assert_string_equal(emulator_row(&terminal, 2), "                  e…");
    assert_int_equal(screen_width(SLICE("日本")), 4);
    screen_fini(&s);
}

/* Many random frames: the terminal must show each as if it had been drawn alone. */
static void random_frames_are_shown_as_they_are(void **state) {
    (void)state;
    struct screen s;
    start(&s, 12, 30);
    for (int frame = 0; frame < 2000; frame++) {
        if (chance(4) == 0) screen_clear(&s);
        for (int k = chance(8); k > 0; k--) {
            char text[16];
            snprintf(text, sizeof text, "%.*s", chance(12), "abc äß │━ x");
            size_t len = strlen(text);
            struct slice cut = slice_of(text, len);
            uint8_t style = (uint8_t)(chance(9) + (chance(2)) * SCREEN_BOLD + (chance(2)) * SCREEN_REVERSE);
            screen_put(&s, (uint32_t)(chance(12)), (uint32_t)(chance(30)), 12, style, cut);
        }
        flush(&s);
        for (int r = 0; r < 12; r++)
            for (int c = 0; c < 30; c++) {
                struct screen_cell want = s.next[r * 30 + c];
                struct emulator_cell got = terminal.cells[r][c];
                if (want.code != got.code || !!(want.style & SCREEN_REVERSE) != got.is_reverse ||
                    (want.code != ' ' && ((want.style & SCREEN_COLOURS) != 0) != (got.colour != 0)))
                    fail_msg("frame %d, row %d, column %d: %x and not %x", frame, r, c, got.code, want.code);
            }
    }
    assert_int_equal(terminal.scrolled, 0);
    screen_fini(&s);
}

static void rows_in_the_middle_of_a_terminal_stay_there(void **state) {
    (void)state;
    struct screen s;
    struct buf out;
    emulator_init(&terminal, 10, 40);
    emulator_feed(&terminal, "before\r\n", 8);
    screen_init(&s, true, false);
    screen_resize(&s, 3, 40);
    screen_print(&s, 0, 0, 40, SCREEN_RED, "one");
    screen_print(&s, 2, 0, 40, SCREEN_PLAIN, "three");
    flush(&s);
    screen_print(&s, 1, 0, 40, SCREEN_PLAIN, "two");
    flush(&s);
    buf_init(&out, 1000);
    screen_leave(&s, &out);
    emulator_feed(&terminal, out.at, out.len);
    buf_fini(&out);
    emulator_feed(&terminal, "behind", 6);
    assert_string_equal(emulator_text(&terminal), "before\none\ntwo\nthree\nbehind\n\n\n\n\n\n");
    assert_int_equal(terminal.cells[1][0].colour, 0); /* without colours there are none */
    screen_fini(&s);
}

static void at_the_foot_of_a_terminal_it_scrolls_once(void **state) {
    (void)state;
    struct screen s;
    emulator_init(&terminal, 4, 20);
    emulator_feed(&terminal, "a\r\nb\r\nc\r\n", 9);
    screen_init(&s, true, true);
    screen_resize(&s, 3, 20);
    for (uint32_t frame = 0; frame < 5; frame++) {
        for (uint32_t r = 0; r < 3; r++) screen_print(&s, r, 0, 20, SCREEN_PLAIN, "row %u frame %u", r, frame);
        flush(&s);
    }
    assert_string_equal(emulator_text(&terminal), "c\nrow 0 frame 4\nrow 1 frame 4\nrow 2 frame 4\n");
    screen_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_changed_is_sent),
        cmocka_unit_test(a_shorter_text_leaves_nothing_behind),
        cmocka_unit_test(text_is_cut_with_an_ellipsis_and_cleaned),
        cmocka_unit_test(random_frames_are_shown_as_they_are),
        cmocka_unit_test(rows_in_the_middle_of_a_terminal_stay_there),
        cmocka_unit_test(at_the_foot_of_a_terminal_it_scrolls_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
