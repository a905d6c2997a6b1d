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
    /**
     * Says something that makes the page's tool be called, which fails if there is a failure. Returns what the last turn came
     * to, and the titles of the calls.
     */
    async pick(text, failure) {
      const session = await own();
      const titles = [];
      const parameters = { type: "object", properties: { title: { type: "string" } } };
      const pick = ({ title }) => {
        titles.push(title);
        if (failure) throw new Error(failure);
        return `red for ${title}`;
      };
      session.tools({ pick_color: { description: "Lets the user pick.", parameters, run: pick } });
      const run = session.run(text);
      await run.waitForCompletion();
      const last = run.turns.at(-1);
      return kit.plain({ session: session.id, titles, status: last.status, text: textOf(last), waits: last.snapshot().required_actions });
    },
    /** After a reload: all that waits in a session, each answered in its way. */
    async answer(id, hows) {
      const session = await again(id);
      const { last } = await session.history();
      return play(session, last.snapshot().required_actions.map((action, at) => answered(action, hows[at])));
    },
    /** After a reload: the texts of the turns of a session, and the state and the reasoning of the last one. */
    async recall(id) {
      const turns = await (await again(id)).history();
      const { agent_state, threads } = turns.last.snapshot();
      const reasoning = threads[0].messages.map(({ reasoning_content }) => reasoning_content ?? "").join("");
      return kit.plain({ texts: turns.map(textOf), state: agent_state, reasoning });
    },
    /** After a reload in the middle of a run: how its turn ends. */
    async resume(id) {
      ours.session = await again(id);
      const { last } = await ours.session.resume();
      await last.waitForCompletion().catch(() => {});
      return kit.plain({ status: last.status, error: last.snapshot().error?.body?.code ?? null, text: textOf(last) });
    },
    /** Says something at another address. */
    async sayAt(baseUrl, text) {
      const session = await (await kit.client({ baseUrl })).agents.createSession("any", options);
      return { ...(await play(session, text)), kept: session.messages() };
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
