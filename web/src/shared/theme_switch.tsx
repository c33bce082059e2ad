import { chooseTheme, isDark } from "./theme";

/** A button that switches between light and dark. Before its first use the device decides. */
export function ThemeSwitch() {
  const next = isDark.value ? "light" : "dark";
  return (
    <button type="button" class="theme" aria-label={`Switch to ${next} colours`} onClick={() => chooseTheme(next)}>
      {next === "light" ? "Light" : "Dark"}
    </button>
  );
}
