/* state.c: birth and end of the durable state, and the timers. See state.h. */
#include "state.h"

#include "class.h"
#include "directory.h"
#include "flow.h"
#include "key_cause.h"
#include "memo.h"
#include "panic.h"
#include "schedule.h"
#include "service_versions.h"
#include "store.h"
#include "timer.h"

#define SCRATCH_CHUNK_BYTES 65536
#define SCRATCH_BYTES_MAX ((size_t)1 << 32)

static const struct tlv_field flow_head_fields[] = {
    TLV_FIELD(1, TLV_TEXT, flow_head, name, .max = 255),
    TLV_FIELD(2, TLV_TEXT, flow_head, principal, .max = 255),
    TLV_FIELD(3, TLV_TEXT, flow_head, trace, .max = 255),
    TLV_FIELD(4, TLV_LIST, flow_head, labels, .max = 64, .sub = &label_desc),
    TLV_FIELD(60, TLV_TEXT, flow_head, schedule, .max = 255),
    TLV_FIELD(61, TLV_I64, flow_head, slot_ms),
    TLV_FIELD(62, TLV_TEXT, flow_head, zone, .max = 255),
    SOURCE_FIELDS(flow_head),
    CAUSE_FIELDS(flow_head),
};
const struct tlv_desc flow_head_desc = TLV_DESC("flow_head", flow_head, flow_head_fields);

/* Limits bind decide; the pools themselves end only where 32-bit indices end. */
#define POOL_MAX (UINT32_MAX - 1u)

void state_init(struct state *s, uint32_t shard) {
    memset(s, 0, sizeof *s);
    s->shard = shard;
    pool_init(&s->flows, sizeof(struct flow), POOL_MAX);
    pool_init(&s->jobs, sizeof(struct job), POOL_MAX);
    pool_init(&s->extras, sizeof(struct extra), POOL_MAX);
    pool_init(&s->profiles, sizeof(struct profile), POOL_MAX);
    pool_init(&s->classes, sizeof(struct class_), POOL_MAX);
    pool_init(&s->runs, sizeof(struct run), POOL_MAX);
    pool_init(&s->notes, sizeof(struct attempt_note), POOL_MAX);
    pool_init(&s->workers, sizeof(struct worker), POOL_MAX);
    pool_init(&s->questions, sizeof(struct question), POOL_MAX);
    pool_init(&s->keys, sizeof(struct key), POOL_MAX);
    pool_init(&s->tenants, sizeof(struct tenant), POOL_MAX);
    pool_init(&s->pools, sizeof(struct pool_), POOL_MAX);
    pool_init(&s->topics, sizeof(struct topic), POOL_MAX);
    pool_init(&s->quotas, sizeof(struct quota), POOL_MAX);
    pool_init(&s->services, sizeof(struct service), POOL_MAX);
    pool_init(&s->besides, sizeof(struct two_versions), POOL_MAX);
    index_init(&s->service_by_name);
    map_init(&s->service_by_flow);
    pool_init(&s->expansions, sizeof(struct expansion), POOL_MAX);
    pool_init(&s->fans, sizeof(struct fan), POOL_MAX);
    pool_init(&s->finales, sizeof(struct finale), POOL_MAX);
    pool_init(&s->schedules, sizeof(struct schedule), POOL_MAX);
    pool_init(&s->memos, sizeof(struct memo), POOL_MAX);
    pool_init(&s->memo_jobs, sizeof(struct memo_job), POOL_MAX);
    index_init(&s->memo_by_key);
    causes_init(&s->causes);
    index_init(&s->schedule_by_name);
    map_init(&s->schedule_by_revision);
    map_init(&s->leaving_by_id);
    map_init(&s->flow_by_id);
    for (uint32_t i = 0; i < FLOW_LIST_COUNT; i++) numset_init(&s->flow_lists[i]);
    map_init(&s->question_by_id);
    map_init(&s->worker_by_number);
    index_init(&s->profile_by_key);
    index_init(&s->class_by_key);
    index_init(&s->key_by_text);
    index_init(&s->worker_by_id);
    index_init(&s->tenant_by_name);
    index_init(&s->pool_by_name);
    index_init(&s->topic_by_name);
    store_init(&s->store);
    directory_init(&s->directory);
    index_init(&s->quota_by_text);
    timer_init(s);
    arena_init(&s->scratch, SCRATCH_CHUNK_BYTES, SCRATCH_BYTES_MAX);
    buf_init(&s->head_bytes, (size_t)1 << 20);
    s->placement = 1;
}

/* Frees what the live elements of a pool own, then the pool. */
#define FINI_POOL(s, pool, type, is_live, release)   \
    for (uint32_t i = 1; i <= (s)->pool.high; i++) { \
        struct type *it = pool_at(&(s)->pool, i);    \
        if (is_live) {                               \
            release;                                 \
        }                                            \
    }                                                \
    pool_fini(&(s)->pool)

