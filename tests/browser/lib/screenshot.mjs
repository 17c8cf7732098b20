// Pictures for the documentation. Only with SCREENSHOTS=1, so that ordinary runs leave the tree as it is.
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { root } from "./reeve.mjs";

const folder = process.env.SCREENSHOTS_DIR ?? join(root, "docs/screenshots");
export const wanted = process.env.SCREENSHOTS === "1";

/** The page as it is now, as NAME-THEME.png with a palette: a fifth of the bytes. */
export async function screenshot(page, name, theme) {
  if (!wanted) return;
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}-${theme}.png`);
  await page.screenshot({ path, animations: "disabled" });
  await promisify(execFile)("pngquant", ["--force", "--skip-if-larger", "--strip", "--output", path, "128", path]).catch((error) => {
    if (error.code !== 98) throw error; // 98: the palette would have made it larger
  });
}
