import { beforeEach, expect, it, vi } from "vitest";
import { demoAddress, isDemoAddress, isKept, isRelayed, withProtocol } from "./protocols";
import { defaultSettings } from "./settings";

vi.mock("../connection/relay", () => ({ RELAY: "http://127.0.0.1:8791" }));
beforeEach(() => void vi.stubGlobal("window", { location: { origin: "https://page.example" } }));

it("leads to the relay, if that speaks the protocol", () => {
  expect(demoAddress("aap")).toBe("http://127.0.0.1:8791/aap");
  expect(demoAddress("truefoundry")).toBe("http://127.0.0.1:8791/demo");
  expect(demoAddress("trueforge")).toBe("https://page.example");
  expect(demoAddress("ag-ui")).toBe("https://page.example/ag-ui");
  expect(isDemoAddress("http://127.0.0.1:8791/turn-rpc")).toBe(true);
  expect(isDemoAddress("https://page.example/aap")).toBe(false);
});

it("keeps turns of two protocols, of which one comes first", () => {
  const aap = defaultSettings();
  expect(aap.protocol).toBe("aap");
  expect(isKept(aap)).toBe(true);
  expect(isKept(withProtocol(aap, "tirea"))).toBe(true);
  const awaken = withProtocol(aap, "awaken");
  expect([isRelayed(awaken), isKept(awaken)]).toEqual([true, false]);
  expect(isRelayed(withProtocol(awaken, "ag-ui"))).toBe(false);
  expect(isRelayed({ protocol: "aap", baseUrl: "https://agents.example/aap" })).toBe(false);
});
