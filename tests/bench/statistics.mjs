// From samples to numbers.

/** The middle one; between two, their mean. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** All of them together, shared out evenly. */
export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Median, least and most. */
export function summary(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/**
 * How many times as long one candidate takes as another: the median over the rounds, so that what else the machine does
 * in one round counts for both. With a `floor`, of what both take beyond that.
 */
export function ratio(slow, fast, floor) {
  const above = (values, round) => values[round] - (floor ? floor[round] : 0);
  return median(slow.map((_, round) => above(slow, round) / above(fast, round)));
}
