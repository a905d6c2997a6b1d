// What the tests of a server do in a page, installed there as `globalThis.ours`, beside `kit`. What it returns is plain JSON.

/** Runs in the page. Its sessions have these options. */
export function install(options) {
  const { allow, deny, respond } = globalThis.turnwire;
  const textOf = (turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
  const own = async (more) => (await kit.client()).agents.createSession("any", { ...options, ...more });
  const again = async (id) => (await kit.client()).agents.getSession(id, options);

  /** What a turn comes to, as `kit` tells it. */
  const play = async (session, input) => {
    ours.session = session;
    ours.turn = session.createTurn(input);
    return { ...(await kit.stream(ours.turn)), session: session.id };
  };
  const answered = (action, { allow: granted, deny: reason, respond: content }) =>
    granted ? allow(action, granted) : reason ? deny(action, reason) : respond(action, content);

  globalThis.ours = {
    /** Says something: in a session of its own, with these options too, or after a reload in the session of this id. */
    say: async (text, { id, ...more } = {}) => play(await (id ? again(id) : own(more)), text),
    /** Says something in the same session as before. */
    next: (text) => play(ours.session, text),
    /** Says something that makes the page's tool be called. Returns what its last turn came to, and the titles of the calls. */
    async pick(text) {
      const session = await own();
      const titles = [];
      const parameters = { type: "object", properties: { title: { type: "string" } } };
      const pick = ({ title }) => {
        titles.push(title);
        return `red for ${title}`;
      };
      session.tools({ pick_color: { description: "Lets the user pick.", parameters, run: pick } });
      const run = session.run(text);
      await run.waitForCompletion();
      const last = run.turns.at(-1);
      return kit.plain({ session: session.id, titles, status: last.status, text: textOf(last), waits: last.snapshot().required_actions });
    },
    /** After a reload: all that waits in a session, answered alike. */
    async answer(id, how) {
      const session = await again(id);
      const { last } = await session.history();
      return play(session, last.snapshot().required_actions.map((action) => answered(action, how)));
    },
    /** After a reload: the texts of the turns of a session, and the state and the reasoning of the last one. */
    async recall(id) {
      const turns = await (await again(id)).history();
      const { agent_state, threads } = turns.last.snapshot();
      const reasoning = threads[0].messages.map(({ reasoning_content }) => reasoning_content ?? "").join("");
      return kit.plain({ texts: turns.map(textOf), state: agent_state, reasoning });
    },
    /** Begins a turn. Returns the session's id. */
    async begin(text) {
      ours.session = await own();
      ours.turn = ours.session.createTurn(text);
      ours.streamed = kit.stream(ours.turn);
      return ours.session.id;
    },
    text: () => textOf(ours.turn),
    /** How that turn ended. */
    ended: () => ours.streamed,
  };
}
