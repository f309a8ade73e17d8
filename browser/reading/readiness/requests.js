// Requests: what scripts ask of the network and have not been answered yet.
//
// Invariant: what a page does not wait for itself is not counted: beacons, sockets, event sources, and polls.
({ activity: { begin, end, native: call, timeout, wrap } }) => {
  const BODY_GRACE = 300; // an answer whose body nobody begins to read in this time is no longer pending
  const REPEATS = 3; // the same URL fetched more often than this is a poll
  const { Map, WeakMap } = window;

  const repeats = new Map(); // URL of a GET -> how often it was fetched

  const beginRequest = (method, url) => {
    if (/^(GET|HEAD)$/i.test(method)) {
      const count = (repeats.get(url) ?? 0) + 1;
      repeats.set(url, count);
      if (count > REPEATS) return null;
    }
    return begin("request", { url });
  };

  const bodies = new WeakMap(); // Response -> item

  wrap(window, "fetch", (native, self, args) => {
    const [input, init] = args;
    const promise = call(native, self, args);
    if (init?.keepalive ?? input?.keepalive) return promise; // a beacon
    const item = beginRequest(init?.method ?? input?.method ?? "GET", String(input?.url ?? input));
    if (!item) return promise;
    return promise.then(
      (response) => {
        bodies.set(response, item);
        timeout(() => item.reading || end(item), BODY_GRACE);
        return response;
      },
      (error) => {
        end(item);
        throw error;
      },
    );
  });

  // The request whose answer is about to be read, if it is still pending.
  const read = (response) => {
    const item = bodies.get(response);
    if (item) item.reading += 1;
    return item;
  };

  for (const name of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
    wrap(window.Response?.prototype, name, (native, self, args) => {
      const promise = call(native, self, args);
      const item = read(self);
      return item ? promise.finally(() => end(item)) : promise;
    });
  }

  wrap(window.Response?.prototype, "clone", (native, self, args) => {
    const copy = call(native, self, args);
    if (bodies.has(self)) bodies.set(copy, bodies.get(self));
    return copy;
  });

  const opened = new WeakMap(); // XMLHttpRequest -> [method, url]

  wrap(window.XMLHttpRequest?.prototype, "open", (native, self, args) => {
    opened.set(self, [String(args[0]), String(args[1])]);
    return call(native, self, args);
  });

  wrap(window.XMLHttpRequest?.prototype, "send", (native, self, args) => {
    const item = beginRequest(...(opened.get(self) ?? ["GET", ""]));
    if (item) self.addEventListener("loadend", () => end(item), { once: true });
    try {
      return call(native, self, args);
    } catch (error) {
      end(item);
      throw error;
    }
  });

  return { requests: { read, forget: () => repeats.clear() } };
}
