/* json_test.c: random JSON texts, and what random changes make of them, read by us and by jansson. */
#include "test.h"

#include "buf.h"
#include "json_oracle.h"

#define ROUNDS 3000
#define CHANGES 12

static const char *const numbers[] = {"0",   "-0",      "1",        "-17",  "9007199254740993", "9223372036854775807",
                                      "0.5", "-2.5e3",  "1e-7",     "1E+2", "4294967296",       "1e400",
                                      "10",  "3.14159", "123456789"};
static const char *const texts[] = {"",
                                    "a",
                                    "b",
                                    "key",
                                    "a longer plain text without escapes",
                                    "\\n",
                                    "\\u00e9",
                                    "\\ud83d\\ude00",
                                    "c",
                                    "\xc3\xa9",
                                    "\\\\",
                                    "\\\"q\\\"",
                                    "tab\\there",
                                    "\\/",
                                    "\\u0000",
                                    "\xf0\x9f\x98\x80"};
static const char *const spaces[] = {"", "", "", " ", "\n", "\t ", "\r\n"};
#define PICK(random, list) (list)[test_random_below(random, sizeof(list) / sizeof *(list))]

static void put(struct buf *out, const char *text) {
    buf_put_slice(out, slice_str(text));
}

static void put_text(struct test_random *random, struct buf *out, bool unique) {
    put(out, "\"");
    if (unique) buf_printf(out, "%zu", out->len); /* so that most keys differ */
    put(out, PICK(random, texts));
    put(out, PICK(random, texts));
    put(out, "\"");
}

static void put_value(struct test_random *random, struct buf *out, int depth) {
    put(out, PICK(random, spaces));
    uint64_t kind = test_random_below(random, depth > 0 ? 8 : 5);
    if (kind < 2) {
        put(out, PICK(random, numbers));
    } else if (kind < 4) {
        put_text(random, out, false);
    } else if (kind == 4) {
        static const char *const words[] = {"true", "false", "null"};
        put(out, PICK(random, words));
    } else {
        bool is_object = kind != 5;
        put(out, is_object ? "{" : "[");
        uint64_t count = test_random_below(random, test_random_below(random, 20) == 0 ? 40 : 5);
        for (uint64_t i = 0; i < count; i++) {
            put(out, i ? "," : "");
            put(out, PICK(random, spaces));
            if (is_object) {
                put_text(random, out, test_random_below(random, 50) != 0);
                put(out, PICK(random, spaces));
                put(out, ":");
            }
            put_value(random, out, depth - 1);
        }
        put(out, PICK(random, spaces));
        put(out, is_object ? "}" : "]");
    }
    put(out, PICK(random, spaces));
}

static void change(struct test_random *random, struct buf *text) {
    static const uint8_t bytes[] = "\"\\{}[]:,0e.-+tnu \n\x80\xc3\x00\x1f/";
    if (text->len == 0) return;
    size_t at = (size_t)test_random_below(random, text->len);
    switch (test_random_below(random, 4)) {
    case 0: text->at[at] = bytes[test_random_below(random, sizeof bytes)]; return;
    case 1: text->at[at] = (uint8_t)test_random_next(random); return;
    case 2: buf_cut(text, at); return;
    default:
        memmove(text->at + at, text->at + at + 1, text->len - at - 1);
        buf_cut(text, text->len - 1);
        return;
    }
}

static void both_readers_agree(void **state) {
    (void)state;
    struct test_random random = {20};
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    unsigned accepted = 0, refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        buf_clear(&text);
        put_value(&random, &text, 5);
        accepted += json_oracle_agree(buf_slice(&text));
        for (int i = 0; i < CHANGES; i++) {
            change(&random, &text);
            refused += !json_oracle_agree(buf_slice(&text));
        }
    }
    assert_true(accepted > ROUNDS * 8 / 10); /* the generator is worth its name */
    assert_true(refused > ROUNDS * CHANGES / 2);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_readers_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
