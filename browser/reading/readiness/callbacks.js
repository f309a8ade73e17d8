// Callbacks: which of them can do no more than change looks, and by what a later load knows them again.
//
// Invariant: what cannot be told of a callback's source is not told. One that hands on to other code (a promise's, a
// debouncer's, a framework's) may do nothing today and bring text tomorrow, so it has no mark.
() => {
  const MAX_SOURCE = 200; // characters
  const CALL = /(\.\s*)?([\w$]*)\s*(?:\?\.\s*)?[(`]/g;
  const ASSIGNMENT = /([\w$.]*)\s*[-+*/%&|^?]*(?<![=!<>])=(?![=>])/g;
  const KEYWORDS = new Set(["", "for", "function", "if", "return", "switch", "while"]);
  const METHODS = new Set("add remove removeAttribute removeProperty setAttribute setProperty toggle toggleAttribute".split(" "));
  const LOOKS = /\.(?:style\.[\w$]+|className)$/;
  // Calls and assignments that the two patterns do not see, what starts a load, and what stands for many things.
  const UNCLEAR =
    /[^\t-~]|\\|\/[/*]|<<|>>|\+\+|--|[)\]}]\s*(?:\?\.\s*)?[(`]|src|href|native code|\b(?:async|await|class|delete|import|new|super|this|throw|yield)\b/i;
  const { Reflect } = window;
  const print = Function.prototype.toString;

  const changesLooks = (source) =>
    !UNCLEAR.test(source) &&
    [...source.matchAll(CALL)].every(([, dot, name]) => (dot ? METHODS : KEYWORDS).has(name)) &&
    [...source.matchAll(ASSIGNMENT)].every(([, left]) => LOOKS.test(left));

  // The same text for the same callback put off for the same time; empty where there is none.
  const mark = (callback, milliseconds) => {
    const source = Reflect.apply(print, callback, []);
    return source.length <= MAX_SOURCE && changesLooks(source) ? `${milliseconds} ${source}` : "";
  };

  return { callbacks: { mark } };
}
