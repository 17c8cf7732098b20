/* titan_dags.c: DAGs as Titan's dashboard shows them. A job belongs to the DAG of the newest flow that has its id; the
 * DAG of a flow is what the dashboard submitted it as (a label), else what a manifest told (late_labels.h), else the
 * flow's name. What the dashboard submits takes the place of what was submitted under that name before. Jobs that only
 * the manifest knows come behind those that are in memory. */
#include <stdio.h>

#include "json.h"
#include "json_tree.h"
#include "late_labels.h"
#include "titan_view.h"
#include "titan_web_dag.h"
#include "view_history.h"
#include "view_store.h"

#define JOBS_MAX 20000u     /* newest, as in the statistics */
#define MANIFEST_MAX 20000u /* entries of jobs that are not in memory */
#define TEXT_BYTES_MAX ((size_t)WIRE_TITAN_STATS_MAX)

struct dag {
    struct slice name;
    uint64_t flow;        /* whose jobs were taken in last */
    uint32_t generation;  /* of its jobs: older ones are no longer its */
    uint32_t first, last; /* of its jobs: position + 1 */
};

struct dag_job {
    struct slice id;
    uint32_t dag, generation;
    const char *status;
    uint32_t port; /* of its worker; 0 = none */
    uint32_t next;
};

struct dags {
    struct server *s;
    struct vec dags, jobs;
    struct index by_name, by_id;
    uint64_t flow; /* whose DAG `dag` is */
    uint32_t dag;
    uint32_t looked;
};

static struct dag *dag_at(const struct dags *d, uint32_t value) {
    return vec_at(&d->dags, value - 1);
}

static struct dag_job *job_at(const struct dags *d, uint32_t value) {
    return vec_at(&d->jobs, value - 1);
}

static struct slice name_of(const void *ctx, uint32_t value) {
    return dag_at(ctx, value)->name;
}

static struct slice id_of(const void *ctx, uint32_t value) {
    return job_at(ctx, value)->id;
}

static uint32_t dag_named(struct dags *d, struct slice name) {
    uint32_t found = index_get(&d->by_name, name, name_of, d);
    if (found != 0) return found;
    *(struct dag *)vec_push(&d->dags) = (struct dag){.name = name};
    index_put(&d->by_name, name, d->dags.count);
    return d->dags.count;
}

/* ---- flows ---- */

static uint32_t dag_of_flow(struct dags *d, flow_id id) {
    const struct label *labels = NULL;
    struct flow_view flow;
    struct slice name = {0};
    bool replay = false, whole = false;
    uint32_t count = view_labels(server_state(d->s), id, &d->s->frame_arena, &labels);
    for (uint32_t i = 0; i < count; i++) {
        if (slice_eq(labels[i].key, SLICE(TITAN_DAG_LABEL))) name = labels[i].value, whole = true;
        if (slice_eq(labels[i].key, SLICE(TITAN_REPLAY_LABEL))) replay = true;
    }
    if (name.len == 0) name = late_label(server_state(d->s), id, LATE_KEY_DAG);
    if (name.len == 0 && view_flow(server_state(d->s), id, &flow)) name = titan_dag_name(flow.name);
    uint32_t value = dag_named(d, name);
    struct dag *dag = dag_at(d, value);
    if (whole && !replay && dag->flow != id.v) dag->generation++;
    dag->flow = id.v;
    return value;
}

static const char *status_of(const struct server *s, const struct job_view *job) {
    const char *word = titan_status_word(s, job);
    return strcmp(word, "DEAD") == 0 ? "FAILED" : word;
}

static uint32_t port_of(const struct dags *d, const struct job_view *job) {
    struct worker_view worker;
    if (job->worker == 0 ||
        !view_worker(server_state(d->s), engine_live(server_shard(d->s)->engine), job->worker, &worker))
        return 0;
    return titan_port_of(&worker);
}

static void job_put(struct dags *d, const struct dag_job *job) {
    uint32_t before = index_get(&d->by_id, job->id, id_of, d);
    if (before != 0) {
        *job_at(d, before) = *job;
        return;
    }
    *(struct dag_job *)vec_push(&d->jobs) = *job;
    index_put(&d->by_id, job->id, d->jobs.count);
}

static void flows_read(struct dags *d) {
    const struct vec *entries = &titan_book_of(d->s)->entries;
    struct job_view job;
    titan_book_update(d->s);
    for (uint32_t i = entries->count > JOBS_MAX ? entries->count - JOBS_MAX : 0; i < entries->count; i++) {
        const struct titan_entry *e = vec_at(entries, i);
        if (!view_job(server_state(d->s), e->job, &job)) continue;
        if (e->job.flow.v != d->flow) d->dag = dag_of_flow(d, e->job.flow);
        d->flow = e->job.flow.v;
        job_put(d, &(struct dag_job){.id = bytes_slice(e->id),
                                     .dag = d->dag,
                                     .generation = dag_at(d, d->dag)->generation,
                                     .status = status_of(d->s, &job),
                                     .port = port_of(d, &job)});
    }
}

/* ---- the manifest ---- */

static const char *final_word(const struct json_node *status) {
    static const char *const words[] = {"COMPLETED", "FAILED", "CANCELLED", "RUNNING", "PENDING"};
    for (size_t i = 0; status != NULL && i < sizeof words / sizeof words[0]; i++)
        if (slice_eq(status->text, slice_str(words[i]))) return words[i];
    return status != NULL && slice_eq(status->text, SLICE("DEAD")) ? "FAILED" : "WAITING";
}

