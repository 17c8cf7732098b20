/* osspace_test.c: directories of jobs on a real disk: empty when a job gets them, gone or another's afterwards. */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osspace.h"
#include "tmpdisk.h"

struct lab {
    struct tmpdisk tmp;
    char root[400];
    struct space *space;
};

static void lab_open(struct lab *l) {
    struct why why = {{0}};
    if (osspace_open(l->root, &l->space, &why) != ERR_OK) fail_msg("%s", why.text);
    if (osspace_sweep(l->space, &why) != ERR_OK) fail_msg("%s", why.text);
}

static int setup(void **state) {
    static struct lab lab;
    lab = (struct lab){0};
    tmpdisk_make(&lab.tmp);
    snprintf(lab.root, sizeof lab.root, "%s/spaces", lab.tmp.path);
    lab_open(&lab);
    *state = &lab;
    return 0;
}

static int teardown(void **state) {
    struct lab *l = *state;
    osspace_close(l->space);
    tmpdisk_remove(&l->tmp);
    return 0;
}

static const char *path_of(struct lab *l, const char *name, const char *inside) {
    static char path[SPACE_PATH_MAX];
    l->space->ops->path(l->space, name, inside, path);
    return path;
}

static void make(struct lab *l, const char *name) {
    struct why why = {{0}};
    if (l->space->ops->make(l->space, name, &why) != ERR_OK) fail_msg("%s", why.text);
}

static void put(struct lab *l, const char *name, const char *inside) {
    struct why why = {{0}};
    if (l->space->ops->write(l->space, name, inside, SLICE("x"), false, &why) != ERR_OK) fail_msg("%s", why.text);
}

static uint32_t entries(const char *path) {
    DIR *dir = opendir(path);
    uint32_t count = 0;
    if (dir == NULL) return UINT32_MAX;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    (void)closedir(dir);
    return count;
}

static ino_t number_of(struct lab *l, const char *name) {
    struct stat st;
    assert_int_equal(stat(path_of(l, name, "work"), &st), 0);
    return st.st_ino;
}

/* As a job finds it: `work` alone, nothing in it, its own. */
static void is_fresh(struct lab *l, const char *name) {
    struct stat st;
    assert_int_equal(entries(path_of(l, name, "")), 1);
    assert_int_equal(entries(path_of(l, name, "work")), 0);
    assert_int_equal(stat(path_of(l, name, "work"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(path_of(l, name, ""), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void what_is_left_as_made_is_the_next_jobs(void **state) {
    struct lab *l = *state;
    make(l, "a");
    ino_t first = number_of(l, "a");
    put(l, "a", "inputs.json");
    put(l, "a", "work/result");
    l->space->ops->remove(l->space, "a");
    assert_int_equal(entries(path_of(l, "a", "")), UINT32_MAX);
    make(l, "b");
    is_fresh(l, "b");
    assert_int_equal(number_of(l, "b"), first);
}

static void what_was_changed_is_nobodys(void **state) {
    struct lab *l = *state;
    static const char *const inside[] = {"", "work"};
    for (int i = 0; i < 2; i++) {
        make(l, "a");
        assert_int_equal(chmod(path_of(l, "a", inside[i]), 01777), 0);
        l->space->ops->remove(l->space, "a");
        make(l, "b");
        is_fresh(l, "b");
        make(l, "c"); /* nothing is left over for it, either */
        is_fresh(l, "c");
        l->space->ops->remove(l->space, "b");
        l->space->ops->remove(l->space, "c");
    }
}

static void a_large_workspace_is_left_to_be_removed_later(void **state) {
    struct lab *l = *state;
    char name[32];
    make(l, "a");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "work/f%d", i);
        put(l, "a", name);
    }
    put(l, "a", "work/deep/down/there");
    l->space->ops->remove(l->space, "a");
    assert_int_equal(entries(path_of(l, "a", "")), UINT32_MAX);
    make(l, "a");
    is_fresh(l, "a");
}

static void a_link_in_place_of_the_directory_leads_nowhere(void **state) {
    struct lab *l = *state;
    make(l, "a");
    make(l, "b");
    put(l, "b", "work/kept");
    char other[SPACE_PATH_MAX];
    snprintf(other, sizeof other, "%s", path_of(l, "b", "work"));
    assert_int_equal(rmdir(path_of(l, "a", "work")), 0);
    assert_int_equal(symlink(other, path_of(l, "a", "work")), 0);
    l->space->ops->remove(l->space, "a");
    assert_int_equal(entries(other), 1);
    make(l, "c");
    is_fresh(l, "c");
}

static void an_earlier_life_leaves_nothing(void **state) {
    struct lab *l = *state;
    make(l, "a");
    make(l, "b");
    put(l, "b", "work/left");
    l->space->ops->remove(l->space, "a"); /* kept for others */
    put(l, ".spare0", "work/meanwhile");
    osspace_close(l->space);
    lab_open(l);
    assert_int_equal(access(path_of(l, ".spare0", "work/meanwhile"), F_OK), -1);
    make(l, "b");
    is_fresh(l, "b");
    make(l, "c");
    is_fresh(l, "c");
}

int main(void) {
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_left_as_made_is_the_next_jobs),
        TEST(what_was_changed_is_nobodys),
        TEST(a_large_workspace_is_left_to_be_removed_later),
        TEST(a_link_in_place_of_the_directory_leads_nowhere),
        TEST(an_earlier_life_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
