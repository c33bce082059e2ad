import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { State } from "../../src/contract";

type Asked = [address: string, options: RequestInit];
const fetched = vi.fn<(address: string, options: RequestInit) => Promise<Response>>();

/** A new copy of the module, because it stores a token. */
async function module() {
  vi.resetModules();
  return import("../../src/shared/http");
}

const state = (token: string) => Response.json({ token });
const refusal = (status: number, error: string, field = "") => Response.json({ error, field }, { status });

beforeEach(() => vi.stubGlobal("fetch", fetched.mockReset()));
afterEach(() => vi.unstubAllGlobals());

const tokenOf = ([, options]: Asked) => new Headers(options.headers).get("X-Plimsoll-Token");

test("paths are relative to the page's base path", async () => {
  const base = document.head.appendChild(document.createElement("base"));
  base.href = "http://localhost/lab/";
  const { address } = await module();
  expect(address("api/state")).toBe("http://localhost/lab/api/state");
  base.remove();
});

test("a request that changes something carries the token of the state", async () => {
  const { postJson, rememberToken } = await module();
  rememberToken({ token: "t1" } as State);
  fetched.mockResolvedValueOnce(Response.json({}));
  await postJson("api/live/stop", {});
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(tokenOf(fetched.mock.calls[0] as Asked)).toBe("t1");
});

test("an unknown token is fetched first", async () => {
  const { patchJson } = await module();
  fetched.mockResolvedValueOnce(state("t2")).mockResolvedValueOnce(Response.json({ id: "r" }));
  expect(await patchJson("api/runs/r", { note: "n" })).toEqual({ id: "r" });
  expect(fetched.mock.calls.map(([address]) => new URL(address).pathname)).toEqual(["/api/state", "/api/runs/r"]);
});

test("after a refusal the token is fetched again, because the process may have restarted", async () => {
  const { postJson, rememberToken } = await module();
  rememberToken({ token: "old" } as State);
  fetched
    .mockResolvedValueOnce(refusal(403, "wrong token"))
    .mockResolvedValueOnce(state("new"))
    .mockResolvedValueOnce(Response.json({}));
  await postJson("api/live/stop", {});
  expect(tokenOf(fetched.mock.calls[2] as Asked)).toBe("new");
});

test("a refusal for another reason is thrown without a retry", async () => {
  const { postJson, rememberToken } = await module();
  rememberToken({ token: "t" } as State);
  fetched.mockResolvedValueOnce(refusal(403, "this page may only look")).mockResolvedValueOnce(state("t"));
  await expect(postJson("api/live/stop", {})).rejects.toThrow("this page may only look");
  expect(fetched).toHaveBeenCalledTimes(2);
});

test("a problem has its message and its field", async () => {
  const { getJson, RefusedError } = await module();
  fetched.mockResolvedValueOnce(refusal(400, "users must be a number", "users"));
  const error = await getJson("api/x").catch((each: unknown) => each);
  expect(error).toBeInstanceOf(RefusedError);
  expect(error).toMatchObject({ status: 400, field: "users", message: "users must be a number" });
});

test("an error response without a problem shows its status", async () => {
  const { getJson } = await module();
  fetched.mockResolvedValueOnce(new Response("<html>Bad gateway", { status: 502 }));
  await expect(getJson("api/x")).rejects.toThrow("HTTP 502");
});

test("a missing response is a different error", async () => {
  const { getJson, isUnreachable, errorText } = await module();
  fetched.mockRejectedValueOnce(new TypeError("Failed to fetch"));
  const error = await getJson("api/x").catch((each: unknown) => each);
  expect(isUnreachable(error)).toBe(true);
  expect(errorText(error)).toContain("does not answer");
});

test("an aborted request is not a network error", async () => {
  const { getJson, isUnreachable } = await module();
  const given = new AbortController();
  fetched.mockImplementationOnce((_, options) => {
    given.abort();
    return Promise.reject(options.signal?.reason as Error);
  });
  const error = await getJson("api/x", given.signal).catch((each: unknown) => each);
  expect(isUnreachable(error)).toBe(false);
});
