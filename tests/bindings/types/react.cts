// The same types, reached by `require`.
import react = require("turnwire/react");
import solid = require("turnwire/solid");

export const words = (source: react.Readable<string>): string => react.useReadable(source) + solid.useReadable(source)();
