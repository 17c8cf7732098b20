/* titan_job.c: see titan_job.h. */
#include "titan_job.h"

#include "map.h"
#include "utf8.h"

#define FIELDS_MAX 16u            /* of a command; the longest has five */
#define REQUIREMENT_BYTES_MAX 20u /* shorter than this: where Titan itself has to guess */
#define SHOWN_BYTES_MAX 60        /* of a job, in a refusal */

/* ---- small pieces ---- */

struct slice titan_trim(struct slice text) {
    while (text.len > 0 && text.ptr[0] <= ' ') text = slice_of(text.ptr + 1, text.len - 1);
    while (text.len > 0 && text.ptr[text.len - 1] <= ' ') text.len--;
    return text;
}

bool titan_number(struct slice text, int64_t *ret) {
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = text.len > 0 && (negative || text.ptr[0] == '+') ? 1 : 0;
    int64_t value = 0;
    if (at == text.len || text.len - at > 18) return false;
    for (; at < text.len; at++) {
        if (text.ptr[at] < '0' || text.ptr[at] > '9') return false;
        value = value * 10 + (text.ptr[at] - '0');
    }
    *ret = negative ? -value : value;
    return true;
}

static bool starts(struct slice text, const char *with) {
    struct slice w = slice_str(with);
    return text.len >= w.len && slice_eq(slice_of(text.ptr, w.len), w);
}

/* What is behind the last bar is cut off and given back, without blanks around it. */
static bool cut_last(struct slice *text, struct slice *ret) {
    for (size_t i = text->len; i > 0; i--) {
        if (text->ptr[i - 1] != '|') continue;
        *ret = titan_trim(slice_of(text->ptr + i, text->len - i));
        text->len = i - 1;
        return true;
    }
    return false;
}

static bool cut_first(struct slice *text, struct slice *ret) {
    const uint8_t *bar = text->len > 0 ? memchr(text->ptr, '|', text->len) : NULL;
    if (bar == NULL) return false;
    *ret = titan_trim(slice_of(text->ptr, (size_t)(bar - text->ptr)));
    *text = slice_of(bar + 1, text->len - (size_t)(bar - text->ptr) - 1);
    return true;
}

struct slice titan_prefixed(struct slice id, struct arena *arena) {
    size_t prefix = sizeof TITAN_DAG_PREFIX - 1;
    if (starts(id, TITAN_DAG_PREFIX)) return id;
    uint8_t *longer = arena_space(arena, prefix + id.len + 1);
    memcpy(longer, TITAN_DAG_PREFIX, prefix);
    if (id.len > 0) memcpy(longer + prefix, id.ptr, id.len);
    return slice_of(longer, prefix + id.len);
}

static enum err refuse(struct why *why, struct slice job, const char *reason) {
    int shown = job.len > SHOWN_BYTES_MAX ? SHOWN_BYTES_MAX : (int)job.len;
    return why_set(why, ERR_INVALID, "job `%.*s%s`: %s", shown, (const char *)job.ptr,
                   job.len > SHOWN_BYTES_MAX ? "..." : "", reason);
}

/* ---- commands ---- */

static const struct {
    const char *word;
    enum titan_kind kind;
} commands[] = {
    {"RUN_PAYLOAD", TITAN_KIND_SCRIPT},
    {"DEPLOY_PAYLOAD", TITAN_KIND_SERVICE},
    {"RUN_ARCHIVE", TITAN_KIND_ARCHIVE},
    {"START_ARCHIVE_SERVICE", TITAN_KIND_ARCHIVE_SERVICE},
};

static bool command_of(struct slice word, enum titan_kind *ret) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (!slice_eq(word, slice_str(commands[i].word))) continue;
        *ret = commands[i].kind;
        return true;
    }
    return false;
}

struct fields {
    struct slice at[FIELDS_MAX];
    uint32_t count;
    bool more; /* than there is room for */
};

static void fields_read(struct slice text, struct fields *ret) {
    struct slice field;
    *ret = (struct fields){.count = 0};
    while (cut_first(&text, &field)) {
        ret->more |= ret->count == FIELDS_MAX;
        if (ret->count < FIELDS_MAX) ret->at[ret->count++] = field;
    }
    ret->more |= ret->count == FIELDS_MAX;
    if (ret->count < FIELDS_MAX) ret->at[ret->count++] = titan_trim(text);
}

