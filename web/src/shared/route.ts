/** What the part of the address behind # asks for. */
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
  /** The path alone: when it changes, another page begins; when it does not, something of the same page does. */
  path: string;
  /** What the page keeps in the address: the open tab, what was searched for. */
  params: URLSearchParams;
}

/** What a trend is of until another is chosen. */
export const FIRST_METRIC = "p99";

export function placeOf(hash: string): Place {
  const [before = "", ...rest] = hash.replace(/^#/, "").split("?");
  const params = new URLSearchParams(rest.join("?"));
  const path = `/${before.replace(/^\/+|\/+$/g, "")}`;
  return { route: routeOf(path, params), path, params };
}

/** The address of a place: the other way round. */
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

/** People type and shorten addresses: what is not well encoded is taken as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
