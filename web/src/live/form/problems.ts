import { RefusedError, sayOf } from "../../shared";
import type { Complaint } from "./request";

/** What the server has against it, beside the field that it is about. */
export function complaintsAbout(error: unknown): Complaint[] {
  const isRefused = error instanceof RefusedError;
  const others = isRefused ? error.others.map((each) => ({ field: each.field, text: each.error })) : [];
  return [{ field: isRefused ? error.field : "", text: sayOf(error) }, ...others];
}