static void one_entry(void *ctx, const struct item_view *item) {
    struct dags *d = ctx;
    size_t prefix = sizeof TITAN_MANIFEST_PREFIX - 1;
    struct slice id = slice_of(item->key.ptr + prefix, item->key.len - prefix);
    const struct json_node *root = NULL;
    struct why ignored;
    if (d->looked == MANIFEST_MAX || index_get(&d->by_id, id, id_of, d) != 0) return;
    d->looked++;
    if (json_tree_read(item->value, d->s->limits, &d->s->frame_arena, &root, &ignored) != ERR_OK) return;
    const struct json_node *dag = json_tree_get(root, SLICE("dag"));
    if (dag == NULL || dag->kind != JSON_TEXT || dag->text.len == 0) return;
    uint32_t value = dag_named(d, dag->text);
    /* Of a DAG that was submitted anew since, this is a job that it no longer has. */
    if (dag_at(d, value)->generation > 0) return;
    job_put(
        d, &(struct dag_job){.id = id, .dag = value, .status = final_word(json_tree_get(root, SLICE("final_status")))});
}

static void manifest_read(struct dags *d) {
    struct store_place place = {.tenant = slice_str(titan_of(d->s)->options->tenant)};
    struct store_page page = {.prefix = SLICE(TITAN_MANIFEST_PREFIX TITAN_DAG_PREFIX), .most = 1000};
    struct slice last = {0};
    while (view_items(server_state(d->s), engine_now(server_shard(d->s)->engine), place, &page, one_entry, d, &last) &&
           d->looked < MANIFEST_MAX)
        page.after = last;
}

/* ---- both ---- */

static void dags_read(struct server *s, struct dags *d) {
    *d = (struct dags){.s = s};
    vec_init(&d->dags, sizeof(struct dag));
    vec_init(&d->jobs, sizeof(struct dag_job));
    index_init(&d->by_name);
    index_init(&d->by_id);
    flows_read(d);
    manifest_read(d);
    for (uint32_t i = 1; i <= d->jobs.count; i++) {
        struct dag *dag = dag_at(d, job_at(d, i)->dag);
        if (job_at(d, i)->generation != dag->generation) continue;
        if (dag->last != 0)
            job_at(d, dag->last)->next = i;
        else
            dag->first = i;
        dag->last = i;
    }
}

static void dags_free(struct dags *d) {
    vec_fini(&d->dags);
    vec_fini(&d->jobs);
    index_fini(&d->by_name);
    index_fini(&d->by_id);
}

/* FAILED before RUNNING before CANCELLED; COMPLETED when all are. */
static const char *dag_status(const struct dags *d, const struct dag *dag) {
    bool failed = false, running = false, cancelled = false, done = true;
    for (uint32_t i = dag->first; i != 0; i = job_at(d, i)->next) {
        const char *status = job_at(d, i)->status;
        failed |= strcmp(status, "FAILED") == 0;
        running |= strcmp(status, "RUNNING") == 0;
        cancelled |= strcmp(status, "CANCELLED") == 0;
        done &= strcmp(status, "COMPLETED") == 0;
    }
    return failed ? "FAILED" : running ? "RUNNING" : cancelled ? "CANCELLED" : done ? "COMPLETED" : "PENDING";
}

static void dag_put(struct json *j, const struct dags *d, const struct dag *dag) {
    char text[32];
    json_object(j);
    char *id = arena_alloc(&d->s->frame_arena, dag->name.len + sizeof TITAN_DAG_PREFIX);
    size_t len =
        (size_t)snprintf(id, dag->name.len + sizeof TITAN_DAG_PREFIX, TITAN_DAG_PREFIX "%.*s", SLICE_FMT(dag->name));
    json_key(j, "id"), json_text(j, slice_of(id, len));
    json_key(j, "name"), json_text(j, dag->name);
    json_key(j, "status"), json_str(j, dag_status(d, dag));
    json_key(j, "jobs");
    json_array(j);
    for (uint32_t i = dag->first; i != 0; i = job_at(d, i)->next) {
        json_object(j);
        json_key(j, "id"), json_text(j, job_at(d, i)->id);
        json_key(j, "status"), json_str(j, job_at(d, i)->status);
        json_key(j, "worker");
        snprintf(text, sizeof text, "127.0.0.1:%u", job_at(d, i)->port);
        if (job_at(d, i)->port != 0)
            json_str(j, text);
        else
            json_null(j);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

struct slice titan_dags_as_json(struct server *s) {
    struct dags d;
    struct buf b;
    struct json j;
    dags_read(s, &d);
    buf_init(&b, TEXT_BYTES_MAX);
    json_init(&j, &b);
    json_array(&j);
    for (uint32_t i = 1; i <= d.dags.count; i++)
        if (dag_at(&d, i)->first != 0) dag_put(&j, &d, dag_at(&d, i));
    json_array_end(&j);
    struct slice text = b.full ? (struct slice){0} : arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
    dags_free(&d);
    return text;
}

uint32_t titan_dag_ids(struct server *s, struct slice name, struct slice **ret) {
    struct dags d;
    uint32_t count = 0;
    dags_read(s, &d);
    *ret = ARENA_ARRAY(&s->frame_arena, struct slice, d.jobs.count + 1);
    uint32_t value = index_get(&d.by_name, name, name_of, &d);
    for (uint32_t i = value != 0 ? dag_at(&d, value)->first : 0; i != 0; i = job_at(&d, i)->next)
        (*ret)[count++] = job_at(&d, i)->id;
    dags_free(&d);
    return count;
}