/* Could be the name of a capability: GPU, HIGH_MEM. */
static bool is_requirement(struct slice text) {
    if (text.len == 0 || text.len >= REQUIREMENT_BYTES_MAX) return false;
    bool has_letter = false;
    for (size_t i = 0; i < text.len; i++) {
        bool letter = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z';
        bool other = (text.ptr[i] >= '0' && text.ptr[i] <= '9') || text.ptr[i] == '_' || text.ptr[i] == '-';
        if (!letter && !other) return false;
        has_letter |= letter;
    }
    return has_letter;
}

static bool is_base64(struct slice text) {
    size_t len = text.len;
    while (len > 0 && text.ptr[len - 1] == '=') len--;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = text.ptr[i];
        bool is_digit =
            (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
        if (!is_digit) return false;
    }
    return len > 0 && len % 4 != 1;
}

/* "name.zip/entry/path.py" */
static void archive_split(struct slice path, struct titan_job *ret) {
    const uint8_t *dot = path.len > 0 ? memmem(path.ptr, path.len, ".zip/", 5) : NULL;
    const uint8_t *slash = dot != NULL ? dot + 4 : path.len > 0 ? memchr(path.ptr, '/', path.len) : NULL;
    ret->file = path;
    if (slash == NULL) return;
    ret->file = slice_of(path.ptr, (size_t)(slash - path.ptr));
    ret->entry = slice_of(slash + 1, path.len - ret->file.len - 1);
}

static void port_read(struct slice text, struct titan_job *ret) {
    int64_t port = 0;
    if (titan_number(text, &port) && port > 0 && port < 65536) ret->port = (uint32_t)port;
}

/* `f` begins with the file; `ret_left` is how many fields have a meaning, the requirement not counted. */
static void command_read(const struct fields *f, struct titan_job *ret, uint32_t *ret_left) {
    const struct slice *at = f->at;
    uint32_t count = f->count;
    bool short_form = count == 2 || (count == 3 && is_requirement(at[2]) && is_base64(at[1]));
    switch (ret->kind) {
    case TITAN_KIND_SCRIPT:
        ret->file = slice_base_name(at[0]);
        if (!short_form && count > 1) ret->args = at[1];
        if (count > 1) ret->base64 = short_form ? at[1] : count > 2 ? at[2] : SLICE("");
        *ret_left = short_form ? 2 : 3;
        return;
    case TITAN_KIND_SERVICE:
        ret->file = slice_base_name(at[0]);
        if (count > 1) ret->base64 = at[1];
        if (count > 2) port_read(at[2], ret);
        *ret_left = 3;
        return;
    case TITAN_KIND_ARCHIVE:
        archive_split(at[0], ret);
        if (count > 2 || (count == 2 && !is_requirement(at[1]))) ret->args = at[1];
        *ret_left = count == 2 && is_requirement(at[1]) ? 1 : 2;
        return;
    case TITAN_KIND_ARCHIVE_SERVICE:
        archive_split(at[0], ret);
        if (count > 1) ret->args = at[1];
        if (count > 2) port_read(at[2], ret);
        *ret_left = 3;
        return;
    case TITAN_KIND_HANDLER: break;
    }
}

/* A skill before the command counts where the requirement behind it says nothing. */
static enum err requirement_read(const struct fields *f, uint32_t left, struct slice skill, struct slice job,
                                 struct titan_job *ret, struct why *why) {
    int64_t ignored;
    struct slice said = f->count > left ? f->at[left] : SLICE("");
    if (f->more || f->count > left + 1)
        return refuse(why, job, "it has more fields than its command, and a bar cannot be part of one");
    if (titan_number(said, &ignored)) said = SLICE("");
    bool general = said.len == 0 || slice_eq(said, SLICE(TITAN_GENERAL));
    ret->requirement = general && skill.len > 0 ? skill : general ? SLICE(TITAN_GENERAL) : said;
    return ERR_OK;
}

/* `text` is the command with all of its fields, perhaps behind a skill. */
static enum err body_read(struct slice text, struct slice job, struct titan_job *ret, struct why *why) {
    struct slice rest = text, first = {0}, skill = {0};
    uint32_t left = 0;
    if (!cut_first(&rest, &first)) first = titan_trim(text), rest = SLICE("");
    bool known = command_of(first, &ret->kind);
    if (!known) {
        struct slice behind = rest, second = {0};
        if (cut_first(&behind, &second) && command_of(second, &ret->kind)) {
            known = true;
            skill = first;
            rest = behind;
        }
    }
    if (first.len == 0) return refuse(why, job, "it says nothing that could be run");
    if (!known) {
        ret->kind = TITAN_KIND_HANDLER;
        ret->file = first;
        ret->args = rest;
        ret->requirement = SLICE(TITAN_GENERAL);
        return ERR_OK;
    }
    struct fields f;
    fields_read(rest, &f);
    command_read(&f, ret, &left);
    if (ret->file.len == 0 || slice_eq(ret->file, SLICE(".")) || slice_eq(ret->file, SLICE("..")))
        return refuse(why, job, "the name of its file is missing");
    return requirement_read(&f, left, skill, job, ret, why);
}

