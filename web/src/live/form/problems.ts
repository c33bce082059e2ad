import { RefusedError, sayOf } from "../../shared";
import type { Complaint } from "./request";

/** What the server has against it, beside the field that it is about. */
export function complaintsAbout(error: unknown): Complaint[] {
  return [{ field: error instanceof RefusedError ? error.field : "", text: sayOf(error) }];
}
