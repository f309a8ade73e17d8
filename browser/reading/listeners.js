// Init script: knows who on the page listens for clicks, for scrolling and for the end of loading.
//
// Invariant: the page cannot tell that its listeners are counted; a count only grows, since who once listened may again.
(() => {
  const KEY = Symbol.for("speccache.listeners");
  if (window[KEY]) return;

  const { Proxy, Reflect, Set, WeakSet } = window;
  const PRESSES = new Set(["click", "mousedown", "mouseup", "pointerdown", "pointerup"]);
  const LOADS = new Set(["load", "pageshow", "readystatechange"]);

  const pressed = new WeakSet(); // elements
  const scrolled = new Set(); // windows, documents, elements
  let awaited = false;

  EventTarget.prototype.addEventListener = new Proxy(EventTarget.prototype.addEventListener, {
    apply(native, self, args) {
      const target = self ?? window;
      if (args[0] === "scroll") scrolled.add(target);
      else if (PRESSES.has(args[0])) target.nodeType === Node.ELEMENT_NODE && pressed.add(target);
      else if (LOADS.has(args[0])) awaited ||= target === window || target === document;
      return Reflect.apply(native, self, args);
    },
  });

  for (const owner of [HTMLElement.prototype, Document.prototype]) {
    const property = Object.getOwnPropertyDescriptor(owner, "onscroll");
    if (!property?.set) continue;
    const set = new Proxy(property.set, {
      apply(native, self, args) {
        if (args[0]) scrolled.add(self);
        return Reflect.apply(native, self, args);
      },
    });
    Object.defineProperty(owner, "onscroll", { ...property, set });
  }

  const awaitPresses = (element) => pressed.has(element) || typeof element.onclick === "function";

  // Everything whose scrolling is listened to.
  const awaitScrolling = () => {
    if (window.onscroll) scrolled.add(window);
    for (const element of document.querySelectorAll("[onscroll]")) scrolled.add(element);
    return scrolled;
  };

  const awaitLoad = () => awaited || typeof window.onload === "function";

  Object.defineProperty(window, KEY, { value: Object.freeze({ awaitPresses, awaitScrolling, awaitLoad }) });
})();
