// Runs inside of a page: how long a conversation takes to show its rows, to draw a frame of an answer, and to take what a
// person does, with so many turns before. The server is the package's own, in memory, and what it takes is not counted.

const TEXT = "This is an answer of some length, with words in it. ".repeat(8);
const FRAMES = 40;
/** The options of registries: nothing is kept between rounds. */
const OPTIONS = { agentName: "support", store: null };

/**
 * Measures in rounds; returns milliseconds of the clock by what was measured. `dehydrated`: from JSON to the rows and the
 * newest messages. `frame`: the least frame of an answer. With `reads` also `read`: from the last byte of what is read first
 * to the same as from JSON; and `act`: the least that something takes that a person does. What a page draws is not in them.
 */
export async function converse({ turns, rounds, reads }, packageUrls) {
  const [{ connect }, { Conversations }, { fakeServer }] = await Promise.all(packageUrls.map((url) => import(url)));
  const { connection } = fakeServer(speak);
  const client = await connect(connection);
  const page = await pageWith(new Conversations({ client, ...OPTIONS }), turns);
  const id = reads && (await fill(client, turns));
  const times = { dehydrated: [], frame: [], ...(reads && { read: [], act: [] }) };
  for (let round = 0; round < rounds; round += 1) {
    const { id: sessionId } = await client.agents.createSession("support");
    const chats = new Conversations({ client, ...OPTIONS });
    let chat;
    times.dehydrated.push(spent(() => look((chat = chats.open(sessionId, { ...page, sessionId })))));
    times.frame.push(Math.min(...(await framesOf(chat))));
    chats.close();
    if (reads) await read(times, connection, connect, Conversations, id, turns);
  }
  return times;
}

async function* speak({ text }) {
  yield TEXT;
  for (let at = 0; text === "long" && at < FRAMES; at += 1) {
    yield { wait: 1 };
    yield TEXT;
  }
}

function spent(work) {
  const began = performance.now();
  work();
  return performance.now() - began;
}

/** Reads what a page shows first. */
function look({ rows, message }) {
  for (const { key } of rows.get().slice(-20)) message(key).get();
}

/** Resolves when it holds. */
async function until({ subscribe }, holds) {
  if (holds()) return;
  await new Promise((resolve) => {
    const remove = subscribe(() => holds() && (remove(), resolve()));
  });
}

const isOver = ({ status }) => status.get().phase === "idle";

/** A conversation as JSON with so many turns, all of them like one. */
async function pageWith(chats, turns) {
  const chat = chats.create();
  chat.send("Hello");
  await until(chat, () => isOver(chat));
  const page = chat.dehydrate();
  const [turn] = page.turns;
  chats.close();
  const like = (_, at) => ({ ...turn, key: `t${at}`, snapshot: { ...turn.snapshot, turn_id: `${at}` } });
  return JSON.parse(JSON.stringify({ ...page, turns: Array.from({ length: turns }, like) }));
}

/** Fills a session with so many turns; returns its id. */
async function fill(client, turns) {
  const session = await client.agents.createSession("support");
  for (let at = 0; at < turns; at += 1) await session.createTurn(`question ${at}`).waitForCompletion();
  return session.id;
}

/** Streams an answer below the turns; returns how long each of its frames takes. */
async function framesOf(chat) {
  const { requestAnimationFrame: own } = globalThis;
  const frames = [];
  let isTold = false;
  const unsubscribe = chat.subscribe(() => (isTold = true));
  globalThis.requestAnimationFrame = (draw) =>
    void setTimeout(() => {
      isTold = false;
      const time = spent(draw);
      if (isTold) frames.push(time);
    });
  try {
    chat.send("long");
    await until(chat, () => isOver(chat) && frames.length > 0);
  } finally {
    unsubscribe();
    globalThis.requestAnimationFrame = own;
  }
  return frames;
}

/** Reads the newest turns of the session; and then all of them, below which a person does something. */
async function read(times, connection, connect, Conversations, id, turns) {
  let last = 0;
  const fetch = async (...given) => {
    const response = await connection.fetch(...given);
    const text = await response.text();
    last = performance.now();
    return new Response(text, response);
  };
  const client = connect({ ...connection, fetch });
  const newest = new Conversations({ client, ...OPTIONS });
  const first = newest.open(id);
  first.attach();
  await until(first, () => first.rows.get().length > 0);
  look(first);
  times.read.push(performance.now() - last);
  newest.close();
  const chats = new Conversations({ client, ...OPTIONS, page: turns });
  const chat = chats.open(id);
  chat.attach();
  await until(chat, () => chat.rows.get().length > 0 && !chat.info.get().hasEarlier);
  times.act.push(Math.min(...Array.from({ length: FRAMES }, () => spent(() => chat.queue.hold(true)))));
  chats.close();
}
