/* live.c: see live.h. */
#include "live.h"

#include "flow.h"
#include "panic.h"
#include "registry.h"
#include "utf8.h"

void live_init(struct live *l) {
    *l = (struct live){.lease_next = {TIME_NEVER}};
    vec_init(&l->workers, sizeof(struct live_worker));
    vec_init(&l->shares, sizeof(uint64_t));
    watches_init(&l->watches);
    vec_init(&l->schedules, sizeof(struct live_schedule));
    vec_init(&l->words, sizeof(struct live_words));
}

void live_fini(struct live *l) {
    vec_fini(&l->workers);
    vec_fini(&l->shares);
    watches_fini(&l->watches);
    for (uint32_t i = 0; i < l->schedules.count; i++) {
        struct live_schedule *known = vec_at(&l->schedules, i);
        vec_fini(&known->slots);
        vec_fini(&known->excluded);
    }
    vec_fini(&l->schedules);
    for (uint32_t i = 0; i < l->words.count; i++) bytes_free(((struct live_words *)vec_at(&l->words, i))->text);
    vec_fini(&l->words);
    option_cache_fini(&l->sets);
}

struct live_worker *live_worker(struct live *l, const struct state *s, uint32_t worker) {
    REQUIRE(worker != 0);
    while (l->workers.count <= worker) vec_push(&l->workers);
    struct live_worker *w = vec_at(&l->workers, worker);
    uint32_t number = worker_at(s, worker)->number;
    if (w->number != number) *w = (struct live_worker){.number = number, .lease_until = {TIME_NEVER}};
    return w;
}

const struct live_worker *live_worker_look(const struct live *l, const struct state *s, uint32_t worker) {
    if (worker >= l->workers.count) return NULL;
    const struct live_worker *w = vec_at(&l->workers, worker);
    return w->number == worker_at(s, worker)->number ? w : NULL;
}

struct live_worker live_worker_get(const struct live *l, const struct state *s, uint32_t worker) {
    const struct live_worker *w = live_worker_look(l, s, worker);
    return w != NULL ? *w : (struct live_worker){0};
}

uint64_t *live_share(struct live *l, uint32_t tenant) {
    while (l->shares.count <= tenant) vec_push(&l->shares);
    return vec_at(&l->shares, tenant);
}

void live_set_lease(struct live *l, struct live_worker *w, mono_time until) {
    w->lease_until = until;
    if (until.ms < l->lease_next.ms) l->lease_next = until;
    ENSURE(l->lease_next.ms <= until.ms);
}

static bool is_about(const struct live_words *w, struct job_ref ref, uint32_t attempt) {
    return w->job.flow.v == ref.flow.v && w->job.ordinal == ref.ordinal && w->attempt == attempt;
}

struct slice live_words_of(const struct live *l, const struct state *s, uint32_t job) {
    const struct job *j = job_at(s, job);
    if (!job_state_is_active(j->state) || j->link >= l->words.count) return (struct slice){0};
    const struct live_words *w = vec_at(&l->words, j->link);
    return is_about(w, job_ref_of(s, j), j->attempt) ? bytes_slice(w->text) : (struct slice){0};
}

static void note_words(struct live *l, const struct state *s, const struct cmd_attempt *cmd) {
    uint32_t job = job_find(s, cmd->job);
    if (job == 0 || !job_state_is_active(job_at(s, job)->state)) return;
    uint32_t run = job_at(s, job)->link;
    if (cmd->note.len == 0 && run >= l->words.count) return;
    while (l->words.count <= run) vec_push(&l->words);
    struct live_words *w = vec_at(&l->words, run);
    struct slice text = utf8_cut(cmd->note, LIVE_WORDS_BYTES);
    bytes_free(w->text);
    *w = (struct live_words){cmd->job, cmd->attempt, text.len > 0 ? bytes_new(text) : NULL};
}

static void note_attach(struct live *l, const struct state *s, const struct limits *limits, const struct inputs *in,
                        const struct cmd_attach *cmd) {
    struct live_worker *w = live_worker(l, s, worker_find(s, cmd->worker));
    w->attached = true;
    w->attached_at = in->wall;
    w->credit = cmd->info.slots;
    live_set_lease(l, w, (mono_time){in->mono.ms + limits->lease_ms});
}

