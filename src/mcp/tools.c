/* tools.c: the table of tools. What tools/list tells, what arguments are checked against and the guide come of it. */
#include "tool.h"

/* clang-format off */
static const struct tool tools[] = {
    /* Titan's, by the same names */
    {"ping_master", "Is the server there? Call this first when in doubt.", "viewer", true, tool_ping, {{0}}},
    {"submit_single_job", "Runs one Python script as a job. Returns at once; get_job_status and get_job_logs tell how it went.", "submitter", false, tool_submit_job, {
        {"job_id", TOOL_TEXT, true, "a name of your choice for the job; the newest job of a name is meant later"},
        {"script_content", TOOL_TEXT, true, "the text of the Python script; it can import `reeve` and `titan_sdk`"},
        {"args", TOOL_TEXT, false, "arguments, separated by blanks"},
        {"requirement", TOOL_TEXT, false, "capability that the worker must have, like GPU; GENERAL means any"},
        {"priority", TOOL_COUNT, false, "priority; higher runs first (default: 1)"},
        {0}}},
    {"submit_dag_pipeline", "Runs several Python scripts that depend on each other, as one flow. Parents may also be jobs that were submitted before.", "submitter", false, tool_submit_dag, {
        {"dag_name", TOOL_TEXT, true, "a name for the flow"},
        {"jobs_json", TOOL_JSON, true, "list of jobs: {job_id, script_content, args, requirement, priority, parents: [job_id], hitl_message}; with hitl_message a person must approve (gate hitl-gate-JOB_ID) before what follows the job starts"},
        {"agent_run_id", TOOL_TEXT, false, "groups the flows of one run of yours (default: a new id)"},
        {0}}},
    {"submit_yaml_pipeline", "Runs a pipeline file on the machine of `reeve mcp`: Titan's YAML, or a flow file of Reeve.", "submitter", false, tool_submit_yaml, {
        {"yaml_path", TOOL_TEXT, true, "path of the file"},
        {"agent_run_id", TOOL_TEXT, false, "groups the flows of one run of yours (default: a new id)"},
        {0}}},
    {"get_job_status", "How a job is: PENDING, RUNNING, COMPLETED, DEAD (failed for good), CANCELLED, or NULL for an id that nobody submitted.", "viewer", true, tool_job_status, {
        {"job_id", TOOL_TEXT, true, "id it was submitted with, or FLOW/JOB"},
        {0}}},
    {"get_job_logs", "The end of what a job wrote, at most 16 KiB. `logs` reads any part of it.", "viewer", true, tool_job_logs, {
        {"job_id", TOOL_TEXT, true, "id it was submitted with, or FLOW/JOB"},
        {0}}},
    {"approve_hitl_gate", "Says yes at a gate. An agent cannot: the answer is the command by which a person does.", "approver", false, tool_gate_approve, {
        {"gate_id", TOOL_TEXT, true, "hitl-gate-JOB_ID, or the id of the job before it"},
        {0}}},
    {"reject_hitl_gate", "Says no at a gate: it ends, and what needs it with it.", "approver", false, tool_gate_reject, {
        {"gate_id", TOOL_TEXT, true, "hitl-gate-JOB_ID, or the id of the job before it"},
        {0}}},
    {"store_get", "Reads a key of the shared store; null when it is not there.", "viewer", true, tool_store_get, {
        {"key", TOOL_TEXT, true, "the key; others see it as user:KEY"},
        {0}}},
    {"store_put", "Writes a key of the shared store, durably. Jobs and other agents of the tenant can read it.", "submitter", false, tool_store_put, {
        {"key", TOOL_TEXT, true, "the key; others see it as user:KEY"},
        {"value", TOOL_TEXT, true, "any text"},
        {0}}},
    {"deploy_script", "Keeps a Python script on the server under a name, for Titan's clients to run by that name.", "submitter", false, tool_deploy_script, {
        {"script_name", TOOL_TEXT, true, "like train.py, without a path"},
        {"script_content", TOOL_TEXT, true, "the text of the script"},
        {0}}},

    /* ours */
    {"plan", "Checks a flow and tells what would happen, without running it: jobs, order, which workers fit, what would wait and why.", "submitter", true, tool_plan, {
        {"flow", TOOL_OBJECT, true, "a flow file as JSON: {name, jobs: {NAME: {run | script: {text, name} | gate | …, needs: [NAME]}}}"},
        {"params", TOOL_OBJECT, false, "values for its parameters"},
        {0}}},
    {"submit", "Submits a flow: commands, scripts, gates, conditions, retries, in any graph. It is durable when this returns.", "submitter", false, tool_submit, {
        {"flow", TOOL_OBJECT, true, "a flow file as JSON: {name, jobs: {NAME: {run | script: {text, name} | gate: {message} | …, needs: [NAME]}}}"},
        {"params", TOOL_OBJECT, false, "values for its parameters"},
        {"key", TOOL_TEXT, false, "idempotency key: submitting the same again with it is submitting once"},
        {0}}},
    {"add", "Adds jobs to a flow that runs; they may need jobs that are there.", "submitter", false, tool_add, {
        {"flow", TOOL_TEXT, true, "id of the flow"},
        {"jobs", TOOL_OBJECT, true, "{NAME: {run: …, needs: [NAME]}}"},
        {"params", TOOL_OBJECT, false, "values for parameters"},
        {0}}},
    {"run_again", "Submits the file of a flow once more, as another flow, with the parameters it had and those given here.", "submitter", false, tool_run_again, {
        {"flow", TOOL_TEXT, true, "id of the flow that ran"},
        {"params", TOOL_OBJECT, false, "values that take the place of its own"},
        {0}}},
    {"show", "A flow with its jobs, or a job with its attempts and its result.", "viewer", true, tool_show, {
        {"target", TOOL_TEXT, true, "id of a flow, FLOW/JOB, or a job_id"},
        {0}}},
    {"list", "Flows, the newest first; with `flow` the jobs of that flow; with `dead` jobs that failed for good.", "viewer", true, tool_list, {
        {"flow", TOOL_TEXT, false, "list the jobs of this flow; the items of a foreach job are counted with it, or listed with `states`"},
        {"items_of", TOOL_TEXT, false, "list the items of this foreach job of the flow"},
        {"dead", TOOL_FLAG, false, "list dead letters, the newest first: failed jobs that nobody has handled yet"},
        {"states", TOOL_NAMES, false, "only in one of these: running, succeeded, failed, upstream_failed, …"},
        {"name", TOOL_TEXT, false, "only names that begin so"},
        {"labels", TOOL_PAIRS, false, "only flows with all of these, like {\"agent_run_id\": \"…\"}"},
        {"text", TOOL_TEXT, false, "only flows with these words in names, labels or errors"},
        {"schedule", TOOL_TEXT, false, "only flows that this schedule made"},
        {"most", TOOL_COUNT, false, "number of entries (default: 20, at most 200)"},
        {"cursor", TOOL_TEXT, false, "of the page before"},
        {0}}},
    {"why", "The one reason why a job does not run, or how it ended.", "viewer", true, tool_why, {
        {"job", TOOL_TEXT, true, "FLOW/JOB, or a job_id"},
        {0}}},
    {"logs", "What a job wrote: the end of it, or with `offset` any part, in pages of 16 KiB.", "viewer", true, tool_logs, {
        {"job", TOOL_TEXT, true, "FLOW/JOB, or a job_id"},
        {"offset", TOOL_COUNT, false, "from this byte on; without it, the end is shown"},
        {"tail", TOOL_COUNT, false, "how many bytes of the end"},
        {"most", TOOL_COUNT, false, "bytes of one page (default: 16384, at most 131072)"},
        {"attempt", TOOL_COUNT, false, "number of the attempt (default: the last)"},
        {0}}},
    {"wait", "Waits until a flow or job is over, or the time is.", "viewer", true, tool_wait, {
        {"target", TOOL_TEXT, true, "id of a flow, FLOW/JOB, or a job_id"},
        {"timeout_s", TOOL_COUNT, false, "seconds (default: 30, at most 600)"},
        {0}}},
    {"events", "What happened to a flow, from its beginning on.", "viewer", true, tool_events, {
        {"flow", TOOL_TEXT, true, "id of the flow"},
        {"since", TOOL_TEXT, false, "go on behind this position"},
        {"most", TOOL_COUNT, false, "number of entries (default: 20, at most 200)"},
        {0}}},
    {"cancel", "Ends a flow, or a job and what depends on it.", "submitter", false, tool_cancel, {
        {"target", TOOL_TEXT, true, "id of a flow, FLOW/JOB, or a job_id"},
        {"reason", TOOL_TEXT, false, "why; it is kept"},
        {0}}},
    {"retry", "Gives a dead job, or all dead jobs of a flow, new attempts.", "submitter", false, tool_retry, {
        {"target", TOOL_TEXT, true, "FLOW/JOB, id of a flow, or a job_id"},
        {"reason", TOOL_TEXT, false, "why; it is kept"},
        {0}}},
    {"rerun", "Starts a finished flow again where it failed; what succeeded is kept.", "submitter", false, tool_rerun, {
        {"target", TOOL_TEXT, true, "id of a flow"},
        {"reason", TOOL_TEXT, false, "why; it is kept"},
        {0}}},
    {"discard", "Drops a dead letter: a job that ended badly, when nothing is to be done about it.", "submitter", false, tool_discard, {
        {"target", TOOL_TEXT, true, "FLOW/JOB, id of a flow, or a job_id"},
        {"reason", TOOL_TEXT, false, "why; it is kept"},
        {0}}},
    {"pause", "Stops starting new jobs of a flow, pool or tenant; what runs goes on.", "submitter", false, tool_pause, {
        {"name", TOOL_TEXT, true, "id of a flow, or name of a pool or tenant"},
        {"scope", TOOL_TEXT, false, "flow (default), pool or tenant; the last two are for operators"},
        {0}}},
    {"resume", "Resumes what `pause` stopped.", "submitter", false, tool_resume, {
        {"name", TOOL_TEXT, true, "id of a flow, or name of a pool or tenant"},
        {"scope", TOOL_TEXT, false, "flow (default), pool or tenant"},
        {0}}},
    {"artifacts", "The files that a job left: names, sizes, hashes.", "viewer", true, tool_artifacts, {
        {"job", TOOL_TEXT, true, "FLOW/JOB, or a job_id"},
        {0}}},
    {"artifact", "Reads a file that a job left, in pages of 16 KiB: text as it is, anything else in base64.", "viewer", true, tool_artifact, {
        {"job", TOOL_TEXT, true, "FLOW/JOB, or a job_id"},
        {"name", TOOL_TEXT, true, "name that `artifacts` shows"},
        {"offset", TOOL_COUNT, false, "from this byte on (default: 0)"},
        {"most", TOOL_COUNT, false, "bytes of one page (default: 16384, at most 131072)"},
        {0}}},
    {"schedules", "Flows that the clock or a key of the store starts: when next, what the last run was.", "viewer", true, tool_schedules, {
        {"name", TOOL_TEXT, false, "only this one"},
        {"most", TOOL_COUNT, false, "number of entries (default: 20, at most 200)"},
        {"cursor", TOOL_TEXT, false, "of the page before"},
        {0}}},
    {"schedule", "Creates or updates a schedule: a flow with the key `schedule` that says when. Answers with its next slots.", "submitter", false, tool_schedule, {
        {"flow", TOOL_OBJECT, true, "a flow file as JSON with a name and {schedule: {cron: \"0 6 * * *\", zone: \"Europe/Berlin\", calendar: {weekdays: \"mon-fri\", not: [\"2026-12-25\"]}} | {every: \"1h\"} | {on: \"uploads/*\"}}; `on` is a key of the store whose change starts the flow"},
        {"params", TOOL_OBJECT, false, "values for its parameters"},
        {0}}},
    {"schedule_change", "Pauses, resumes or removes a schedule, or runs its slots of the past.", "submitter", false, tool_schedule_change, {
        {"name", TOOL_TEXT, true, "name of the schedule"},
        {"action", TOOL_TEXT, true, "pause, resume, remove or backfill"},
        {"since", TOOL_TEXT, false, "backfill: slots from this time on, like 2026-03-01T08:00:00Z"},
        {"until", TOOL_TEXT, false, "backfill: and before this time"},
        {0}}},
    {"questions", "What waits for a person's decision, with the hash of what is asked.", "viewer", true, tool_questions, {
        {"most", TOOL_COUNT, false, "number of entries (default: 20, at most 100)"},
        {"cursor", TOOL_TEXT, false, "of the page before"},
        {0}}},
    {"approve", "Rejects what a question asks, for exactly what was shown. Approving needs a person: the answer is then the command for one.", "approver", false, tool_approve, {
        {"question", TOOL_COUNT, false, "its number"},
        {"job", TOOL_TEXT, false, "or: FLOW/JOB that stands before it"},
        {"hash", TOOL_TEXT, true, "that `questions` showed; refused when something else is asked by now"},
        {"verdict", TOOL_TEXT, false, "reject; approve is answered with the command for a person"},
        {"reason", TOOL_TEXT, false, "why; it is kept"},
        {0}}},
    {"schedule_run", "Runs the flow of a schedule now, on your behalf. Refused while its last flow is running.", "submitter", false, tool_schedule_run, {
        {"schedule", TOOL_TEXT, true, "its name"},
        {"slot", TOOL_TEXT, false, "the slot that the run is for, like 2026-11-01 or 2026-11-01T02:30 in its zone (default: now)"},
        {"key", TOOL_TEXT, false, "of a schedule that a key of the store starts: the key that the run is for"},
        {0}}},
    {"services", "Processes that run until they are stopped: healthy or not, and why; with `name` also the versions of one.", "viewer", true, tool_services, {
        {"name", TOOL_TEXT, false, "this service, with its last versions"},
        {"cursor", TOOL_TEXT, false, "of the page before"},
        {0}}},
    {"rollback", "Deploys an earlier version of a service again. Returns at once; `services` tells how it went.", "submitter", false, tool_rollback, {
        {"service", TOOL_TEXT, true, "its name"},
        {"version", TOOL_COUNT, false, "number that `services` shows (default: the last one before the current that was healthy)"},
        {0}}},
    {"workers", "Who runs jobs: slots, load, capabilities, labels.", "viewer", true, tool_workers, {
        {"most", TOOL_COUNT, false, "number of entries (default: 20, at most 200)"},
        {"cursor", TOOL_TEXT, false, "of the page before"},
        {0}}},
    {"drain", "Lets a worker take no new jobs; what it runs goes on. For operators.", "operator", false, tool_drain, {
        {"worker", TOOL_TEXT, true, "name that `workers` shows"},
        {"undo", TOOL_FLAG, false, "true: it takes jobs again"},
        {0}}},
};
/* clang-format on */