/* ---- gates ---- */

/* Up to the first blank, which is taken off. */
static bool cut_word(struct slice *text, struct slice *ret) {
    const uint8_t *blank = text->len > 0 ? memchr(text->ptr, ' ', text->len) : NULL;
    if (blank == NULL) return false;
    *ret = slice_of(text->ptr, (size_t)(blank - text->ptr));
    *text = slice_of(blank + 1, text->len - ret->len - 1);
    return true;
}

bool titan_gate_read(const struct titan_job *job, struct titan_gate *ret) {
    struct slice args = job->args, id, seconds, own = job->id;
    int64_t wait_s = 0;
    if (job->kind != TITAN_KIND_SCRIPT || !slice_eq(job->file, SLICE(TITAN_GATE_FILE))) return false;
    if (starts(own, TITAN_DAG_PREFIX))
        own = slice_of(own.ptr + sizeof TITAN_DAG_PREFIX - 1, own.len - sizeof TITAN_DAG_PREFIX + 1);
    if (!starts(own, TITAN_GATE_PREFIX) || own.len == sizeof TITAN_GATE_PREFIX - 1) return false;
    if (!cut_word(&args, &id) || !slice_eq(id, own)) return false;
    if (!cut_word(&args, &seconds) || !titan_number(seconds, &wait_s)) return false;
    struct slice message = titan_trim(args);
    if (wait_s <= 0 || wait_s > INT64_MAX / 1000 || message.len == 0 || !utf8_is_valid(message)) return false;
    *ret = (struct titan_gate){.id = id, .message = message, .wait_ms = wait_s * 1000};
    return true;
}

/* ---- a job of a DAG ---- */

static void parents_read(struct slice text, struct arena *arena, struct titan_job *ret) {
    uint32_t most = 1;
    for (size_t i = 0; i < text.len; i++) most += text.ptr[i] == ',';
    ret->parents = ARENA_ARRAY(arena, struct titan_parent, most);
    for (size_t from = 0, i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != ',') continue;
        struct slice id = slice_of(text.ptr + from, i - from);
        while (id.len > 0 && (id.ptr[0] <= ' ' || id.ptr[0] == '[' || id.ptr[0] == ']')) id.ptr++, id.len--;
        while (id.len > 0 && (id.ptr[id.len - 1] <= ' ' || id.ptr[id.len - 1] == ']')) id.len--;
        if (id.len > 0)
            ret->parents[ret->parent_count++] =
                (struct titan_parent){.id = titan_prefixed(id, arena), .at = TITAN_ELSEWHERE};
        from = i + 1;
    }
}

static bool affinity_cut(struct slice *text) {
    struct slice before = *text, last;
    if (!cut_last(&before, &last) || (!slice_eq(last, SLICE("AFFINITY")) && !slice_eq(last, SLICE("STICKY"))))
        return false;
    *text = titan_trim(before);
    return true;
}

static enum err dag_job_read(struct slice job, struct arena *arena, struct titan_job *ret, struct why *why) {
    struct slice text = job, number, id;
    *ret = (struct titan_job){.affinity = affinity_cut(&text)};
    size_t open = text.len;
    while (open > 0 && text.ptr[open - 1] != '[') open--;
    if (open == 0) return refuse(why, job, "the list of its parents is missing, like [] or [a,b]");
    parents_read(slice_of(text.ptr + open, text.len - open), arena, ret);
    text = titan_trim(slice_of(text.ptr, open - 1));
    if (text.len > 0 && text.ptr[text.len - 1] == '|') text.len--;
    if (!cut_last(&text, &number) || !titan_number(number, &ret->delay_ms))
        return refuse(why, job, "its delay is not a number of milliseconds");
    if (!cut_last(&text, &number) || !titan_number(number, &ret->priority))
        return refuse(why, job, "its priority is not a number");
    if (!cut_first(&text, &id) || id.len == 0) return refuse(why, job, "it has no id, or nothing behind it");
    ret->id = titan_prefixed(id, arena);
    return body_read(text, job, ret, why);
}

/* ---- the graph ---- */

static struct slice id_of(const void *ctx, uint32_t value) {
    return ((const struct titan_jobs *)ctx)->at[value - 1].id;
}

