// The current time, here or elsewhere.

/** The time in an IANA zone, by default the browser's own. Throws an error with a sentence if there is no such zone. */
export function timeIn(zone: string | undefined, now: Date): string {
  // British English writes days before months, and times without noon as a reference.
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", options).format(now);
  const timeZone = zone === undefined ? {} : { timeZone: zone };
  try {
    return `${format({ timeStyle: "short", ...timeZone })} on ${format({ dateStyle: "full", ...timeZone })}`;
  } catch {
    throw new Error(`There is no time zone “${zone}”. Name one as IANA does, such as Asia/Tokyo.`);
  }
}