static void note_heartbeat(struct live *l, const struct state *s, const struct limits *limits, const struct inputs *in,
                           const struct cmd_worker *cmd) {
    struct live_worker *w = live_worker(l, s, worker_find(s, cmd->worker));
    w->credit = cmd->credit;
    w->cpu_percent = cmd->cpu_percent;
    w->gpu_percent = cmd->gpu_percent;
    live_set_lease(l, w, (mono_time){in->mono.ms + limits->lease_ms});
}

static void note_watch(struct live *l, const struct state *s, const struct command *cmd) {
    const struct cmd_store *c = &cmd->as.store;
    if (c->op == STORE_WATCH) {
        struct watch_where where = {cmd->tenant, c->flow};
        if (c->flow.v) where.tenant = bytes_slice(tenant_at(s, flow_at(s, flow_find(s, c->flow))->tenant)->name);
        watches_remove(&l->watches, c->session, c->watch);
        watches_add(&l->watches, c->session, c->watch, c->of_channel ? WATCH_CHANNEL : WATCH_KEY, where, c->key,
                    c->prefix);
    } else if (c->op == STORE_UNWATCH && c->watch) {
        watches_remove(&l->watches, c->session, c->watch);
    } else if (c->op == STORE_UNWATCH) {
        watches_end(&l->watches, c->session);
    }
}

const struct live_schedule *live_schedule_get(const struct live *l, const struct state *s, uint32_t schedule) {
    if (schedule >= l->schedules.count) return NULL;
    const struct live_schedule *known = vec_at(&l->schedules, schedule);
    return known->revision == schedule_at(s, schedule)->revision ? known : NULL;
}

const struct cmd_slots_excluded *live_slot_excluded(const struct live_schedule *known, int64_t slot_ms) {
    for (uint32_t i = 0; i < known->excluded.count; i++) {
        const struct cmd_slots_excluded *day = vec_at(&known->excluded, i);
        if (day->slot_ms == slot_ms) return day;
    }
    return NULL;
}

static void note_slots(struct live *l, const struct state *s, const struct cmd_schedule_slots *cmd) {
    uint32_t index = map_get(&s->schedule_by_revision, cmd->revision);
    REQUIRE(index != 0);
    while (l->schedules.count <= index) {
        struct live_schedule *fresh = vec_push(&l->schedules);
        vec_init(&fresh->slots, sizeof(int64_t));
        vec_init(&fresh->excluded, sizeof(struct cmd_slots_excluded));
    }
    struct live_schedule *known = vec_at(&l->schedules, index);
    known->revision = cmd->revision;
    known->after_ms = cmd->after_ms;
    known->earlier = cmd->earlier;
    known->last = cmd->last;
    known->slots.count = 0;
    for (uint32_t i = 0; i < cmd->slot_count; i++) *(int64_t *)vec_push(&known->slots) = cmd->slots[i];
    known->excluded.count = 0;
    for (uint32_t i = 0; i < cmd->excluded_count; i++)
        *(struct cmd_slots_excluded *)vec_push(&known->excluded) = cmd->excluded[i];
}

/* Slots are asked for again: those known follow a time that schedules may have gone back from. */
void live_clock_moved(struct live *l, int64_t by_ms) {
    for (uint32_t i = 0; i < l->workers.count; i++)
        ((struct live_worker *)vec_at(&l->workers, i))->attached_at.ms += by_ms;
    for (uint32_t i = 0; i < l->schedules.count; i++) ((struct live_schedule *)vec_at(&l->schedules, i))->revision = 0;
}

void live_note(struct live *l, const struct state *s, const struct limits *limits, const struct inputs *in,
               const struct command *cmd) {
    if (cmd->kind == CMD_ATTACH)
        note_attach(l, s, limits, in, &cmd->as.attach);
    else if (cmd->kind == CMD_HEARTBEAT)
        note_heartbeat(l, s, limits, in, &cmd->as.worker);
    else if (cmd->kind == CMD_PROGRESS)
        note_words(l, s, &cmd->as.attempt);
    else if (cmd->kind == CMD_STORE)
        note_watch(l, s, cmd);
    else if (cmd->kind == CMD_POLICY)
        l->ask_next = 1;
    else if (cmd->kind == CMD_PROJECTED)
        l->projected_lsn = cmd->as.lsn > l->projected_lsn ? cmd->as.lsn : l->projected_lsn;
    else if (cmd->kind == CMD_SCHEDULE_SLOTS)
        note_slots(l, s, &cmd->as.schedule_slots);
    else if (cmd->kind == CMD_DETACH)
        live_worker(l, s, worker_find(s, cmd->as.worker.worker))->attached = false;
}
