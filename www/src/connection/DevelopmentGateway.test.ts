import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Settings } from "../settings/settings";
import { DevelopmentGateway } from "./DevelopmentGateway";

const answers = vi.fn<typeof fetch>();
beforeEach(() => {
  vi.stubGlobal("window", { location: { origin: "https://page.example" } });
  vi.stubGlobal("fetch", answers);
});
afterEach(() => {
  vi.unstubAllGlobals();
  answers.mockReset();
});

const settings = (part: Partial<Settings> = {}): Settings => ({
  baseUrl: "https://page.example/demo",
  protocol: "truefoundry",
  agentName: "bot",
  token: "",
  ...part,
});
const found = async (part?: Partial<Settings>) => (await find(part)) as DevelopmentGateway;
const find = (part?: Partial<Settings>) => DevelopmentGateway.find(settings(part), new AbortController().signal);

it("is found where the page came from, and cuts with the page's token", async () => {
  answers.mockImplementation(async () => Response.json({ open: 0 }));
  const gateway = await found({ token: "secret" });
  await gateway.cut("a/b");
  const asked = answers.mock.calls.map(([url, init]) => [init?.method ?? "GET", url, init?.headers]);
  const headers = { authorization: "Bearer secret" };
  expect(asked).toEqual([
    ["GET", "https://page.example/_gateway/streams", headers],
    ["POST", "https://page.example/_gateway/sessions/a%2Fb/cut?how=reset", headers],
  ]);
});

it("is not looked for elsewhere", async () => {
  expect(await find({ baseUrl: "https://gateway.example/acme" })).toBeNull();
  expect(answers).not.toHaveBeenCalled();
});

it("is missing if the page's server knows nothing of it, or answers everything with its page, or not at all", async () => {
  answers.mockResolvedValueOnce(new Response("", { status: 404 }));
  expect(await find()).toBe("missing");
  answers.mockResolvedValueOnce(new Response("<!doctype html>"));
  expect(await find()).toBe("missing");
  answers.mockResolvedValueOnce(Response.json([]));
  expect(await find()).toBe("missing");
  answers.mockRejectedValueOnce(new TypeError("Failed to fetch"));
  expect(await find()).toBe("missing");
});

it("is not missing if it refuses the token", async () => {
  answers.mockResolvedValueOnce(new Response("", { status: 401 }));
  expect(await find()).toBeNull();
});

it("does not fail when the connection is gone already", async () => {
  answers.mockResolvedValueOnce(Response.json({ open: 1 }));
  const gateway = await found();
  answers.mockRejectedValueOnce(new TypeError("Failed to fetch"));
  await expect(gateway.cut("s")).resolves.toBeUndefined();
});
