/* proof_test.c: the chain of hashes over a journal, its checkpoints, and what each kind of tampering comes to. The
 * journal is in memory, so what was changed has right checksums and dense LSNs, as from somebody who knows it. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit_evidence.h"
#include "audit_export.h"
#include "engine_fixture.h"
#include "osdigest.h"
#include "ossigner.h"
#include "proof_journal.h"
#include "ram.h"

#define BATCHES_MAX 256u

static struct fixture rig;
static struct signer *signer;
static uint8_t own_key[SIGNER_KEY_BYTES];
static char folder[32], path[64];
static const atomic_bool go_on = false;

/* What somebody made of the journal, batch by batch. */
struct forgery {
    uint32_t drop, twice, swap; /* position + 1 of a batch; 0 = none */
    uint32_t flip;              /* position + 1 of the batch whose first principal gets another letter */
    uint32_t cut;               /* batches from here on are missing */
    int64_t late_ms;            /* the batch `flip` has another time */
};

static struct checkpoint last_checkpoint(void) {
    return view_checkpoint(engine_state(rig.engine));
}

/* The batches of the rig as a journal, forged. */
static struct journal *journal_of(const struct forgery *f) {
    struct journal *j;
    struct journal_head head;
    struct why why;
    uint32_t order[BATCHES_MAX], count = 0;
    uint64_t next = 1;
    for (uint32_t i = 0; i < rig.batches.count; i++) {
        if (f->cut != 0 && i >= f->cut) break;
        if (f->drop != i + 1) order[count++] = i;
        if (f->twice == i + 1) order[count++] = i;
    }
    if (f->swap != 0) {
        uint32_t one = order[f->swap - 1];
        order[f->swap - 1] = order[f->swap];
        order[f->swap] = one;
    }
    assert_int_equal(ram_open_alone(&(struct ram_options){0}, &j, &why), ERR_OK);
    assert_int_equal(j->ops->acquire(j, 0, &head, &why), ERR_OK);
    for (uint32_t i = 0; i < count; i++) {
        struct batch b = *(struct batch *)vec_at(&rig.batches, order[i]);
        uint8_t *copy = malloc(b.records.len);
        assert_non_null(copy);
        memcpy(copy, rig.journal.at + (size_t)b.records.ptr, b.records.len);
        uint8_t *name = f->flip == order[i] + 1 && f->late_ms == 0 ? memmem(copy, b.records.len, "tester", 6) : NULL;
        if (f->flip == order[i] + 1 && f->late_ms == 0) assert_non_null(name);
        if (name != NULL) name[2] = 'x';
        if (f->flip == order[i] + 1) b.time.ms += f->late_ms;
        uint64_t records = b.last_lsn - b.first_lsn;
        b.records = slice_of(copy, b.records.len);
        b.epoch = head.epoch;
        b.first_lsn = next;
        b.last_lsn = next + records;
        next = b.last_lsn + 1;
        assert_int_equal(j->ops->append(j, head.epoch, b.first_lsn - 1, &b, &why), JOURNAL_DURABLE);
        free(copy);
    }
    return j;
}

static void work_some(uint32_t flows) {
    static const char *const chain[] = {"a", "b: a"};
    struct options o = fixture_options();
    for (uint32_t i = 0; i < flows; i++) {
        assert_ok(fixture_submit(&rig, &o, chain, 2));
        fixture_run_all(&rig, "w1", 1);
    }
}

static void checkpoint_make(void) {
    struct journal *j = journal_of(&(struct forgery){0});
    struct checkpoint last = last_checkpoint(), made;
    struct why why = {{0}};
    struct proof_next n = {.reader = j,
                           .hasher = osdigest(),
                           .stop = &go_on,
                           .upto_lsn = engine_lsn(rig.engine),
                           .bytes_max = UINT64_MAX};
    if (proof_next(&n, &last, &made, &why) != ERR_OK) fail_msg("%s", why.text);
    proof_sign(signer, 0, &made);
    struct command cmd = {.kind = CMD_CHECKPOINT};
    cmd.as.checkpoint = (struct cmd_checkpoint){.number = made.number,
                                                .from_lsn = made.from_lsn,
                                                .upto_lsn = made.upto_lsn,
                                                .chain = slice_of(made.chain, sizeof made.chain),
                                                .key = slice_of(made.key, sizeof made.key),
                                                .signature = slice_of(made.signature, sizeof made.signature)};
    assert_ok(fixture_command(&rig, &cmd));
    j->ops->close(j);
}

static enum err check(const struct forgery *f, const struct checkpoint *since, const uint8_t *key,
                      struct proof_report *ret, struct why *why) {
    struct journal *j = journal_of(f);
    struct proof_check p = {
        .reader = j, .hasher = osdigest(), .checker = &ossigner_checker, .since = since, .key = key};
    enum err e = proof_check(&p, ret, why);
    j->ops->close(j);
    return e;
}

