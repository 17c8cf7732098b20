/* verb_logs_set.c: `reeve logs` of a service with replicas: the output of each, line by line behind its name. What is
 * there comes replica by replica; what is followed comes as it is written. */
#include <stdio.h>

#include "lineout.h"
#include "verb_logs.h"
#include "verbs.h"

struct replica_log {
    struct lineout *out;
    struct lineout_from from;
    struct lineout_parts parts;
    uint32_t request;
    bool is_over;
};

static void print_line(void *ctx, const struct lineout_line *line) {
    struct replica_log *l = ctx;
    lineout_print(l->out, &l->from, line);
}

static void hear(struct replica_log *l, const struct client_frame *f) {
    const struct wire_log_data *m = f->message;
    const struct wire_log_piece *pieces = m->pieces.at;
    if (m->attempt != 0) l->from.attempt = m->attempt;
    for (uint32_t i = 0; i < m->pieces.count; i++) lineout_cut(&l->parts, &pieces[i], print_line, l);
    if (f->flags & FRAME_MORE) return;
    lineout_flush(&l->parts, print_line, l);
    l->is_over = true;
}

/* The next frame of any log that is open. */
static enum err next(struct cli *c, struct replica_log *list, uint32_t count) {
    struct client_frame f;
    client_forget(&c->client);
    enum err e = client_next(&c->client, -1, &f, c->why);
    if (e == ERR_OK) e = client_refusal(&f, c->why);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++)
        if (list[i].request == f.request && !list[i].is_over) hear(&list[i], &f);
    return e;
}

enum err logs_of_replicas(struct cli *c, const struct wire_service_view *replicas, uint32_t count,
                          const struct wire_logs *what) {
    struct lineout out = {.cli = c, .plain = cli_flag(c, "no-prefix") != NULL, .times = cli_flag(c, "times") != NULL};
    struct replica_log *list = ARENA_ARRAY(&c->arena, struct replica_log, count);
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (struct replica_log){.out = &out, .from = {.job = replicas[i].name, .number = replicas[i].replica}};
        lineout_init(&list[i].parts);
        lineout_room(&out, replicas[i].name);
    }
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        struct wire_logs m = *what;
        m.job = replicas[i].name;
        e = client_send(&c->client, WIRE_LOGS, &m, &list[i].request, c->why);
        while (e == ERR_OK && !what->follow && !list[i].is_over) e = next(c, list, i + 1);
    }
    for (uint32_t open = count; e == ERR_OK && open > 0;) {
        open = 0;
        for (uint32_t i = 0; i < count; i++) open += !list[i].is_over;
        if (open > 0) e = next(c, list, count);
    }
    for (uint32_t i = 0; i < count; i++) lineout_fini(&list[i].parts);
    return e;
}
