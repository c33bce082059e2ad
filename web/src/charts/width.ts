/** px of a chart beside its plot: the labels of the y axis. A specification may say another number. */
const BESIDE = 66;
const WIDEST = 1184;
const NARROWEST = 120;
const UNKNOWN = 640;
/** px of a container from which two charts stand side by side, and those between them; as in the style sheet. */
const PAIR_FROM = 1000;
const PAIR_GAP = 40;

/** px of the plot of a chart that has this element. */
export function plotWidth(element: HTMLElement, spec: Record<string, unknown>): number {
  const { beside = BESIDE } = (spec.usermeta ?? {}) as { beside?: number };
  return Math.max(NARROWEST, Math.min(Math.floor(roomOf(element)), WIDEST) - beside);
}

/** px that an element has, or will have: what is in a closed tab has no width, but an ancestor of it has. */
function roomOf(element: HTMLElement): number {
  let at: HTMLElement | null = element;
  while (at && !at.clientWidth) at = at.parentElement;
  if (!at) return UNKNOWN;
  const style = getComputedStyle(at);
  const inner = at.clientWidth - parseFloat(style.paddingLeft || "0") - parseFloat(style.paddingRight || "0");
  const isHalf = at !== element && element.closest(".pair:not(.alone)") !== null && inner > PAIR_FROM;
  return isHalf ? (inner - PAIR_GAP) / 2 : inner;
}
