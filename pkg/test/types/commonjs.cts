// The same types, reached by `require`.
import turnwire = require("turnwire");
import slim = require("turnwire/slim");

export async function connect(): Promise<turnwire.Client> {
  await slim.init(new Uint8Array(8));
  return turnwire.connect({ baseUrl: "https://gateway.example/acme" });
}
