import { computed, signal } from "@preact/signals";

/** The reader's choice. "system" follows the device. */
export type Theme = "system" | "light" | "dark";

const KEY = "plimsoll-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
const chosen = signal<Theme>(kept());

/** The selected theme. The style sheet reads it from `data-theme`, so nothing is redrawn. */
export const theme = computed(() => chosen.value);
export const isDark = computed(() => (chosen.value === "system" ? systemIsDark.value : chosen.value === "dark"));

/** Applies the stored choice and follows the system. Call it once, before the first drawing. */
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
    // A local file, or a browser without storage: the choice lasts until the page closes.
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
