import { defineConfig, type Plugin } from "vite";

// The build is embedded in the binary and served under a policy that allows nothing inline, hence no data: URLs.
//
// `npm run dev` serves the sources beside a server that runs: REEVE_URL (http://127.0.0.1:7070) and REEVE_TOKEN say
// which. The token is added here, so a page in development needs no cookie; it is told so by /api/v1/session.
const server = process.env.REEVE_URL ?? "http://127.0.0.1:7070";
const token = process.env.REEVE_TOKEN ?? "";

const sessionOfTheProxy: Plugin = {
  name: "session-of-the-proxy",
  configureServer(dev) {
    dev.middlewares.use("/api/v1/session", (_request, answer) => {
      answer.setHeader("content-type", "application/json");
      answer.end(JSON.stringify({ name: "development", roles: ["admin"], csrf: "", version: "dev" }));
    });
  },
};

export default defineConfig({
  plugins: token === "" ? [] : [sessionOfTheProxy],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: {
    fs: { allow: [".."] }, // the schema of flow files is in docs/
    proxy: {
      "/api": {
        target: server,
        ws: true,
        changeOrigin: true,
        headers: token === "" ? {} : { authorization: `Bearer ${token}`, origin: server },
      },
    },
  },
});
