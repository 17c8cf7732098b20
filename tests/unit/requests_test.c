/* requests_test.c: the table of requests is whole: a row for each message that is sent to a server, for none that it
 * sends itself, and a row behind each command of a dialect that has no messages. What the rows say is tried against the
 * built server: tests/e2e/rights_test.c. */
#include "test.h"

#include "dialect.h"
#include "request_table.h"
#include "requests.h"
#include "resp_impl.h"

/* Questions that only connections of one dialect ask; from anywhere else they are no requests. */
static bool is_of_a_dialect(uint8_t op) {
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++)
        if ((*d)->own_row != NULL && (*d)->own_op == op) return true;
    return false;
}

static void each_request_has_one_row(void **state) {
    (void)state;
    uint32_t times[256] = {0};
#define X(opcode, roles, names, flags, serve) times[opcode]++;
    REQUEST_TABLE(X)
#undef X
    for (uint32_t op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        bool is_sent = info != NULL && info->sender != WIRE_FROM_SERVER && !is_of_a_dialect((uint8_t)op);
        if (times[op] != is_sent) fail_msg("%s: %u rows", wire_word((uint8_t)op), times[op]);
        const struct request_row *row = request_row((uint8_t)op);
        assert_true((row != NULL) == is_sent);
        if (row == NULL) continue;
        assert_int_not_equal(row->roles, 0);
        assert_true(row->names < NAMES_COUNT);
    }
}

/* The words of a worker are those behind `attach`, and only a worker's token may say them. */
static void the_words_of_a_worker_need_an_attach(void **state) {
    (void)state;
    for (uint32_t op = 0; op < 256; op++) {
        const struct request_row *row = request_row((uint8_t)op);
        if (row == NULL) continue;
        bool is_workers = wire_info((uint8_t)op)->sender == WIRE_FROM_WORKER;
        assert_true(((row->flags & REQUEST_NEEDS_ATTACH) != 0) == (is_workers && op != WIRE_ATTACH));
        if (is_workers) assert_int_equal(row->roles, CAN_WORK);
    }
}

static void each_command_of_resp_names_a_row(void **state) {
    (void)state;
    for (uint32_t i = 0; i < resp_command_count; i++) {
        const struct resp_command *c = &resp_commands[i];
        bool is_stranger = (c->flags & RESP_STRANGER) != 0;
        if ((request_row(c->op) == NULL) != is_stranger) fail_msg("%s", c->name);
        if (c->flags & RESP_WRITES) assert_int_equal(c->op, WIRE_KV_CHANGE);
        if ((c->flags & RESP_READS) && c->op != WIRE_KV_WATCH) assert_int_equal(c->op, WIRE_KV_GET);
    }
}

static void questions_of_dialects_are_those_of_orion_and_titan(void **state) {
    (void)state;
    for (uint32_t op = 0; op < 256; op++)
        assert_int_equal(is_of_a_dialect((uint8_t)op), op == WIRE_ORION_GET || op == WIRE_TITAN_GET);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_has_one_row),
        cmocka_unit_test(questions_of_dialects_are_those_of_orion_and_titan),
        cmocka_unit_test(the_words_of_a_worker_need_an_attach),
        cmocka_unit_test(each_command_of_resp_names_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
