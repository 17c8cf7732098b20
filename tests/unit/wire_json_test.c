/* wire_json_test.c: JSON into messages, when there is little memory for it. */
#include "test.h"

#include "arena.h"
#include "buf.h"
#include "json_tree.h"
#include "limit.h"
#include "wire.h"
#include "wire_json.h"

#define JOBS 400u
#define JOB "{\"body\":{\"shell\":\"echo a text that is copied into the message\"}}"

/* However much memory a request may have, its text is read or refused. A list that just fits must leave room for what
 * its items take without asking: that would end the process. */
static void a_list_that_nearly_fills_the_memory_is_refused(void **state) {
    (void)state;
    struct limits limits;
    struct buf text;
    uint32_t refused = 0, taken = 0;
    limits_default(&limits);
    buf_init(&text, 1u << 20);
    buf_printf(&text, "%s", "{\"jobs\":[");
    for (uint32_t i = 0; i < JOBS; i++) buf_printf(&text, "%s%s", i > 0 ? "," : "", JOB);
    buf_printf(&text, "%s", "]}");
    for (size_t most = 65536; most <= 2u << 20; most += 2048) {
        struct arena arena;
        struct why why = {{0}};
        const struct json_node *root = NULL;
        struct wire_jobs jobs = {0};
        arena_init(&arena, 4096, most);
        struct wire_json_in x = {.text = buf_slice(&text), .arena = &arena, .why = &why};
        enum err e = json_tree_read(buf_slice(&text), &limits, &arena, &root, &why);
        if (e == ERR_OK) e = wire_json_read(&x, root, &wire_jobs_desc, &jobs);
        assert_true(e == ERR_OK || e == ERR_LIMIT);
        refused += e == ERR_LIMIT;
        taken += e == ERR_OK;
        arena_fini(&arena);
    }
    assert_true(refused > 0 && taken > 0);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_list_that_nearly_fills_the_memory_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
