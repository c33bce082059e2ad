/** Shared by all pages: number formats, requests to the server, light and dark theme. */
export {
  NONE, ago, amount, bytes, clock, count, duration, dateTime, markOf, milliseconds, rate, seconds, share, shareOf, timeOfDay,
} from "./format"; // prettier-ignore
export {
  RefusedError, UnreachableError, address, getJson, isUnreachable, patchJson, postFile, postJson, rememberToken, errorText,
} from "./http"; // prettier-ignore
export { download } from "./download";
export { same } from "./same";
export { Mark } from "./mark";
export { type Theme, chooseTheme, isDark, startTheme, theme } from "./theme";
export { ThemeSwitch } from "./theme_switch";
export { When } from "./when";
export type { Rows, Status, TimeName, Tone } from "./parts";
