/* login_cookie_fuzz.c: whatever a browser shows as its session or its login is none, unless this server has made it;
 * and a header with cookies is taken apart within its own bytes. */
#include "cookie.h"
#include "login_state.h"
#include "osclock.h"
#include "osdigest.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct auth auth = {.clock = osclock(), .hasher = osdigest(), .secret = {1, 2, 3}};
    struct slice text = slice_of(data, size), found = {0};
    struct http_header headers[] = {{SLICE("cookie"), text}, {SLICE("host"), SLICE("a:7070")}};
    struct http_request r = {.headers = headers, .header_count = 2, .names = UINT64_MAX};
    struct cookie cookie;
    struct login_state state;
    struct why why = {{0}};
    ENSURE(cookie_read(&auth, text, (wall_time){1}, &cookie, &why) == ERR_UNAUTHENTICATED);
    ENSURE(login_state_read(&auth, text, (wall_time){1}, &state, &why) == ERR_UNAUTHENTICATED);
    if (cookie_find(&r, &found)) ENSURE(found.ptr >= data && found.ptr + found.len <= data + size);
    if (cookie_find_named(&r, "reeve_login_7070", &found))
        ENSURE(found.ptr >= data && found.ptr + found.len <= data + size);
    return 0;
}
