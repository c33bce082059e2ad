/** Space next to the plot for the labels of the y axis, in px. A specification may set another value. */
const BESIDE = 66;
const WIDEST = 1184;
const NARROWEST = 120;
const UNKNOWN = 640;
/** Container width in px from which two charts fit side by side, and the gap between them; as in the style sheet. */
const PAIR_FROM = 1000;
const PAIR_GAP = 40;

/** Width of the plot in px, for a chart in this element. */
export function plotWidth(element: HTMLElement, spec: Record<string, unknown>): number {
  const { beside = BESIDE } = (spec.usermeta ?? {}) as { beside?: number };
  return Math.max(NARROWEST, Math.min(Math.floor(roomOf(element)), WIDEST) - beside);
}

/** Width of an element in px. An element in a closed tab has no width, so an ancestor's width is used. */
function roomOf(element: HTMLElement): number {
  let at: HTMLElement | null = element;
  while (at && !at.clientWidth) at = at.parentElement;
  if (!at) return UNKNOWN;
  const style = getComputedStyle(at);
  const inner = at.clientWidth - parseFloat(style.paddingLeft || "0") - parseFloat(style.paddingRight || "0");
  const isHalf = at !== element && element.closest(".pair:not(.alone)") !== null && inner > PAIR_FROM;
  return isHalf ? (inner - PAIR_GAP) / 2 : inner;
}
