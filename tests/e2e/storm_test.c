/* storm_test.c: requests of every kind with whatever their tables allow, from clients and workers at once. Each request
 * with an id is answered or its connection is closed; the server lives, and what it recorded it can read again. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "realserver.h"
#include "tlvgen.h"
#include "wireclient.h"

#define REQUESTS 4000

static struct test_random random_state = {20};

static uint64_t draw(void *ctx) {
    return test_random_next(ctx);
}

/* Names of things that are there, mostly, in place of those that are made up. */
static void aim(struct tlvgen *g, const struct tlv_desc *d, void *at) {
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        uint8_t *member = (uint8_t *)at + f->offset;
        if (f->type == TLV_MSG) aim(g, f->sub, member);
        if (f->type == TLV_LIST) {
            struct tlv_list *list = (struct tlv_list *)(void *)member;
            for (uint32_t k = 0; k < list->count; k++) aim(g, f->sub, (uint8_t *)list->at + k * f->sub->size);
        }
        if (f->type != TLV_TEXT || f->max != WIRE_TARGET_MAX || tlvgen_below(g, 4) == 0) continue;
        char *text = arena_alloc(g->arena, 16);
        const char *const jobs[] = {"", "/a", "/b", "/w", "/"};
        snprintf(text, 16, "f1%u%s", (unsigned)tlvgen_below(g, 10), jobs[tlvgen_below(g, 5)]);
        *(struct slice *)(void *)member = slice_str(text);
    }
}

static bool is_for_a_server(uint8_t op) {
    const struct wire_info *info = wire_info(op);
    return info != NULL && info->sender != WIRE_FROM_SERVER && op != WIRE_HELLO && op != WIRE_ERROR;
}

static bool send_something(struct wireclient *c, bool worker) {
    struct tlvgen g = {
        .draw = draw, .ctx = &random_state, .arena = &c->arena, .small = test_random_below(&random_state, 4) != 0};
    uint8_t op;
    do {
        op = (uint8_t)test_random_below(&random_state, 160);
        if (op == WIRE_DRAIN || op == WIRE_TOKEN_REVOKE) op = WIRE_SUBMIT;
        if (test_random_below(&random_state, 3) == 0) op = worker ? WIRE_ATTACH : WIRE_SUBMIT;
    } while (!is_for_a_server(op));
    const struct wire_info *info = wire_info(op);
    void *message = arena_alloc(&c->arena, info->desc->size);
    tlvgen_fill(&g, info->desc, message);
    aim(&g, info->desc, message);
    if (op == WIRE_WAIT) ((struct wire_wait *)message)->timeout_ms = 1;
    return wireclient_send(c, (enum wire_op)op, message) != 0;
}

static void open_one(struct wireclient *c, struct realserver *s, bool worker) {
    if (!wireclient_dial(c, s->address))
        realserver_kill(s); /* it is dead: what it said last is told */
    else
        wireclient_close(c);
    wireclient_open(c, s->address, worker ? s->worker : s->admin, worker ? WIRE_PEER_WORKER : WIRE_PEER_CLIENT);
}

static void ping(struct wireclient *c, bool *ret_alive) {
    struct wire_ping m = {.number = 9};
    struct wiregot got;
    *ret_alive = wireclient_try(c, WIRE_PING, &m, &got) && got.op == WIRE_PONG;
}

static void whatever_comes_the_server_lives(void **state) {
    (void)state;
    struct realserver s;
    struct wireclient c[4];
    realserver_make(&s);
    s.flags[0] = "--log-level";
    s.flags[1] = "error";
    s.flags[2] = "--lease-ms";
    s.flags[3] = "300";
    s.quiet = true;
    realserver_start(&s);
    for (int i = 0; i < 4; i++) open_one(&c[i], &s, i % 2);
    for (int i = 0; i < REQUESTS; i++) {
        int k = (int)test_random_below(&random_state, 4);
        bool alive = send_something(&c[k], k % 2);
        if (alive && i % 5 == 0) ping(&c[k], &alive);
        if (getenv("STORM_SEED")) fprintf(stderr, "%d%s ", i, alive ? "" : "!");
        if (!alive) { /* hung up on: come back */
            wireclient_close(&c[k]);
            open_one(&c[k], &s, k % 2);
        }
        wireclient_forget(&c[k]);
        if (i % 1000 != 999) continue;
        for (int n = 0; n < 4; n++) wireclient_close(&c[n]);
        realserver_kill(&s);
        realserver_start(&s);
        for (int n = 0; n < 4; n++) open_one(&c[n], &s, n % 2);
    }
    for (int i = 0; i < 4; i++) wireclient_close(&c[i]);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_comes_the_server_lives)};
    if (getenv("STORM_SEED")) random_state.state = strtoull(getenv("STORM_SEED"), NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