#define COUNT (sizeof tools / sizeof tools[0])

const struct tool *tool_table(uint32_t *ret_count) {
    *ret_count = COUNT;
    return tools;
}

const struct tool *tool_find(struct slice name) {
    for (size_t i = 0; i < COUNT; i++)
        if (slice_eq(name, slice_str(tools[i].name))) return &tools[i];
    return NULL;
}

/* ---- as the protocol describes them ---- */

static const char *schema_of(enum tool_arg_type type) {
    switch (type) {
    case TOOL_TEXT: return "\"type\":\"string\"";
    case TOOL_COUNT: return "\"type\":\"integer\",\"minimum\":0";
    case TOOL_FLAG: return "\"type\":\"boolean\"";
    case TOOL_OBJECT: return "\"type\":\"object\"";
    case TOOL_NAMES: return "\"type\":\"array\",\"items\":{\"type\":\"string\"}";
    case TOOL_PAIRS: return "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}";
    case TOOL_JSON: return "\"type\":[\"string\",\"array\"]";
    }
    return "";
}

static void put_arg(struct json *j, const struct tool_arg *a) {
    struct buf text;
    struct json inner;
    buf_init(&text, 4096);
    json_init(&inner, &text);
    json_str(&inner, a->text);
    struct buf whole;
    buf_init(&whole, 8192);
    buf_printf(&whole, "{%s,\"description\":%.*s}", schema_of(a->type), SLICE_FMT(buf_slice(&text)));
    json_key(j, a->name);
    json_raw(j, buf_slice(&whole));
    buf_fini(&whole);
    buf_fini(&text);
}

static void put_schema(struct json *j, const struct tool *t) {
    json_object(j);
    json_key(j, "type");
    json_str(j, "object");
    json_key(j, "properties");
    json_object(j);
    for (const struct tool_arg *a = t->args; a->name != NULL; a++) put_arg(j, a);
    json_object_end(j);
    json_key(j, "required");
    json_array(j);
    for (const struct tool_arg *a = t->args; a->name != NULL; a++)
        if (a->required) json_str(j, a->name);
    json_array_end(j);
    json_key(j, "additionalProperties");
    json_bool(j, false);
    json_object_end(j);
}

void tool_list_put(struct json *j, bool with_hints) {
    json_array(j);
    for (size_t i = 0; i < COUNT; i++) {
        json_object(j);
        json_key(j, "name");
        json_str(j, tools[i].name);
        json_key(j, "description");
        json_str(j, tools[i].text);
        json_key(j, "inputSchema");
        put_schema(j, &tools[i]);
        if (with_hints) {
            json_key(j, "annotations");
            json_object(j);
            json_key(j, "readOnlyHint");
            json_bool(j, tools[i].reads);
            json_object_end(j);
        }
        json_object_end(j);
    }
    json_array_end(j);
}