static void found(const struct forgery *f, const char *words) {
    struct proof_report r;
    struct why why = {{0}};
    assert_int_equal(check(f, NULL, NULL, &r, &why), ERR_CORRUPT);
    if (strstr(why.text, words) == NULL) fail_msg("expected `%s`, found `%s`", words, why.text);
}

/* Two checkpoints, and a flow that none covers. */
static int setup(void **state) {
    bool made = false;
    struct why why = {{0}};
    (void)fixture_setup(state);
    rig = *(struct fixture *)*state;
    snprintf(folder, sizeof folder, "/tmp/reeve-proof-%d", (int)getpid());
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/audit.key", folder);
    if (ossigner_open(path, &signer, &made, &why) != ERR_OK) fail_msg("%s", why.text);
    assert_true(made);
    signer->key(signer, own_key);
    assert_ok(fixture_attach(&rig, "w1", 1, 8));
    work_some(2);
    checkpoint_make();
    work_some(2);
    checkpoint_make();
    work_some(1);
    return 0;
}

static int teardown(void **state) {
    *(struct fixture *)*state = rig;
    ossigner_close(signer);
    (void)unlink(path);
    (void)rmdir(folder);
    return fixture_teardown(state);
}

/* The batch in which a flow was submitted. */
static uint32_t batch_of_submit(uint32_t skip) {
    for (uint32_t i = 0; i < rig.batches.count; i++) {
        struct batch b = *(struct batch *)vec_at(&rig.batches, i);
        if (memmem(rig.journal.at + (size_t)b.records.ptr, b.records.len, "tester", 6) != NULL && skip-- == 0) return i;
    }
    fail_msg("no such batch");
    return 0;
}

static void what_was_signed_is_found_whole(void **state) {
    (void)state;
    struct proof_report r;
    struct why why = {{0}};
    struct checkpoint last = last_checkpoint();
    if (check(&(struct forgery){0}, NULL, own_key, &r, &why) != ERR_OK) fail_msg("%s", why.text);
    assert_true(r.is_whole);
    assert_int_equal(r.from_lsn, 1);
    assert_int_equal(r.checkpoints, 2);
    assert_int_equal(r.keys, 1);
    assert_int_equal(r.upto_lsn, last.upto_lsn);
    assert_int_equal(r.last_lsn, engine_lsn(rig.engine));
    assert_memory_equal(r.last.chain, last.chain, sizeof last.chain);
}

static void a_changed_name_is_found(void **state) {
    (void)state;
    found(&(struct forgery){.flip = batch_of_submit(0) + 1}, "something in records 1 to");
    found(&(struct forgery){.flip = batch_of_submit(3) + 1}, "checkpoint 2 was signed");
}

static void another_time_is_found(void **state) {
    (void)state;
    found(&(struct forgery){.flip = batch_of_submit(0) + 1, .late_ms = 1}, "something in records 1 to");
}

static void a_batch_that_is_missing_twice_or_elsewhere_is_found(void **state) {
    (void)state;
    uint32_t at = batch_of_submit(1);
    struct proof_report r;
    struct why why;
    assert_int_equal(check(&(struct forgery){.drop = at + 1}, NULL, NULL, &r, &why), ERR_CORRUPT);
    assert_int_equal(check(&(struct forgery){.twice = at + 1}, NULL, NULL, &r, &why), ERR_CORRUPT);
    assert_int_equal(check(&(struct forgery){.swap = at + 1}, NULL, NULL, &r, &why), ERR_CORRUPT);
}

/* Nothing in it is wrong, and it is too short: only who kept a checkpoint can know. */
static void an_end_that_was_cut_off_is_found_by_a_checkpoint_kept_elsewhere(void **state) {
    (void)state;
    struct checkpoint kept = last_checkpoint();
    struct proof_report r;
    struct why why = {{0}};
    struct forgery cut = {.cut = batch_of_submit(3)};
    assert_int_equal(check(&cut, NULL, NULL, &r, &why), ERR_OK);
    assert_int_equal(check(&cut, &kept, NULL, &r, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "its end is missing"));
    assert_int_equal(check(&(struct forgery){0}, &kept, NULL, &r, &why), ERR_OK);
}

/* Somebody who has no key of ours makes one, and signs the whole journal anew. */
static void another_key_is_found_by_who_kept_ours(void **state) {
    (void)state;
    struct proof_report r;
    struct why why = {{0}};
    uint8_t other[SIGNER_KEY_BYTES] = {1};
    assert_int_equal(check(&(struct forgery){0}, NULL, other, &r, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "another key"));
}

static void a_signature_over_something_else_is_not_right(void **state) {
    (void)state;
    struct checkpoint c = last_checkpoint();
    assert_true(proof_is_signed(&ossigner_checker, 0, &c));
    assert_false(proof_is_signed(&ossigner_checker, 1, &c));
    c.upto_lsn++;
    assert_false(proof_is_signed(&ossigner_checker, 0, &c));
}

/* ---- exports ---- */

