/* check.c: the table of checkers. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "check_attempt.h"
#include "check_capacity.h"
#include "check_end.h"
#include "check_exclusive.h"
#include "check_expand.h"
#include "check_finale.h"
#include "check_graph.h"
#include "check_limit.h"
#include "check_log.h"
#include "check_memo.h"
#include "check_policy.h"
#include "check_saga.h"
#include "check_service.h"
#include "check_store.h"
#include "check_submit.h"
#include "check_tenancy.h"
#include "panic.h"

/* Each checker is three functions over notes of its own. */
struct checker {
    const char *name;
    void *(*make)(void);
    void (*drop)(void *notes);
    bool (*entry)(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);
};

static const struct checker checkers[] = {
    {"log", check_log_new, check_log_free, check_log_entry},
    {"submit", check_submit_new, check_submit_free, check_submit_entry},
    {"attempt", check_attempt_new, check_attempt_free, check_attempt_entry},
    {"exclusive", check_exclusive_new, check_exclusive_free, check_exclusive_entry},
    {"capacity", check_capacity_new, check_capacity_free, check_capacity_entry},
    {"limit", check_limit_new, check_limit_free, check_limit_entry},
    {"graph", check_graph_new, check_graph_free, check_graph_entry},
    {"saga", check_saga_new, check_saga_free, check_saga_entry},
    {"finale", check_finale_new, check_finale_free, check_finale_entry},
    {"service", check_service_new, check_service_free, check_service_entry},
    {"policy", check_policy_new, check_policy_free, check_policy_entry},
    {"memo", check_memo_new, check_memo_free, check_memo_entry},
    {"end", check_end_new, check_end_free, check_end_entry},
    {"expand", check_expand_new, check_expand_free, check_expand_entry},
    {"store", check_store_new, check_store_free, check_store_entry},
    {"tenancy", check_tenancy_new, check_tenancy_free, check_tenancy_entry},
};
#define CHECKER_COUNT (sizeof checkers / sizeof *checkers)

struct check {
    struct check_history history;
    void *notes[CHECKER_COUNT];
    uint64_t entries;
    bool objected;
    char finding[CHECK_TEXT_BYTES + 80];
};

struct check *check_new(void) {
    struct check *c = calloc(1, sizeof *c);
    REQUIRE(c != NULL);
    check_history_init(&c->history);
    for (size_t i = 0; i < CHECKER_COUNT; i++) c->notes[i] = checkers[i].make();
    return c;
}

void check_free(struct check *c) {
    if (c == NULL) return;
    for (size_t i = 0; i < CHECKER_COUNT; i++) checkers[i].drop(c->notes[i]);
    check_history_fini(&c->history);
    free(c);
}

bool check_entry(struct check *c, const struct trace_entry *e) {
    char text[CHECK_TEXT_BYTES] = "";
    c->entries++;
    for (size_t i = 0; !c->objected && i < CHECKER_COUNT; i++) {
        if (checkers[i].entry(c->notes[i], &c->history, e, text)) continue;
        c->objected = true;
        (void)snprintf(c->finding, sizeof c->finding, "%s: entry %llu, time %lld: %s", checkers[i].name,
                       (unsigned long long)c->entries, (long long)e->time_ms, text);
    }
    if (!c->objected) check_history_entry(&c->history, e);
    return !c->objected;
}

const char *check_finding(const struct check *c) {
    return c->objected ? c->finding : NULL;
}
