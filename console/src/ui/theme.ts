// Light, dark, or as the system says. Kept per browser.
import { useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const KEY = "reeve.theme";

export function themeNow(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function isDark(): boolean {
  const theme = themeNow();
  return theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** Plots and canvases read colours once; they hear of a change by this event of the window. */
export const THEME_CHANGED = "reeve-theme";

export function applyTheme(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  dispatchEvent(new Event(THEME_CHANGED));
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(themeNow);
  const choose = (next: Theme) => {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
    setTheme(next);
    applyTheme();
  };
  return [theme, choose];
}

/** The value of a colour of style.css, for a canvas. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
