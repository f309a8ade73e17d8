// Controls: fields, buttons, and whatever else does something when it is clicked, with the state each is in.
//
// Invariant: what a password field holds is never read.
({ blocks, links, names, numbers, text: { attribute, clean, escape, quote, shorten }, walk }) => {
  const NAME_CHARACTERS = 200;
  const CARD_CHARACTERS = 400; // one round more text than this is named by its heading, and its text stays text
  const SELECT_OPTIONS = 30;

  const ROLES = new Set(
    ("button checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option link " +
      "combobox textbox searchbox slider spinbutton").split(" "),
  );
  const INPUTS = {
    ...{ submit: "button", reset: "button", image: "button", button: "button" },
    ...{ checkbox: "checkbox", radio: "radio" },
  };
  const PLAIN_INPUTS = { file: "file", range: "slider", number: "spinbutton", search: "searchbox", color: "color" };
  const FIELDS = new Set(["input", "select", "textarea"]);
  const VALUED = new Set(["combobox", "slider", "spinbutton"]); // roles of what holds a value although it is no field
  const SECRET = /password|one-time-code|cc-(number|csc)/; // kinds of fields, by `autocomplete`
  // A link that a script makes a button of; without one of these, `role=button` is only how it looks.
  const SCRIPTED =
    "[onclick], [data-method], [data-confirm], [data-turbo-method], [data-remote], [data-toggle], [data-bs-toggle]";

  const isEditor = (element) => element.hasAttribute("contenteditable") && element.isContentEditable;

  // Whether this label is what a person sees of a box to tick or of a file to choose.
  const standsForHidden = (label) => {
    const field = label.control;
    if (!field || !/^(checkbox|radio|file)$/.test(field.type)) return false;
    const box = field.getBoundingClientRect();
    return box.width <= 1 || box.height <= 1 || !field.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };

  // Whether this is a link, whatever role it plays.
  const leads = (element) =>
    element.localName === "a" && !element.matches(SCRIPTED) && !links.isPressed(element) && links.destination(element) !== null;

  // What kind of control this is, or null.
  const kindOf = (element) => {
    const role = attribute(element, "role").toLowerCase();
    switch (element.localName) {
      case "label":
        return standsForHidden(element) ? (INPUTS[element.control.type] ?? "file") : null;
      case "button":
        return ROLES.has(role) ? role : "button";
      case "input":
        if (element.type === "hidden") return null;
        return role === "switch" ? role : (INPUTS[element.type] ?? PLAIN_INPUTS[element.type] ?? "textbox");
      case "textarea":
        return "textbox";
      case "select":
        return "select";
      case "summary":
        return element.parentElement?.localName === "details" ? "disclosure" : null;
    }
    if (ROLES.has(role)) return leads(element) ? null : role;
    if (isEditor(element)) return "textbox";
    const runs = element.localName === "a" && /^javascript:/i.test(attribute(element, "href"));
    return (runs || element.hasAttribute("onclick")) && element.localName !== "body" ? "button" : null;
  };

  // ---- what says no tag and no role --------------------------------------------------------------------------------

  const INTERACTIVE =
    "a[href], button, input, select, textarea, summary, [role=button], [onclick], [contenteditable], iframe";

  // Whether a click does something here although no tag and no role says so.
  const isClickable = (element, pointed) => {
    if (walk.linked || !(pointed || listensForClicks(element))) return false;
    // A link, or one within the page.
    if (element.matches('a[href]:not([href="#"])') && !listensForClicks(element)) return false;
    if (element.matches("html, body, label, option, optgroup") || kindOf(element) !== null) return false;
    return links.destination(element) === null && !element.querySelector(INTERACTIVE);
  };

  // A large element more likely listens on behalf of what is in it.
  const listensForClicks = (element) => links.isPressed(element) && element.textContent.length <= NAME_CHARACTERS;

  const readClickable = (element) => {
    walk.clickable = null;
    if (!walk.visible || !numbers.hasRoom("control")) return walk.into(element);
    if (element.textContent.length <= CARD_CHARACTERS) return read(element, "button");
    write(element, "button", names.title(element));
    blocks.flush();
    walk.into(element);
  };

  // ---- states ------------------------------------------------------------------------------------------------------

  const STATES = [
    ["partly checked", (e) => e.indeterminate === true || attribute(e, "aria-checked") === "mixed"],
    ["checked", (e) => e.checked === true || attribute(e, "aria-checked") === "true"],
    ["selected", (e) => attribute(e, "aria-selected") === "true"],
    ["pressed", (e) => attribute(e, "aria-pressed") === "true"],
    ["disabled", (e) => e.matches(":disabled, [inert], [inert] *") || attribute(e, "aria-disabled") === "true"],
    ["read-only", (e) => e.readOnly === true || attribute(e, "aria-readonly") === "true"],
    ["required", (e) => e.required === true || attribute(e, "aria-required") === "true"],
    ["invalid", (e) => e.matches(":user-invalid") || attribute(e, "aria-invalid") === "true"],
    ["expanded", (e) => attribute(e, "aria-expanded") === "true" || (e.localName === "summary" && e.parentElement.open)],
    ["collapsed", (e) => attribute(e, "aria-expanded") === "false" || (e.localName === "summary" && !e.parentElement.open)],
  ];

  const listed = (options) => {
    const said = (option) => clean(option.text).trim() + (option.matches(":disabled") ? " (disabled)" : "");
    const texts = [...options].map(said);
    const more = texts.length > SELECT_OPTIONS ? `, and ${texts.length - SELECT_OPTIONS} more` : "";
    return `options: ${texts.slice(0, SELECT_OPTIONS).join(", ")}${more}`;
  };

  const valueOf = (element, name) => {
    if (element.localName === "select") {
      const chosen = [...element.selectedOptions].map((option) => clean(option.text).trim());
      return `value: ${chosen.join(", ") || "none"}; ${listed(element.options)}`;
    }
    if (!FIELDS.has(element.localName)) return shownValue(element, name);
    if (element.type in INPUTS) return "";
    const content = element.value ? filling(element) : hint(element, name);
    return [content, element.list?.options.length ? listed(element.list.options) : ""].filter(Boolean).join("; ");
  };

  const filling = (field) => {
    if (field.type === "password" || SECRET.test(field.autocomplete)) return "value hidden";
    return `value: ${shorten(clean(field.value), NAME_CHARACTERS)}`;
  };

  const hint = (field, name) => {
    const placeholder = attribute(field, "placeholder");
    return placeholder && placeholder !== name ? `placeholder: ${shorten(placeholder, NAME_CHARACTERS)}` : "";
  };

  const shownValue = (element, name) => {
    if (!VALUED.has(attribute(element, "role"))) return "";
    const said = attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow");
    const value = said || clean(element.textContent).trim();
    return value && value !== name ? `value: ${shorten(value, NAME_CHARACTERS)}` : "";
  };

  // ---- reading -----------------------------------------------------------------------------------------------------

  const write = (element, kind, name) => {
    const field = element.localName === "label" ? element.control : element;
    const states = STATES.filter(([, holds]) => holds(field)).map(([state]) => state);
    const control = numbers.add("control", element, {
      kind,
      name: shorten(name || attribute(element, "id") || "unnamed", NAME_CHARACTERS),
      state: [...states, valueOf(element, name)].filter(Boolean).join(", "),
    });
    const tag = `<control n=${control.number} kind=${kind} state="${quote(control.state)}">`;
    blocks.space();
    blocks.append(`${tag}${escape(control.name)}</control>`, control.name);
    blocks.space();
  };

  const nameOf = (element, kind) => {
    const isField = FIELDS.has(element.localName) || isEditor(element) || VALUED.has(kind);
    if (isField) return names.field(element, INPUTS[element.type] === "button");
    return names.telling(element, blocks.capture(() => walk.plainly(element)).plain);
  };

  const read = (element, kind) => {
    if (numbers.fleeting) {
      numbers.notes.add("Controls further down in a list that drops what is out of sight are read as text.");
      return walk.into(element);
    }
    if (!walk.visible || !numbers.hasRoom("control")) return;
    write(element, kind, nameOf(element, kind) || names.silent(element));
    if (isEditor(element)) walk.into(element);
  };

  return { controls: { kindOf, isClickable, read, readClickable } };
}
