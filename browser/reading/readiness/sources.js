// Sources: where text may come from that cannot be watched to its end: sockets, workers, databases, imported modules.
//
// Invariant: using one of them costs a page a moment of quiet, and changes nothing else.
({ activity, resources }) => {
  const { Proxy, Reflect } = window;
  const note = () => {
    activity.opaque = activity.scripted = true;
  };

  const watchCalls = (owner, ...names) => {
    for (const name of names) {
      activity.wrap(owner, name, (native, self, args) => {
        note();
        return activity.native(native, self, args);
      });
    }
  };
  watchCalls(window, "createImageBitmap");
  watchCalls(window.Cache?.prototype, "match", "matchAll");
  watchCalls(window.CacheStorage?.prototype, "match", "open");
  watchCalls(window.Document?.prototype, "startViewTransition");
  watchCalls(window.IDBFactory?.prototype, "open");
  watchCalls(window.Scheduler?.prototype, "postTask", "yield");
  watchCalls(window.ServiceWorkerContainer?.prototype, "register");
  watchCalls(window.SubtleCrypto?.prototype, "decrypt", "deriveBits", "deriveKey", "digest", "importKey", "verify");
  watchCalls(window.WebAssembly, "compile", "compileStreaming", "instantiate", "instantiateStreaming");

  for (const name of ["BroadcastChannel", "EventSource", "SharedWorker", "WebSocket", "Worker"]) {
    if (typeof window[name] !== "function") continue;
    window[name] = new Proxy(window[name], {
      construct(native, args, target) {
        note();
        return Reflect.construct(native, args, target);
      },
    });
    window[name].prototype.constructor = window[name];
  }

  const IMPORT = /\bimport\s*\(/;

  // Whether a script may be importing another: no function, so nobody can watch it. Of a script in a file only the page's
  // being short of text makes it likely.
  const mayImport = (isThin) => {
    for (const script of document.scripts) {
      if (script.type === "module") return true;
      if (resources.runs(script) && (script.src ? isThin : IMPORT.test(script.text))) return true;
    }
    return false;
  };

  return { sources: { mayImport } };
}
