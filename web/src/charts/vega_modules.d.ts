/** Vega's packages have no types of their own. These are the types of the whole. */
declare module "vega-dataflow" {
  export { changeset, transforms } from "vega";
}
declare module "vega-parser" {
  export { parse } from "vega";
}
declare module "vega-view" {
  export { View } from "vega";
}
declare module "vega-transforms" {
  const all: Record<string, import("vega").Transform>;
  export = all;
}
declare module "vega-view-transforms" {
  const all: Record<string, import("vega").Transform>;
  export = all;
}
declare module "vega-encode" {
  const all: Record<string, import("vega").Transform>;
  export = all;
}
