// A socket without a network: a test receives its messages and answers them.

/**
 * Returns a class of such sockets, each of which is added to `sockets`. `take(socket, message)` gets what is sent;
 * `socket.say(message)` answers, and `socket.cut()` breaks the connection.
 */
export function fakeSockets(sockets, take) {
  return () => {
    const socket = new EventTarget();
    Object.assign(socket, { readyState: 1, bufferedAmount: 0 });
    const emit = (type, more) => socket.dispatchEvent(Object.assign(new Event(type), more));
    socket.say = (message) => setTimeout(emit, 0, "message", { data: JSON.stringify(message) });
    socket.send = (text) => take(socket, JSON.parse(text));
    socket.close = () => {};
    socket.cut = () => emit("close", { code: 1006, reason: "" });
    sockets.push(socket);
    setTimeout(emit, 0, "open");
    return socket;
  };
}
