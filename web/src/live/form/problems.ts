import { RefusedError, errorText } from "../../shared";
import type { Complaint } from "./request";

/** The server's errors, each with the field it is about. */
export function complaintsAbout(error: unknown): Complaint[] {
  const isRefused = error instanceof RefusedError;
  const others = isRefused ? error.others.map((each) => ({ field: each.field, text: each.error })) : [];
  return [{ field: isRefused ? error.field : "", text: errorText(error) }, ...others];
}
