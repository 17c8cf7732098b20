/* dialect_test.c: the table of dialects is whole: each can do what the server asks of all of them, and on the shared
 * port first bytes choose one. */
#include "test.h"

#include "dialect.h"

static void each_dialect_has_what_the_server_needs(void **state) {
    (void)state;
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++) {
        const struct dialect_ops *x = *d;
        assert_non_null(x->name);
        assert_true(x->open != NULL && x->closed != NULL && x->received != NULL);
        assert_true(x->tell != NULL && x->frames != NULL && x->refuse != NULL);
        assert_true((x->make == NULL) == (x->made == NULL));
        assert_true((x->misfits != 0) == (x->misfit != NULL));
        assert_true((x->own_op != 0) == (x->own_row != NULL));
        assert_true(x->first != 0 || !x->on_shared_port);
    }
}

static void first_bytes_choose_one_dialect_of_the_shared_port(void **state) {
    (void)state;
    uint32_t seen = 0;
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++) {
        if (!(*d)->on_shared_port) continue;
        assert_int_equal(seen & (*d)->first, 0);
        seen |= (*d)->first;
    }
    assert_int_equal(seen, SNIFF_BIT(SNIFF_NATIVE) | SNIFF_BIT(SNIFF_HTTP) | SNIFF_BIT(SNIFF_RESP));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dialect_has_what_the_server_needs),
        cmocka_unit_test(first_bytes_choose_one_dialect_of_the_shared_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