/* A parent is the last job of that id in the payload. */
static void parents_find(struct titan_jobs *all) {
    struct index by_id;
    index_init(&by_id);
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t before = index_get(&by_id, all->at[i].id, id_of, all);
        if (before != 0) index_del(&by_id, all->at[i].id, before);
        index_put(&by_id, all->at[i].id, i + 1);
    }
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->at[i].parent_count; k++) {
            uint32_t found = index_get(&by_id, all->at[i].parents[k].id, id_of, all);
            if (found != 0) all->at[i].parents[k].at = found - 1;
        }
    index_fini(&by_id);
}

/* Kahn, by counting parents: who is left over stands in a circle, or behind one. */
static enum err circle_check(const struct titan_jobs *all, struct arena *arena, struct why *why) {
    uint32_t *open = ARENA_ARRAY(arena, uint32_t, all->count), *first = ARENA_ARRAY(arena, uint32_t, all->count + 1);
    uint32_t *queue = ARENA_ARRAY(arena, uint32_t, all->count), head = 0, tail = 0, edges = 0;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->at[i].parent_count; k++)
            if (all->at[i].parents[k].at != TITAN_ELSEWHERE) first[all->at[i].parents[k].at + 1]++, open[i]++, edges++;
    for (uint32_t i = 0; i < all->count; i++) first[i + 1] += first[i];
    uint32_t *children = ARENA_ARRAY(arena, uint32_t, edges + 1), *next = ARENA_ARRAY(arena, uint32_t, all->count);
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->at[i].parent_count; k++) {
            uint32_t at = all->at[i].parents[k].at;
            if (at != TITAN_ELSEWHERE) children[first[at] + next[at]++] = i;
        }
    for (uint32_t i = 0; i < all->count; i++)
        if (open[i] == 0) queue[tail++] = i;
    for (; head < tail; head++)
        for (uint32_t k = first[queue[head]]; k < first[queue[head] + 1]; k++)
            if (--open[children[k]] == 0) queue[tail++] = children[k];
    if (tail == all->count) return ERR_OK;
    uint32_t stuck = 0;
    while (open[stuck] == 0) stuck++;
    return why_set(why, ERR_CYCLE, "the jobs wait for each other in a circle, %.*s among them or behind it",
                   SLICE_FMT(all->at[stuck].id));
}

enum err titan_jobs_link(struct titan_jobs *all, struct arena *arena, struct why *why) {
    parents_find(all);
    return circle_check(all, arena, why);
}

enum err titan_dag_read(struct slice text, struct arena *arena, struct titan_jobs *ret, struct why *why) {
    uint32_t most = 1;
    for (size_t i = 0; i < text.len; i++) most += text.ptr[i] == ';';
    struct titan_jobs all = {ARENA_ARRAY(arena, struct titan_job, most), 0};
    for (size_t from = 0, i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != ';') continue;
        struct slice job = titan_trim(slice_of(text.ptr + from, i - from));
        from = i + 1;
        if (job.len == 0) continue;
        enum err e = dag_job_read(job, arena, &all.at[all.count++], why);
        if (e != ERR_OK) return e;
    }
    if (all.count == 0) return why_set(why, ERR_INVALID, "there is no job in it");
    enum err e = titan_jobs_link(&all, arena, why);
    if (e == ERR_OK) *ret = all;
    return e;
}

/* ---- a job alone ---- */

enum err titan_job_read(struct slice text, struct arena *arena, struct titan_job *ret, struct why *why) {
    struct slice job = titan_trim(text), left = job, last, id, behind;
    int64_t number = 0;
    struct titan_job got = {.priority = 1};
    (void)arena;
    struct slice before = left;
    if (cut_last(&before, &last) && titan_number(last, &number)) {
        got.delay_ms = number;
        left = before;
        if (cut_last(&before, &last) && titan_number(last, &number)) {
            got.priority = number;
            left = before;
        }
    }
    if (titan_trim(left).len == 0 || titan_number(titan_trim(left), &number))
        return why_set(why, ERR_INVALID, "there is no job in it");
    bool begins = starts(left, "RUN_PAYLOAD") || starts(left, "DEPLOY_PAYLOAD") || starts(left, "START_ARCHIVE") ||
                  starts(left, "RUN_ARCHIVE");
    behind = left;
    /* `type|payload` alone is of a type without an id; with a further bar, its first field is the id. */
    bool has_id = !begins && cut_first(&behind, &id) && memchr(behind.ptr, '|', behind.len) != NULL;
    if (has_id) {
        got.id = id;
        left = behind;
    }
    enum err e = body_read(left, job, &got, why);
    if (e == ERR_OK) *ret = got;
    return e;
}
