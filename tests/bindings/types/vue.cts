// The same types, reached by `require`.
import turnwire = require("turnwire/vue");

export const words = (source: turnwire.Readable<string>): string => turnwire.useReadable(source).value;
