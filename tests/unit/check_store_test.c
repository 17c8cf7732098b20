/* check_store_test.c: the checker of the store sees right and wrong histories of one key and one set. */
#include "trace_fixture.h"

#define STORE(n, what, ...)                                                                                      \
    .kind = TA_STORE, .as.store = {.call = (n), .lsn = lsn, .decided_ms = now, .op = (what), .tenant = bytes("t"), \
                                   .keys = {bytes("k")}, .count = __VA_ARGS__}
#define CHANGE(n, what, ...)                           \
    do {                                               \
        SAY(.kind = TR_STORE);                         \
        SAY(STORE(n, what, __VA_ARGS__, .recorded = true)); \
    } while (0)
#define TOLD(n, what, ...) .kind = TA_STORE_ANSWER, .as.store_answer = {.call = (n), .answer = (what), __VA_ARGS__}
#define SHOWN(n, v, ver, until)                                                                                  \
    TOLD(n, TN_OK, .items = {{.found = true, .value = bytes(v), .version = (ver), .expires_ms = (until)}})

/* k is 5, at record 1, read by call 2. */
static void one_key(int64_t expires_ms) {
    CHANGE(1, TB_SET, 1, .values = {bytes("5")}, .expires_ms = expires_ms);
    durable();
    SAY(TOLD(1, TN_OK, .number = 1, .version = 1));
}

static void read_it(void) {
    SAY(STORE(2, TB_READ, 1));
    durable();
}

static void the_store_is_read_as_it_is(void **state) {
    (void)state;
    one_key(now + 10);
    read_it();
    SAY(SHOWN(2, "5", 1, now + 10));
    CHANGE(3, TB_INCREASE, 1, .number = 2);
    durable();
    SAY(TOLD(3, TN_OK, .number = 7, .version = 2));
    now += 10;
    SAY(STORE(4, TB_READ, 1));
    durable();
    SAY(TOLD(4, TN_OK)); /* over */
    CHANGE(5, TB_ADD, 2, .values = {bytes("b"), bytes("a")});
    durable();
    SAY(TOLD(5, TN_OK, .number = 2, .version = lsn));
    SAY(STORE(6, TB_INCREASE, 1, .number = 1));
    durable();
    SAY(TOLD(6, TN_STATE));
}

static void the_store_shows_another_value(void **state) {
    (void)state;
    one_key(0);
    read_it();
    OBJECTION("store", SHOWN(2, "6", 1, 0));
}

static void the_store_forgets_an_expiry(void **state) {
    (void)state;
    one_key(now + 10);
    read_it();
    OBJECTION("store", SHOWN(2, "5", 1, 0));
}

static void the_store_serves_what_is_over(void **state) {
    (void)state;
    one_key(now + 10);
    now += 10;
    read_it();
    OBJECTION("store", SHOWN(2, "5", 1, now));
}

static void the_store_forgets_a_key(void **state) {
    (void)state;
    one_key(0);
    read_it();
    OBJECTION("store", TOLD(2, TN_OK));
}

static void the_store_counts_wrongly(void **state) {
    (void)state;
    one_key(0);
    CHANGE(2, TB_INCREASE, 1, .number = 2);
    durable();
    OBJECTION("store", TOLD(2, TN_OK, .number = 9, .version = 2));
}

static void the_store_ignores_a_condition(void **state) {
    (void)state;
    one_key(0);
    CHANGE(2, TB_SET, 1, .values = {bytes("6")}, .condition = TI_ABSENT);
    durable();
    OBJECTION("store", TOLD(2, TN_OK, .number = 1, .version = 2));
}

static void the_store_takes_a_member_for_new(void **state) {
    (void)state;
    CHANGE(1, TB_ADD, 1, .values = {bytes("a")});
    CHANGE(2, TB_ADD, 2, .values = {bytes("a"), bytes("b")});
    durable();
    SAY(TOLD(1, TN_OK, .number = 1, .version = 1));
    OBJECTION("store", TOLD(2, TN_OK, .number = 2, .version = 2));
}

static void what_a_crash_swallowed_is_not_shown(void **state) {
    (void)state;
    one_key(0);
    CHANGE(2, TB_SET, 1, .values = {bytes("6")});
    restart(1);
    SAY(STORE(3, TB_READ, 1));
    durable();
    SAY(SHOWN(3, "5", 1, 0));
    SAY(STORE(4, TB_READ, 1));
    durable();
    OBJECTION("store", SHOWN(4, "6", 2, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(the_store_is_read_as_it_is),
        T(the_store_shows_another_value),
        T(the_store_forgets_an_expiry),
        T(the_store_serves_what_is_over),
        T(the_store_forgets_a_key),
        T(the_store_counts_wrongly),
        T(the_store_ignores_a_condition),
        T(the_store_takes_a_member_for_new),
        T(what_a_crash_swallowed_is_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
