// Streams: answers that are read piece by piece.
//
// Invariant: an answer is pending until its last piece has been read, however it is read.
({ activity: { end, native: call, wrap }, requests }) => {
  const { Object, WeakMap } = window;
  const items = new WeakMap(); // stream or reader -> the request that it reads from

  const body = Object.getOwnPropertyDescriptor(window.Response.prototype, "body");
  wrap(body, "get", (native, self, args) => {
    const stream = call(native, self, args);
    const item = stream && requests.read(self);
    if (item) items.set(stream, item);
    return stream;
  });
  Object.defineProperty(window.Response.prototype, "body", body);

  // What comes of a stream reads from the same request.
  for (const name of ["getReader", "pipeThrough", "values", Symbol.asyncIterator]) {
    wrap(window.ReadableStream?.prototype, name, (native, self, args) => {
      const result = call(native, self, args);
      if (items.has(self)) items.set(result, items.get(self));
      return result;
    });
  }

  wrap(window.ReadableStream?.prototype, "pipeTo", (native, self, args) => {
    const promise = call(native, self, args);
    return items.has(self) ? promise.finally(() => end(items.get(self))) : promise;
  });

  const watchPieces = (owner, name) => {
    wrap(owner, name, (native, self, args) => {
      const promise = call(native, self, args);
      const item = items.get(self);
      return item ? promise.then((piece) => (piece.done && end(item), piece)) : promise;
    });
  };
  watchPieces(window.ReadableStreamDefaultReader?.prototype, "read");
  watchPieces(window.ReadableStreamBYOBReader?.prototype, "read");
  watchPieces(Object.getPrototypeOf(new window.ReadableStream().values()), "next");

  return { streams: {} };
}
