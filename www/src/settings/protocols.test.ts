import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import families from "../../../pkg/families.json";
import { demoAddress, isDemoAddress, isProtocol, PROTOCOLS, withProtocol } from "./protocols";
import { loadSettings, saveSettings, type Settings } from "./settings";

const stored = new Map<string, string>();
beforeEach(() => {
  vi.stubGlobal("window", { location: { origin: "https://page.example" } });
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  stored.clear();
});

const settings = (part: Partial<Settings> = {}): Settings => ({
  baseUrl: "https://page.example/demo",
  protocol: "truefoundry",
  agentName: "support-bot",
  token: "",
  ...part,
});

describe("choosing a protocol", () => {
  it("moves an address of the page's own gateway along", () => {
    const tirea = withProtocol(settings(), "tirea");
    expect(tirea).toMatchObject({ protocol: "tirea", baseUrl: "https://page.example/tirea" });
    const forge = withProtocol(tirea, "trueforge");
    expect(forge).toMatchObject({ protocol: "trueforge", baseUrl: "https://page.example" });
    expect(withProtocol({ ...forge, baseUrl: "https://page.example/" }, "awaken").baseUrl).toBe(demoAddress("awaken"));
  });

  it("leaves the address of any other server alone", () => {
    for (const baseUrl of ["https://gateway.example/acme", "https://page.example/acme", "not a URL", ""]) {
      expect(isDemoAddress(baseUrl)).toBe(false);
      expect(withProtocol(settings({ baseUrl }), "awaken")).toMatchObject({ baseUrl, protocol: "awaken" });
    }
  });

  it("takes an agent that was proposed along to the one of the other protocol, and no other", () => {
    const rpc = withProtocol(settings(), "turn-rpc");
    expect(rpc).toMatchObject({ baseUrl: "https://page.example/turn-rpc", agentName: "Agent" });
    expect(withProtocol({ ...rpc, agentName: "Chat" }, "aap").agentName).toBe("support-bot");
    expect(withProtocol(settings({ agentName: "mine" }), "aap").agentName).toBe("mine");
    expect(withProtocol(settings({ agentName: "mine" }), "turn-rpc").agentName).toBe("Agent");
    expect(withProtocol(settings({ agentName: "Chat" }), "turn-rpc").agentName).toBe("Chat");
  });

  it("proposes the relay for what the page's own gateway does not speak, and comes back from there", () => {
    const codex = withProtocol(settings(), "codex");
    expect(codex).toMatchObject({ baseUrl: "ws://127.0.0.1:8791", agentName: "codex" });
    expect(isDemoAddress(codex.baseUrl)).toBe(false);
    expect(withProtocol(codex, "awaken")).toMatchObject({ baseUrl: demoAddress("awaken"), agentName: "support-bot" });
  });

  it("knows them all, and nothing else", () => {
    expect(PROTOCOLS.map(({ id }) => id)).toEqual(Object.values(families).flatMap(({ protocols }) => protocols));
    expect(PROTOCOLS.every(({ id }) => isProtocol(id))).toBe(true);
    expect([null, "", "turns", 3].some(isProtocol)).toBe(false);
  });
});

describe("stored settings", () => {
  it("come back, but for the token", () => {
    for (const { id: protocol } of PROTOCOLS) {
      const own = settings({ protocol, baseUrl: demoAddress(protocol), token: "secret" });
      saveSettings(own);
      expect([...stored.values()].join()).not.toMatch(/secret|page\.example/);
      expect(loadSettings()).toEqual({ ...own, token: "" });
    }
    const elsewhere = settings({ protocol: "tirea", baseUrl: "https://agents.example/api" });
    saveSettings(elsewhere);
    expect(loadSettings()).toEqual(elsewhere);
  });

  it("of earlier visits are still read", () => {
    stored.set("turnwire.settings", JSON.stringify({ protocol: "truefoundry", agentName: "mine" }));
    expect(loadSettings()).toEqual(settings({ agentName: "mine" }));
    const forge = { baseUrl: "https://forge.example", protocol: "trueforge", agentName: "mine" };
    stored.set("turnwire.settings", JSON.stringify(forge));
    expect(loadSettings()).toEqual({ ...forge, token: "" });
  });

  it("that make no sense are left alone", () => {
    for (const text of ["{", "7", '{"protocol":"smoke","baseUrl":4}']) {
      stored.set("turnwire.settings", text);
      expect(loadSettings()).toEqual(settings());
    }
  });
});
