/** The page that the part of the address after # names. */
export type Route =
  | { page: "live" }
  | { page: "runs" }
  | { page: "run"; id: string }
  | { page: "compare"; refs: string[] }
  | { page: "experiments" }
  | { page: "experiment"; name: string }
  | { page: "trend"; series: string; metric: string }
  | { page: "missing"; path: string };

export interface Place {
  route: Route;
  /** The path. A new path opens another page; other changes stay on the page. */
  path: string;
  /** What the page stores in the address: the open tab, the search. */
  params: URLSearchParams;
}

/** The default metric of a trend. */
export const FIRST_METRIC = "p99";

export function placeOf(hash: string): Place {
  const [before = "", ...rest] = hash.replace(/^#/, "").split("?");
  const params = new URLSearchParams(rest.join("?"));
  const path = `/${before.replace(/^\/+|\/+$/g, "")}`;
  return { route: routeOf(path, params), path, params };
}

/** The address of a path with its parameters: the inverse of placeOf. */
export function hashOf(path: string, params: URLSearchParams): string {
  const text = params.toString();
  return `#${path}${text && `?${text}`}`;
}

function routeOf(path: string, params: URLSearchParams): Route {
  const [page = "", ...rest] = path.slice(1).split("/");
  const name = decoded(rest.join("/"));
  if (path === "/") return { page: "live" };
  if (page === "runs") return name ? { page: "run", id: name } : { page: "runs" };
  if (page === "experiments") return name ? { page: "experiment", name } : { page: "experiments" };
  if (page === "compare" && !name) return { page: "compare", refs: params.getAll("ref").filter(Boolean) };
  if (page === "trend" && !name) {
    return { page: "trend", series: params.get("series") ?? "", metric: params.get("metric") ?? FIRST_METRIC };
  }
  return { page: "missing", path };
}

/** Decodes a text. A wrong encoding stays as it is, because people type addresses. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