static void export_to(struct buf *lines, const struct audit_filter *filter, size_t page_bytes) {
    struct journal *j = journal_of(&(struct forgery){0});
    struct audit_export x = {.reader = j,
                             .hasher = osdigest(),
                             .program = "test",
                             .filter = *filter,
                             .upto_lsn = engine_lsn(rig.engine),
                             .page_bytes = page_bytes};
    struct why why = {{0}};
    uint64_t lsn = 0;
    bool more = true;
    while (more)
        if (audit_export_page(&x, &lsn, lines, &more, &why) != ERR_OK) fail_msg("%s", why.text);
    j->ops->close(j);
}

static enum err evidence(struct slice lines, struct evidence *v, struct why *why) {
    static struct limits limits;
    limits_default(&limits);
    *v = (struct evidence){.hasher = osdigest(), .checker = &ossigner_checker, .limits = &limits, .key = own_key};
    evidence_init(v);
    enum err e = ERR_OK;
    while (e == ERR_OK && lines.len > 0) {
        const uint8_t *end = memchr(lines.ptr, '\n', lines.len);
        size_t len = end != NULL ? (size_t)(end - lines.ptr) : lines.len;
        e = evidence_line(v, slice_of(lines.ptr, len), why);
        len += end != NULL;
        lines = slice_of(lines.ptr + len, lines.len - len);
    }
    if (e == ERR_OK) e = evidence_end(v, why);
    evidence_fini(v);
    return e;
}

static void an_export_proves_itself_in_pages_of_any_size(void **state) {
    (void)state;
    static const size_t pages[] = {1, 500, 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        struct buf lines;
        struct evidence v;
        struct why why = {{0}};
        buf_init(&lines, 1 << 24);
        export_to(&lines, &(struct audit_filter){.people = true}, pages[i]);
        if (evidence(buf_slice(&lines), &v, &why) != ERR_OK) fail_msg("%s", why.text);
        assert_int_equal(v.signed_lsn, last_checkpoint().upto_lsn);
        assert_int_equal(v.checkpoints, 2);
        assert_int_equal(v.next_lsn, engine_lsn(rig.engine) + 1);
        assert_true(v.records >= 5);
        buf_fini(&lines);
    }
}

/* As far as its last checkpoint vouches: up to the record that this one is. */
static size_t signed_bytes(const struct buf *lines) {
    size_t at = lines->len - 40;
    while (strncmp((const char *)lines->at + at, "{\"what\":\"checkpoint\"", 20) != 0) at--;
    while (strncmp((const char *)lines->at + at, "{\"what\":\"record\"", 16) != 0) at--;
    return at;
}

/* A byte of an export, changed: it is found, unless it is of the version of the program, or of the place and the time
 * that the line of a checkpoint repeats from its record. */
static void a_changed_export_is_found(void **state) {
    (void)state;
    struct buf lines;
    uint32_t passed = 0;
    buf_init(&lines, 1 << 24);
    export_to(&lines, &(struct audit_filter){.people = true}, 1 << 20);
    for (size_t i = 0; i < signed_bytes(&lines); i += 7) {
        struct evidence v;
        struct why why;
        uint8_t was = lines.at[i];
        if (was == '\n') continue;
        lines.at[i] = was == 'a' ? 'b' : 'a';
        passed += evidence(buf_slice(&lines), &v, &why) == ERR_OK;
        lines.at[i] = was;
    }
    assert_true(passed < 12);
    struct evidence v;
    struct why why;
    assert_int_equal(evidence(slice_of(lines.at, lines.len - 30), &v, &why), ERR_CORRUPT);
    buf_fini(&lines);
}

static void an_export_since_a_moment_begins_with_a_checkpoint(void **state) {
    (void)state;
    struct buf lines;
    struct evidence v;
    struct why why = {{0}};
    buf_init(&lines, 1 << 24);
    fixture_tick(&rig, 1000);
    work_some(1);
    export_to(&lines, &(struct audit_filter){.people = true, .since_ms = engine_now(rig.engine).ms}, 1 << 20);
    if (evidence(buf_slice(&lines), &v, &why) != ERR_OK) fail_msg("%s", why.text);
    assert_int_equal(v.from_lsn, last_checkpoint().upto_lsn + 1);
    buf_fini(&lines);
}

#define PROOF_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        PROOF_TEST(what_was_signed_is_found_whole),
        PROOF_TEST(a_changed_name_is_found),
        PROOF_TEST(another_time_is_found),
        PROOF_TEST(a_batch_that_is_missing_twice_or_elsewhere_is_found),
        PROOF_TEST(an_end_that_was_cut_off_is_found_by_a_checkpoint_kept_elsewhere),
        PROOF_TEST(another_key_is_found_by_who_kept_ours),
        PROOF_TEST(a_signature_over_something_else_is_not_right),
        PROOF_TEST(an_export_proves_itself_in_pages_of_any_size),
        PROOF_TEST(a_changed_export_is_found),
        PROOF_TEST(an_export_since_a_moment_begins_with_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
