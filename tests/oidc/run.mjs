// run.mjs [FILE...]: logins and tokens of identity providers, with a real one (oidc-provider). TAP; not zero when a test
// failed. REEVE names the program; build/release/reeve unless said.
import { after } from "node:test";

import { stopAll } from "./server.mjs";

const all = ["bearer", "login", "cli"];
const wanted = process.argv.slice(2);
for (const file of wanted.length > 0 ? wanted : all) await import(`./${file}.test.mjs`);
after(stopAll);
