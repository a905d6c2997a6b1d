// Plays turns of a fake server in Hermes, without WebAssembly, and prints the results.
import "./platform.js";
import { connect } from "turnwire/nowasm";
import { fakeServer } from "turnwire/testing";
import { playFake } from "./app/fake.cjs";
import { protocols, text } from "./task.json";

const say = (result) => print(JSON.stringify(result));
playFake(connect, fakeServer, text, protocols).then(say, (error) => say({ error: String(error.cause?.stack ?? error.stack) }));
