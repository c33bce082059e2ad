/** What all pages share: numbers as text, questions to the server, light and dark. */
export {
  NONE, ago, amount, bytes, clock, count, duration, exactly, markOf, milliseconds, rate, seconds, share, shareOf, timeOfDay,
} from "./format"; // prettier-ignore
export {
  RefusedError, UnreachableError, address, getJson, isUnreachable, patchJson, postJson, rememberToken, sayOf,
} from "./http"; // prettier-ignore
export { same } from "./same";
export { Mark } from "./mark";
export { type Theme, chooseTheme, isDark, startTheme, theme } from "./theme";
export { ThemeSwitch } from "./theme_switch";
export { When } from "./when";
export type { Rows, Status, TimeName, Tone } from "./parts";