void state_fini(struct state *s) {
    for (uint32_t i = 0; i < s->buried.count; i++) flow_release_memory(flow_at(s, s->buried.at[i]));
    u32vec_fini(&s->buried);
    u32vec_fini(&s->deploying);
    FINI_POOL(s, flows, flow, it->id != 0, flow_release_memory(it));
    FINI_POOL(s, profiles, profile, it->key != NULL, (bytes_free(it->key), arena_fini(&it->arena)));
    FINI_POOL(s, classes, class_, it->key != NULL, (bytes_free(it->key), arena_fini(&it->arena)));
    FINI_POOL(s, workers, worker, it->id != NULL, (bytes_free(it->id), bytes_free(it->record), arena_fini(&it->arena)));
    FINI_POOL(s, keys, key, it->text != NULL, bytes_free(it->text));
    FINI_POOL(s, tenants, tenant, it->name != NULL, bytes_free(it->name));
    FINI_POOL(s, pools, pool_, it->name != NULL,
              (bytes_free(it->name), bytes_free(it->record), arena_fini(&it->arena)));
    FINI_POOL(s, topics, topic, it->name != NULL,
              (bytes_free(it->name), bytes_free(it->record), arena_fini(&it->arena)));
    store_fini(&s->store);
    directory_fini(&s->directory);
    FINI_POOL(s, quotas, quota, it->text != NULL, bytes_free(it->text));
    FINI_POOL(s, services, service, it->key != NULL,
              (bytes_free(it->key), bytes_free(it->health.note), service_versions_release(it)));
    FINI_POOL(s, besides, two_versions, it->service != 0, bytes_free(it->health.note));
    index_fini(&s->service_by_name);
    map_fini(&s->service_by_flow);
    FINI_POOL(s, expansions, expansion, it->job != 0, map_fini(&it->made));
    FINI_POOL(s, fans, fan, it->expansions.at != NULL, u32vec_fini(&it->expansions));
    FINI_POOL(s, schedules, schedule, it->key != NULL, schedule_release_memory(it));
    FINI_POOL(s, memos, memo, it->key != NULL, memo_release_memory(it));
    pool_fini(&s->finales);
    pool_fini(&s->memo_jobs);
    FINI_POOL(s, notes, attempt_note, it->is_used, bytes_free(it->facts));
    index_fini(&s->memo_by_key);
    causes_fini(&s->causes);
    index_fini(&s->schedule_by_name);
    map_fini(&s->schedule_by_revision);
    map_fini(&s->leaving_by_id);
    pool_fini(&s->jobs);
    pool_fini(&s->extras);
    pool_fini(&s->runs);
    pool_fini(&s->questions);
    map_fini(&s->flow_by_id);
    for (uint32_t i = 0; i < FLOW_LIST_COUNT; i++) numset_fini(&s->flow_lists[i]);
    map_fini(&s->question_by_id);
    map_fini(&s->worker_by_number);
    index_fini(&s->profile_by_key);
    index_fini(&s->class_by_key);
    index_fini(&s->key_by_text);
    index_fini(&s->worker_by_id);
    index_fini(&s->tenant_by_name);
    index_fini(&s->pool_by_name);
    index_fini(&s->topic_by_name);
    index_fini(&s->quota_by_text);
    heap_fini(&s->timers);
    arena_fini(&s->scratch);
    buf_fini(&s->head_bytes);
}

size_t state_bytes(const struct state *s) {
    const struct pool *pools[] = {&s->flows,   &s->jobs,      &s->extras, &s->profiles, &s->classes, &s->runs,
                                  &s->workers, &s->questions, &s->keys,   &s->tenants,  &s->pools,   &s->topics};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) bytes += pool_bytes(pools[i]);
    bytes += map_bytes(&s->flow_by_id) + map_bytes(&s->question_by_id) + map_bytes(&s->worker_by_number);
    for (uint32_t i = 0; i < FLOW_LIST_COUNT; i++) bytes += numset_bytes(&s->flow_lists[i]);
    bytes += index_bytes(&s->profile_by_key) + index_bytes(&s->class_by_key) + index_bytes(&s->key_by_text);
    bytes += pool_bytes(&s->services) + pool_bytes(&s->besides) + index_bytes(&s->service_by_name) +
             map_bytes(&s->service_by_flow);
    bytes += pool_bytes(&s->quotas) + index_bytes(&s->quota_by_text);
    bytes += pool_bytes(&s->expansions) + pool_bytes(&s->fans) + pool_bytes(&s->notes);
    bytes += pool_bytes(&s->finales);
    for (uint32_t i = 1; i <= s->expansions.high; i++)
        if (expansion_at(s, i)->job) bytes += map_bytes(&expansion_at(s, i)->made);
    bytes += map_bytes(&s->leaving_by_id) + pool_bytes(&s->schedules) + index_bytes(&s->schedule_by_name) +
             map_bytes(&s->schedule_by_revision) + causes_bytes(&s->causes);
    for (uint32_t i = 1; i <= s->schedules.high; i++)
        if (schedule_at(s, i)->key) bytes += schedule_bytes(schedule_at(s, i));
    bytes += pool_bytes(&s->memos) + pool_bytes(&s->memo_jobs) + index_bytes(&s->memo_by_key);
    for (uint32_t i = 1; i <= s->tenants.high; i++) bytes += tenant_at(s, i)->memo_bytes;
    for (uint32_t i = 1; i <= s->fans.high; i++) bytes += fan_at(s, i)->expansions.slots * sizeof(uint32_t);
    bytes += s->timers.slots * sizeof(struct heap_item) + store_bytes(&s->store) + directory_bytes(&s->directory);
    for (uint32_t i = 0; i < s->buried.count; i++) bytes += flow_bytes(flow_at(s, s->buried.at[i]));
    for (uint32_t i = 1; i <= s->flows.high; i++) {
        const struct flow *f = flow_at(s, i);
        if (f->id != 0) bytes += flow_bytes(f);
    }
    return bytes;
}
