// run.mjs [FILE...]: the gateway for agents, with the official client of the Model Context Protocol, by stdio and by HTTP.
// TAP; not zero when a test failed. REEVE names the program; build/release/reeve unless said.
import { after } from "node:test";

import { stop } from "./server.mjs";

const all = ["titan", "tools", "protocol", "rights", "attacks", "restart"];
const wanted = process.argv.slice(2);
for (const file of wanted.length > 0 ? wanted : all) await import(`./${file}.test.mjs`);
after(stop);
