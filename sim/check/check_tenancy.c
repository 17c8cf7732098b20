/* check_tenancy.c: see check_tenancy.h. It needs no notes: what it sees names both tenants. */
#include "check_tenancy.h"

#include <string.h>

void *check_tenancy_new(void) {
    return NULL;
}

void check_tenancy_free(void *notes) {
    (void)notes;
}

static bool is_same(struct trace_bytes a, struct trace_bytes b) {
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

bool check_tenancy_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    const struct trace_touch *t = &e->as.touch;
    (void)notes, (void)h;
    if ((e->kind != TW_CHANGED && e->kind != TW_TOLD) || is_same(t->by, t->of)) return true;
    const char *what = e->kind == TW_CHANGED ? "changed" : "was told to run";
    if (t->flow == 0)
        return check_object(text, "%.*s %s a worker of %.*s", (int)t->by.len, (const char *)t->by.at, what,
                            (int)t->of.len, (const char *)t->of.at);
    return check_object(text, "%.*s %s flow %llu of %.*s", (int)t->by.len, (const char *)t->by.at, what,
                        (unsigned long long)t->flow, (int)t->of.len, (const char *)t->of.at);
}
