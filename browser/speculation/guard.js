// Init script of speculative pages: takes away what would act, or talk, behind the back of the guard's CDP session.
//
// Invariant: a page that tries one of these finds it failing as it may fail for any page, and the attempt is on record.
(() => {
  const record = { done: null };
  Object.defineProperty(window, Symbol.for("speccache.guard"), { value: record });

  const note = (what) => {
    // A frame of the same site tells the top one; a frame of another site is not loaded at all.
    try {
      const top = window.top[Symbol.for("speccache.guard")] ?? record;
      top.done ??= what;
    } catch {
      record.done ??= what;
    }
  };

  // A popup is another target: its requests would pass unseen.
  window.open = () => {
    note("opens-window");
    return null;
  };

  const forbid = (name, what) => {
    if (!(name in window)) return;
    window[name] = class {
      constructor() {
        note(what);
        throw new DOMException(`${name} is not available`, "SecurityError");
      }
    };
  };
  forbid("WebSocket", "opens-socket");
  forbid("WebSocketStream", "opens-socket");
  forbid("WebTransport", "opens-socket");
  forbid("EventSource", "opens-socket");
  forbid("RTCPeerConnection", "opens-socket");
  forbid("Worker", "starts-worker");
  forbid("SharedWorker", "starts-worker");

  // The browser would load ahead what the page names here, without asking the guard. A script that is removed before the
  // parser is done with it, or right after it was added, has no effect.
  const rules = 'script[type~="speculationrules" i]';
  new MutationObserver((records) => {
    for (const record of records) {
      for (const node of record.addedNodes) {
        if (node.matches?.(rules)) node.remove();
        node.querySelectorAll?.(rules).forEach((script) => script.remove());
      }
    }
  }).observe(document, { childList: true, subtree: true });

  // What a page says when it is left would be laid at the door of the page that follows it.
  if ("fetchLater" in window) window.fetchLater = () => ({ activated: false });
  addEventListener(
    "pagehide",
    () => {
      if (document.URL === "about:blank") return; // a frame's first document, whose window the next one takes over
      navigator.sendBeacon = () => false;
      window.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
      for (const method of ["setItem", "removeItem", "clear"]) Storage.prototype[method] = () => {};
      for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { value: null });
    },
    true,
  );
})();
