// Candidate "drain": only reads what comes; no reader can be faster.

/** Makes turns ready; each is to be consumed once. */
export async function prepare({ start, hear }) {
  const read = async () => {
    const reader = (await start()).body.getReader();
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { bytes };
      bytes += value.length;
    }
  };
  return { ready: async () => ({ consume: hear ?? read }), close() {} };
}
