// What is printed while the benchmark runs.
import { ratio, summary } from "./statistics.mjs";

/**
 * Of each candidate the median, in parentheses the least and the most, then how many times as long as turnwire it takes, and
 * in brackets the same beyond the time of draining the stream.
 */
export function cells(samples) {
  const { turnwire: own, drain: floor } = samples;
  return Object.entries(samples)
    .map(([candidate, values]) => {
      const { median, min, max } = summary(values);
      const times = candidate === "turnwire" ? "" : ` ${ratio(values, own).toFixed(2)}×`;
      const above = candidate === "turnwire" || candidate === "drain" || !floor ? "" : ` [${ratio(values, own, floor).toFixed(2)}×]`;
      return `${candidate} ${digits(median)} (${digits(min)}–${digits(max)})${times}${above}`;
    })
    .join("   ");
}

/** A number in three digits. */
export function digits(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
