/* audit_proof_test.c: `reeve audit checkpoint`, `verify`, `key` and `export` of a real server: beside it, after it was
 * killed, when it is stopped, and from elsewhere. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "realcli.h"

static struct realcli *const r = &realcli_group;

static void file_write(const char *path, const char *text) {
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static char *in_data(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", r->data, name);
    return path;
}

static char *kept(char to[4096], const char *text) {
    snprintf(to, 4096, "%s", text);
    return to;
}

/* ---- beside a server ---- */

static void a_checkpoint_covers_what_was_done(void **state) {
    (void)state;
    (void)realcli_ok(r, "limit key gpu 3", NULL);
    assert_has(realcli_ok(r, "audit checkpoint", NULL).out, "covers the records up to");
    assert_has(realcli_ok(r, "audit verify", NULL).out, "are as they were signed; ");
    assert_has(realcli_ok(r, "audit verify --json", NULL).out, "{\"ok\":true,");
}

/* Nothing new: the same checkpoint again, and no record more. */
static void asked_twice_it_is_the_same(void **state) {
    (void)state;
    char one[4096];
    for (int i = 0; i < 50; i++) { /* the worker may attach meanwhile */
        kept(one, realcli_ok(r, "audit checkpoint --json", NULL).out);
        if (strcmp(one, realcli_ok(r, "audit checkpoint --json", NULL).out) == 0) return;
    }
    fail_msg("each time another: %s", one);
}

static void the_key_is_that_of_the_checkpoints(void **state) {
    (void)state;
    char key[4096], words[4096 + 32];
    struct stat st;
    kept(key, realcli_ok(r, "audit key", NULL).out);
    assert_int_equal(strlen(key), 65);
    key[64] = 0;
    assert_has(realcli_ok(r, "audit checkpoint --json", NULL).out, key);
    snprintf(words, sizeof words, "audit verify --key %s", key);
    assert_has(realcli_ok(r, words, NULL).out, "as they were signed");
    key[0] = key[0] == '0' ? '1' : '0';
    snprintf(words, sizeof words, "audit verify --key %s", key);
    realcli_refused(r, words, 9, "signed by another key than the given one");
    assert_int_equal(stat(in_data("audit.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void the_server_itself_reads_it_for_others(void **state) {
    (void)state;
    char words[256];
    snprintf(words, sizeof words, "audit verify --server unix:%s/reeve.sock", r->data);
    assert_has(realcli_ok(r, words, NULL).out, "as they were signed");
}

/* ---- exports ---- */

static void an_export_is_checked_by_itself(void **state) {
    (void)state;
    char path[128], words[256];
    snprintf(path, sizeof path, "%s", in_data("trail.jsonl"));
    snprintf(words, sizeof words, "audit export -o %s", path);
    (void)realcli_ok(r, words, NULL);
    snprintf(words, sizeof words, "audit verify --from %s", path);
    assert_has(realcli_ok(r, words, NULL).out, "are as they were signed");
}

static void a_changed_export_is_refused(void **state) {
    (void)state;
    char path[128], words[256], text[4096];
    snprintf(path, sizeof path, "%s", in_data("trail.jsonl"));
    snprintf(words, sizeof words, "audit export -o %s", path);
    (void)realcli_ok(r, words, NULL);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text - 1, f);
    text[len] = 0;
    (void)fclose(f);
    char *name = strstr(text, "\\\"gpu\\\"");
    assert_non_null(name);
    name[2] = 'c';
    file_write(path, text);
    snprintf(words, sizeof words, "audit verify --from %s", path);
    realcli_refused(r, words, 9, "not what the bytes of its record say");
}

static void events_of_ocsf_have_their_class(void **state) {
    (void)state;
    const char *out = realcli_ok(r, "audit export --format ocsf", NULL).out;
    assert_has(out, "\"class_uid\":6003");
    assert_has(out, "\"api\":{\"operation\":\"set-limit\"");
    assert_has(realcli_ok(r, "audit export --format ocsf --all", NULL).out, "\"class_uid\":6002");
    realcli_refused(r, "audit export --format xml", 2, "--format: expected jsonl or ocsf");
}

/* ---- without a server ---- */

static void a_stop_leaves_nothing_unsigned(void **state) {
    (void)state;
    char checkpoint[4096], words[256];
    (void)realcli_ok(r, "limit key gpu 6", NULL);
    kept(checkpoint, realcli_ok(r, "audit checkpoint --json", NULL).out);
    (void)realcli_ok(r, "limit key gpu 7", NULL);
    (void)realcli_ok(r, "down", NULL);
    const char *out = realcli_ok(r, "audit verify", NULL).out;
    assert_has(out, "as they were signed; ");
    assert_has(realcli_ok(r, "audit export --offline --all", NULL).out, "\"verb\":\"set-limit\"");
    file_write(in_data("kept.json"), checkpoint);
    snprintf(words, sizeof words, "audit verify --since %s", in_data("kept.json"));
    assert_has(realcli_ok(r, words, NULL).out, "as they were signed");
    realcli_up(r);
    assert_has(realcli_ok(r, "audit verify", NULL).out, "as they were signed; ");
}

/* Only the hashes, keys and signatures of what is asked for; a checkpoint of another journal is not in this one. */
static void a_checkpoint_of_another_journal_is_refused(void **state) {
    (void)state;
    char words[256];
    file_write(in_data("kept.json"), "{\"number\":1}");
    snprintf(words, sizeof words, "audit verify --since %s", in_data("kept.json"));
    realcli_refused(r, words, 2, "this is no checkpoint");
    realcli_refused(r, "audit verify --since /nowhere", 2, "/nowhere: No such file");
    realcli_refused(r, "audit verify --key 12", 2, "12: No such file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_covers_what_was_done),
        cmocka_unit_test(asked_twice_it_is_the_same),
        cmocka_unit_test(the_key_is_that_of_the_checkpoints),
        cmocka_unit_test(the_server_itself_reads_it_for_others),
        cmocka_unit_test(an_export_is_checked_by_itself),
        cmocka_unit_test(a_changed_export_is_refused),
        cmocka_unit_test(events_of_ocsf_have_their_class),
        cmocka_unit_test(a_stop_leaves_nothing_unsigned),
        cmocka_unit_test(a_checkpoint_of_another_journal_is_refused),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
