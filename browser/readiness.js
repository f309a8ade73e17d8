// Init script: runs before any other script in every document and counts what can still change the page's text.
//
// Invariant: the page cannot tell that it is watched by anything it does. Every wrapped function is a Proxy that calls the
// native one with the same receiver and arguments, throws what it throws and prints as it prints. Each frame watches
// itself; `ready()` of the top frame asks the frames it may look into.
(() => {
  const KEY = Symbol.for("speccache.readiness");
  if (window[KEY]) return;

  // All durations in milliseconds.
  const QUIET = 50; // no activity for this long, and an idle main thread, confirm that nothing comes
  const QUIET_THIN = 300; // the same while there is hardly any text
  const QUIET_EMPTY = 1000; // the same while there is none: native import() and workers cannot be watched
  const SHORT_TIMER = 250; // a one-shot timer up to this long is always waited for
  const ANSWER_TIMER = 600; // and up to this long where the page was acted on: inputs are debounced
  const LONG_TIMER = 2000; // and up to this long while the page still owes its text
  const TIMER_CHAIN = 5; // a timer set by a timer set by …: from here on it is a ticker
  const STALE = { request: 2000, script: 2000, foreign: 800, style: 1500, frame: 2000, navigation: Infinity };
  const BODY_GRACE = 300; // an answer whose body nobody begins to read in this time is no longer pending
  const THIN_CHARACTERS = 200;
  const UNENDING = 1500; // a request that outlives this much quiet is taken for one that never ends
  const TICKS = 5; // a node replaced more often than this is a ticker or a carousel
  const REPEATS = 3; // the same URL fetched more often than this is a poll

  // Kept now, since a page may put its own (fake clocks, zone.js) in their place.
  const { Promise, Reflect, WeakMap, WeakSet, scheduler } = window;
  const nativeTimeout = window.setTimeout.bind(window);
  const now = performance.now.bind(performance);

  let asked = now(); // when the page was born, or was last acted on
  let patience = SHORT_TIMER;
  let acted = -Infinity; // when it was last acted on
  const pending = new Map(); // item -> item, in order of start
  const timers = new Map(); // id -> {wait, due}
  const repeats = new Map(); // URL of a GET -> how often it was fetched
  const settledElements = new WeakSet(); // resource elements that loaded or failed
  const replacements = new WeakMap(); // node -> how often its content was replaced
  let lastActivity = asked;
  let touched = false; // a script used something that is watched
  let chain = 0; // how deep in a chain of timers the running code is
  let historyOwesText = false; // the address changed by script, the document not yet
  let parsed = false;
  let refresh = ""; // the `Refresh` header, which no script can see
  let known = new Set(); // requests that earlier loads of the page saw never end
  let unending = []; // and those that this one saw
  let deadline = 0;

  const active = () => {
    lastActivity = now();
  };

  const wrap = (owner, name, apply) => {
    const native = owner?.[name];
    if (typeof native !== "function") return;
    owner[name] = new Proxy(native, { apply });
  };

  // ---- requests ----------------------------------------------------------------------------------------------------

  const begin = (kind, element = null, url = "") => {
    const item = { kind, element, url, since: now(), reading: 0 };
    pending.set(item, item);
    touched ||= element === null;
    return item;
  };

  const end = (item) => {
    if (!item || !pending.delete(item)) return;
    chain = 0;
    active();
  };

  const beginRequest = (method, url) => {
    if (/^(GET|HEAD)$/i.test(method)) {
      const count = (repeats.get(url) ?? 0) + 1;
      repeats.set(url, count);
      if (count > REPEATS) return null;
    }
    return begin("request", null, url);
  };

  const bodies = new WeakMap(); // Response -> item

  wrap(window, "fetch", (native, self, args) => {
    const [input, init] = args;
    const promise = Reflect.apply(native, self, args);
    if (init?.keepalive ?? input?.keepalive) return promise; // a beacon
    const item = beginRequest(init?.method ?? input?.method ?? "GET", String(input?.url ?? input));
    if (!item) return promise;
    return promise.then(
      (response) => {
        bodies.set(response, item);
        nativeTimeout(() => item.reading || end(item), BODY_GRACE);
        return response;
      },
      (error) => {
        end(item);
        throw error;
      },
    );
  });

  for (const name of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
    wrap(window.Response?.prototype, name, (native, self, args) => {
      const promise = Reflect.apply(native, self, args);
      const item = bodies.get(self);
      if (!item) return promise;
      item.reading += 1;
      return promise.finally(() => end(item));
    });
  }

  const opened = new WeakMap(); // XMLHttpRequest -> [method, url]

  wrap(window.XMLHttpRequest?.prototype, "open", (native, self, args) => {
    opened.set(self, [String(args[0]), String(args[1])]);
    return Reflect.apply(native, self, args);
  });

  wrap(window.XMLHttpRequest?.prototype, "send", (native, self, args) => {
    const item = beginRequest(...(opened.get(self) ?? ["GET", ""]));
    if (item) self.addEventListener("loadend", () => end(item), { once: true });
    try {
      return Reflect.apply(native, self, args);
    } catch (error) {
      end(item);
      throw error;
    }
  });

  // ---- timers ------------------------------------------------------------------------------------------------------

  wrap(window, "setTimeout", (native, self, args) => {
    const [callback, delay, ...rest] = args;
    const wait = Math.max(0, Number(delay) || 0);
    const level = chain + 1;
    if (typeof callback !== "function" || wait > LONG_TIMER || level > TIMER_CHAIN) return Reflect.apply(native, self, args);
    const run = function (...values) {
      timers.delete(id);
      chain = level;
      active();
      return Reflect.apply(callback, this, values);
    };
    const id = Reflect.apply(native, self, [run, delay, ...rest]);
    timers.set(id, { wait, due: now() + wait });
    touched = true;
    return id;
  });

  for (const name of ["clearTimeout", "clearInterval"]) {
    wrap(window, name, (native, self, args) => {
      timers.delete(args[0]);
      return Reflect.apply(native, self, args);
    });
  }

  // ---- the address -------------------------------------------------------------------------------------------------

  for (const name of ["pushState", "replaceState"]) {
    wrap(window.History?.prototype, name, (native, self, args) => {
      const before = location.href;
      const result = Reflect.apply(native, self, args);
      if (location.href !== before) historyOwesText = touched = true;
      return result;
    });
  }

  let leaving = null; // a navigation to another document was asked for and has not happened yet
  const stay = () => {
    end(leaving);
    leaving = null;
  };
  window.navigation?.addEventListener("navigate", (event) => {
    if (event.destination.sameDocument || event.downloadRequest !== null) return;
    leaving ??= begin("navigation");
    // A router may intercept it and stay in this document; it has done so when all listeners have run.
    nativeTimeout(() => event.defaultPrevented && stay(), 0);
  });
  window.navigation?.addEventListener("navigatesuccess", stay);
  window.navigation?.addEventListener("navigateerror", stay);

  const refreshComes = () => {
    const content = refresh || document.querySelector('meta[http-equiv="refresh" i]')?.content;
    const [, delay, url] = /^\s*([\d.]*)\s*[;,]?\s*(?:url\s*=\s*)?["']?([^"']*)/i.exec(content ?? "") ?? [];
    return Boolean(url) && Number(delay) <= 1 && new URL(url, document.baseURI).href !== location.href;
  };

  // ---- the document ------------------------------------------------------------------------------------------------

  const runs = (script) => /^(|module|(text|application)\/(x-)?(java|ecma)script)$/i.test(script.type.trim());

  const isForeign = (url) => {
    const site = (host) => host.split(".").slice(-2).join(".");
    return site(new URL(url, document.baseURI).hostname) !== site(location.hostname);
  };

  // What kind of thing this element still loads, or null.
  const loads = (element) => {
    switch (element.localName) {
      case "script":
        if (!element.src || !runs(element) || (element.noModule && element.type !== "module")) return null;
        return isForeign(element.src) ? "foreign" : "script";
      case "link":
        if (!element.href || element.disabled || (element.media && !matchMedia(element.media).matches)) return null;
        if (element.relList.contains("modulepreload")) return "script";
        return element.relList.contains("stylesheet") && !element.sheet ? "style" : null;
      case "iframe":
      case "frame":
        if (element.loading === "lazy" || (element.src && new URL(element.src, location).origin !== location.origin)) return null;
        return element.contentDocument?.readyState === "complete" ? null : "frame";
      default:
        return null;
    }
  };

  const RESOURCES = "script[src], link[href], iframe, frame";

  const watch = (root) => {
    const found = [...root.querySelectorAll(RESOURCES)];
    if (root.matches?.(RESOURCES)) found.push(root);
    for (const element of found) {
      const kind = settledElements.has(element) ? null : loads(element);
      if (kind) begin(kind, element);
    }
  };

  // `load` and `error` of resources do not bubble, but they are captured.
  const onResource = ({ target }) => {
    if (!(target instanceof Element)) return;
    settledElements.add(target);
    for (const item of pending.keys()) if (item.element === target) end(item);
  };
  document.addEventListener("load", onResource, true);
  document.addEventListener("error", onResource, true);

  // A text that is replaced again and again (clock, ticker, carousel) must not hold the page.
  const isTick = ({ type, target, addedNodes, removedNodes }) => {
    if (type === "childList" && !(addedNodes.length && removedNodes.length)) return false;
    const count = (replacements.get(target) ?? 0) + 1;
    replacements.set(target, count);
    return count > TICKS;
  };

  const observer = new MutationObserver((records) => {
    let changed = false;
    for (const record of records) {
      changed = !isTick(record) || changed;
      for (const node of record.addedNodes) if (node instanceof Element) watch(node);
    }
    if (!changed || !parsed) return;
    historyOwesText = false;
    active();
  });
  // Attributes are not observed: an animation changes them all the time, and hardly ever the text.
  const observe = (root) => observer.observe(root, { childList: true, characterData: true, subtree: true });

  wrap(window.Element?.prototype, "attachShadow", (native, self, args) => {
    const root = Reflect.apply(native, self, args);
    observe(root);
    return root;
  });

  // While the parser works there is nothing to decide, so its own insertions need not be seen one by one. Deferred scripts
  // run before this event, at which `readyState` has long been "interactive".
  const onParsed = () => {
    if (parsed) return;
    parsed = true;
    watch(document);
    observe(document);
    chain = 0;
    active();
  };
  document.addEventListener("DOMContentLoaded", onParsed, { capture: true, once: true });

  // ---- the verdict -------------------------------------------------------------------------------------------------

  const LOADING = /\bloading\b|please wait|加载中|載入中|読み込み中|chargement|wird geladen|cargando|загрузка/i;
  const BARREN = new Set(["script", "style", "template", "noscript"]);

  // Count visible characters, and stop where there are enough.
  const countText = (node, enough) => {
    let count = 0;
    for (let child = node.firstChild; child && count < enough; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE) count += child.data.replace(/\s+/g, " ").trim().length;
      else if (child.nodeType === Node.ELEMENT_NODE && !BARREN.has(child.localName) && child.checkVisibility()) {
        count += countText(child, enough - count) + (child.shadowRoot ? countText(child.shadowRoot, enough - count) : 0);
      }
    }
    return count;
  };

  let textSeen = 0; // text that was there once is not counted again
  const textLength = () => {
    if (window !== window.top) return THIN_CHARACTERS; // a frame owes nothing: it may well be meant to be empty
    if (textSeen < THIN_CHARACTERS && document.body) textSeen = countText(document.body, THIN_CHARACTERS);
    return document.querySelector('[aria-busy="true"]') ? 0 : textSeen;
  };
  const isThin = () => textLength() < THIN_CHARACTERS;
  const owesText = () => historyOwesText || isThin();

  // An address without its query, in which polls send a time or a counter; empty for what is none.
  const place = (url) => {
    if (!URL.canParse(url, document.baseURI)) return "";
    const { origin, pathname } = new URL(url, document.baseURI);
    return origin + pathname;
  };

  // Requests that were not waited for to their end while nothing else happened. A page that is empty, or says that it is
  // loading, may well owe its text to such a request.
  const findUnending = () => {
    const time = now();
    const old = [...pending.keys()].filter(({ url, since }) => url && time - since >= STALE.request);
    if (!old.length || time - lastActivity < UNENDING || textLength() === 0) return [];
    if (isThin() && LOADING.test(document.body.innerText)) return [];
    return [...new Set(old.map(({ url }) => place(url)).filter(Boolean))];
  };

  const waitsForRequest = (time) => {
    for (const item of pending.keys()) {
      if (item.element && !item.element.isConnected) pending.delete(item);
      else if (known.size && item.url && known.has(place(item.url))) continue;
      else if (time - item.since <= STALE[item.kind] || (item.kind !== "style" && isThin())) return true;
    }
    return false;
  };

  const waitsForTimer = (time) => {
    for (const [id, { wait, due }] of timers) {
      if (time > due + LONG_TIMER) timers.delete(id);
      else if (wait <= patience || owesText()) return true;
    }
    return false;
  };

  const waitsForFrame = () => {
    for (let index = 0; index < window.length; index += 1) {
      try {
        if (window[index][KEY]?.busy()) return true;
      } catch {
        // A frame of another origin: its text is read, or not, through its own frame.
      }
    }
    return false;
  };

  const quiet = () => {
    const length = textLength();
    return length === 0 ? QUIET_EMPTY : length < THIN_CHARACTERS ? QUIET_THIN : QUIET;
  };

  const isStatic = () =>
    !touched &&
    !refresh &&
    window.length === 0 &&
    ![...document.scripts].some(runs) &&
    !document.querySelector('[onload], [onerror], meta[http-equiv="refresh" i]');

  // What ended the wait, or null while it goes on.
  const verdict = () => {
    if (!parsed) {
      // The first, empty document of a frame is complete from the start.
      if (document.readyState !== "complete") return null;
      onParsed();
    }
    const time = now();
    if (waitsForRequest(time)) return null;
    if (time - acted >= QUIET && isStatic()) return "static"; // a form is sent a little after it was submitted
    if (waitsForTimer(time) || refreshComes() || waitsForFrame() || time - lastActivity < quiet()) return null;
    return "settled";
  };

  // Wait until the page can be read, and say what ended the wait.
  const ready = (capMilliseconds, { refresh: header = "", polls = [] } = {}) =>
    new Promise((resolve) => {
      let done = false;
      refresh = header;
      known = new Set(polls);
      const finish = (reason) => {
        done = true;
        unending = findUnending();
        resolve(reason);
      };
      deadline = asked + capMilliseconds;
      nativeTimeout(() => finish("cap"), Math.max(0, deadline - now()));
      // A background task runs only when nothing else wants the thread, so a framework that renders in slices is
      // never taken for a quiet page.
      const look = () => {
        if (done) return;
        const reason = verdict();
        if (reason) finish(reason);
        else scheduler.postTask(look, { priority: "background", delay: 10 });
      };
      if (parsed || document.readyState === "complete") look();
      else document.addEventListener("DOMContentLoaded", look, { capture: true, once: true });
    });

  // Someone is about to act on the page: what it does from now on is the answer, and the cap counts from here.
  const act = () => {
    asked = now();
    patience = ANSWER_TIMER;
    acted = asked;
    chain = 0;
    repeats.clear();
    active();
  };

  const watcher = {
    act,
    ready,
    busy: () => verdict() === null,
    waits: () => waitsForRequest(now()) || waitsForTimer(now()),
    polls: () => unending,
    deadline: () => deadline,
  };
  Object.defineProperty(window, KEY, { value: Object.freeze(watcher) });
})();
