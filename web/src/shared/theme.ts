import { computed, signal } from "@preact/signals";

/** What the reader has chosen; "system" is whatever the device says. */
export type Theme = "system" | "light" | "dark";

const KEY = "plimsoll-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
const chosen = signal<Theme>(kept());

/** The chosen theme; the style sheet follows it through `data-theme`, so nothing is drawn again. */
export const theme = computed(() => chosen.value);
export const isDark = computed(() => (chosen.value === "system" ? systemIsDark.value : chosen.value === "dark"));

/** Applies what was chosen before, and follows the system from now on. Once, before anything is drawn. */
export function startTheme(): void {
  apply(chosen.peek());
  system.addEventListener("change", (event) => (systemIsDark.value = event.matches));
}

export function chooseTheme(next: Theme): void {
  chosen.value = next;
  apply(next);
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A file, or a browser that keeps nothing: it holds as long as the page does.
  }
}

function apply(next: Theme): void {
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

function kept(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}
