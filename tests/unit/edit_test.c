/* edit_test.c: keys from bytes, and the line that they make. */
#include "test.h"

#include <stdio.h>

#include "edit.h"
#include "emulator.h"

static struct edit line;

/* Types bytes as a terminal sends them; the last event that was more than going on. */
static enum edit_event type(const char *bytes) {
    struct keys keys = {0};
    struct key_press key;
    enum edit_event last = EDIT_GOES_ON;
    keys_feed(&keys, slice_str(bytes));
    while (keys_take(&keys, true, &key)) {
        enum edit_event event = edit_key(&line, &key);
        if (event != EDIT_GOES_ON) last = event;
    }
    return last;
}

static int fresh(void **state) {
    (void)state;
    edit_init(&line);
    return 0;
}

static int done(void **state) {
    (void)state;
    edit_fini(&line);
    return 0;
}

static void keys_come_in_pieces(void **state) {
    (void)state;
    struct keys keys = {0};
    struct key_press key;
    keys_feed(&keys, SLICE("\033"));
    assert_false(keys_take(&keys, false, &key));
    keys_feed(&keys, SLICE("["));
    assert_false(keys_take(&keys, false, &key));
    keys_feed(&keys, SLICE("A\303"));
    assert_true(keys_take(&keys, false, &key));
    assert_int_equal(key.kind, KEY_UP);
    assert_false(keys_take(&keys, false, &key));
    keys_feed(&keys, SLICE("\244\033"));
    assert_true(keys_take(&keys, false, &key));
    assert_int_equal(key.code, 0xe4);
    assert_true(keys_take(&keys, true, &key));
    assert_int_equal(key.kind, KEY_ESCAPE);
}

static void every_key_has_its_sequence(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        enum key_kind kind;
    } table[] = {
        {"\033[B", KEY_DOWN},       {"\033OA", KEY_UP},       {"\033[H", KEY_HOME},    {"\033[1~", KEY_HOME},
        {"\033[4~", KEY_END},       {"\033[F", KEY_END},      {"\033[3~", KEY_DELETE}, {"\033[5~", KEY_PAGE_UP},
        {"\033[6~", KEY_PAGE_DOWN}, {"\033[Z", KEY_BACKTAB},  {"\r", KEY_ENTER},       {"\t", KEY_TAB},
        {"\177", KEY_BACKSPACE},    {"\033[1;5C", KEY_RIGHT}, {"\033[15~", KEY_NONE},  {"\x03", KEY_CTRL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct keys keys = {0};
        struct key_press key;
        keys_feed(&keys, slice_str(table[i].bytes));
        assert_true(keys_take(&keys, false, &key));
        assert_int_equal(key.kind, table[i].kind);
        assert_int_equal(keys.len, 0);
    }
}

static void typing_moving_and_killing(void **state) {
    (void)state;
    assert_int_equal(type("hello wrld\033[D\033[D\033[Do\r"), EDIT_LINE);
    assert_string_equal(line.text, "hello world");
    type("\x01\x0b"); /* to the beginning; kill to the end */
    assert_string_equal(line.text, "");
    type("\x19 again\x17"); /* yank; kill a word */
    assert_string_equal(line.text, "hello world ");
    type("\033b\033b\033d"); /* two words back; kill one forward */
    assert_string_equal(line.text, " world ");
    type("\x05\x7f\x7fX\x02\x02\x04"); /* end, backspace twice, X, back twice, delete */
    assert_string_equal(line.text, " worX");
}

static void characters_are_whole(void **state) {
    (void)state;
    type("aäb\033[D\177");
    assert_string_equal(line.text, "ab");
    type("\x01\033[C\303\244\x15");
    assert_string_equal(line.text, "b");
}

static void ends_and_interrupts(void **state) {
    (void)state;
    assert_int_equal(type("\x04"), EDIT_END);
    assert_int_equal(type("x\x04"), EDIT_GOES_ON);
    assert_int_equal(type("\x03"), EDIT_INTERRUPTED);
    assert_int_equal(type("\t"), EDIT_COMPLETE);
    assert_int_equal(type("\x0c"), EDIT_REDRAW);
}

static void history_goes_back_and_forth(void **state) {
    (void)state;
    edit_remember(&line, SLICE("first"));
    edit_remember(&line, SLICE("second"));
    edit_remember(&line, SLICE("second"));
    edit_remember(&line, SLICE(""));
    type("typed\033[A");
    assert_string_equal(line.text, "second");
    type("\033[A\033[A\033[A");
    assert_string_equal(line.text, "first");
    type("\033[B\033[B\033[B");
    assert_string_equal(line.text, "typed");
    edit_clear(&line);
    type("\x12"
         "fir");
    assert_string_equal(line.text, "first");
    assert_true(line.is_searching);
    assert_int_equal(type("\r"), EDIT_LINE);
    assert_string_equal(line.text, "first");
}

static void history_is_bounded(void **state) {
    (void)state;
    for (uint32_t i = 0; i < EDIT_HISTORY_MAX + 5; i++) {
        char text[16];
        snprintf(text, sizeof text, "line %u", i);
        edit_remember(&line, slice_str(text));
    }
    assert_int_equal(line.history.count, EDIT_HISTORY_MAX);
    type("\033[A");
    assert_string_equal(line.text, "line 1004");
}

static void a_line_too_long_is_cut(void **state) {
    (void)state;
    for (uint32_t i = 0; i < EDIT_BYTES_MAX + 10; i++) type("x");
    assert_int_equal(line.len, EDIT_BYTES_MAX);
    type("\303\244");
    assert_int_equal(line.len, EDIT_BYTES_MAX);
}

static void the_cursor_stays_in_view(void **state) {
    (void)state;
    static struct emulator terminal;
    struct screen s;
    struct buf out;
    emulator_init(&terminal, 2, 20);
    screen_init(&s, true, false);
    screen_resize(&s, 1, 20);
    type("0123456789abcdefghij");
    edit_draw(&line, &s, 0, SLICE("> "));
    buf_init(&out, 4096);
    screen_flush(&s, &out);
    emulator_feed(&terminal, out.at, out.len);
    assert_string_equal(emulator_row(&terminal, 0), "> 3456789abcdefghij");
    assert_int_equal(terminal.col, 19);
    type("\x01");
    screen_clear(&s);
    edit_draw(&line, &s, 0, SLICE("> "));
    buf_cut(&out, 0);
    screen_flush(&s, &out);
    emulator_feed(&terminal, out.at, out.len);
    assert_int_equal(terminal.col, 2);
    assert_has(emulator_row(&terminal, 0), "> 0123");
    buf_fini(&out);
    screen_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_in_pieces),
        cmocka_unit_test(every_key_has_its_sequence),
        cmocka_unit_test_setup_teardown(typing_moving_and_killing, fresh, done),
        cmocka_unit_test_setup_teardown(characters_are_whole, fresh, done),
        cmocka_unit_test_setup_teardown(ends_and_interrupts, fresh, done),
        cmocka_unit_test_setup_teardown(history_goes_back_and_forth, fresh, done),
        cmocka_unit_test_setup_teardown(history_is_bounded, fresh, done),
        cmocka_unit_test_setup_teardown(a_line_too_long_is_cut, fresh, done),
        cmocka_unit_test_setup_teardown(the_cursor_stays_in_view, fresh, done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
