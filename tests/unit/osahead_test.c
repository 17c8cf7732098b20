/* osahead_test.c: memory is ready ahead of its user, never further than said, and nothing depends on it. */
#include "test.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "osprefault.h"

#define MB ((size_t)1 << 20)
#define MAPPED_BYTES (64 * MB)
#define AHEAD_BYTES (4 * MB)
#define EDGE_BYTES MB /* pieces are whole: less than this may be left out at either end */

/* ---- no thread to be had ---- */

typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static bool no_threads;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *ctx) {
    if (no_threads) return EAGAIN;
    create_fn create = NULL;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, run, ctx);
}

static void without_a_thread_there_is_none_and_that_is_all(void **state) {
    (void)state;
    no_threads = true;
    assert_null(osprefault_open(AHEAD_BYTES));
    no_threads = false;
    osprefault_close(NULL);
}

/* ---- what is there ---- */

struct land {
    uint8_t *at;
    size_t page_bytes;
};

static void land_init(struct land *l) {
    l->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    l->at = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(l->at, MAP_FAILED);
}

static void land_fini(struct land *l) {
    assert_int_equal(munmap(l->at, MAPPED_BYTES), 0);
}

/* Bytes between two offsets that the system has given. */
static size_t given(const struct land *l, size_t from, size_t to) {
    static unsigned char pages[MAPPED_BYTES / 4096];
    size_t count = 0;
    assert_int_equal(mincore(l->at, MAPPED_BYTES, pages), 0);
    for (size_t i = from / l->page_bytes; i < to / l->page_bytes; i++) count += pages[i] & 1;
    return count * l->page_bytes;
}

static bool can_populate(const struct land *l) {
    bool can = madvise(l->at, l->page_bytes, MADV_POPULATE_WRITE) == 0; /* Linux 5.14 */
    assert_int_equal(madvise(l->at, l->page_bytes, MADV_DONTNEED), 0);
    return can;
}

static void memory_is_ready_ahead_of_its_user_and_no_further(void **state) {
    (void)state;
    struct land l;
    land_init(&l);
    if (!can_populate(&l)) skip();
    struct osprefault *o = osprefault_open(AHEAD_BYTES);
    assert_non_null(o);
    assert_int_equal(given(&l, 0, MAPPED_BYTES), 0);
    for (size_t used = 0; used + 2 * AHEAD_BYTES < MAPPED_BYTES; used += 3 * MB / 2) {
        osprefault_reach(o, l.at + used);
        osprefault_settle(o);
        assert_true(given(&l, used, used + AHEAD_BYTES) >= AHEAD_BYTES - 2 * EDGE_BYTES);
        assert_int_equal(given(&l, used + AHEAD_BYTES, MAPPED_BYTES), 0);
    }
    osprefault_close(o);
    land_fini(&l);
}

static void what_is_written_stays(void **state) {
    (void)state;
    struct land l;
    land_init(&l);
    struct osprefault *o = osprefault_open(AHEAD_BYTES);
    assert_non_null(o);
    for (size_t i = 0; i < 2 * AHEAD_BYTES; i += l.page_bytes) l.at[i] = (uint8_t)(i / l.page_bytes + 1);
    osprefault_reach(o, l.at);
    osprefault_settle(o);
    for (size_t i = 0; i < 2 * AHEAD_BYTES; i += l.page_bytes)
        assert_int_equal(l.at[i], (uint8_t)(i / l.page_bytes + 1));
    osprefault_close(o);
    land_fini(&l);
}

/* A user that was faster: what lies behind it is its own affair. */
static void what_was_passed_is_left_out(void **state) {
    (void)state;
    struct land l;
    land_init(&l);
    struct osprefault *o = osprefault_open(AHEAD_BYTES);
    assert_non_null(o);
    osprefault_reach(o, l.at);
    osprefault_settle(o);
    osprefault_reach(o, l.at + 32 * MB);
    osprefault_settle(o);
    assert_int_equal(given(&l, AHEAD_BYTES, 32 * MB), 0);
    size_t before = given(&l, 0, MAPPED_BYTES);
    osprefault_reach(o, l.at); /* back into what was ready once */
    osprefault_settle(o);
    assert_int_equal(given(&l, 0, MAPPED_BYTES), before);
    osprefault_close(o);
    land_fini(&l);
}

static void land_that_is_gone_does_no_harm(void **state) {
    (void)state;
    struct land l;
    land_init(&l);
    struct osprefault *o = osprefault_open(AHEAD_BYTES);
    assert_non_null(o);
    uint8_t *was = l.at;
    assert_int_equal(mprotect(l.at, MAPPED_BYTES, PROT_NONE), 0);
    osprefault_reach(o, was);
    osprefault_settle(o);
    assert_int_equal(given(&l, 0, MAPPED_BYTES), 0);
    osprefault_reach(o, was + 32 * MB); /* closed in the middle of it */
    osprefault_close(o);
    land_fini(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_thread_there_is_none_and_that_is_all),
        cmocka_unit_test(memory_is_ready_ahead_of_its_user_and_no_further),
        cmocka_unit_test(what_is_written_stays),
        cmocka_unit_test(what_was_passed_is_left_out),
        cmocka_unit_test(land_that_is_gone_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
