/** Vega-Lite asks the whole of Vega for a few functions that come from vega-util; the rest would be 400 kB more. */
export const slim = [{ find: /^vega$/, replacement: "vega-util" }];
