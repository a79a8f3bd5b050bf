"use strict";

// Elements, and values in words.  Texts of the document only ever become text nodes and attributes.

const DRAWING = document.getElementById("drawing").content.firstElementChild.namespaceURI;

// Controls and turns of direction are spelt out; line breaks are left, which only some texts of this script have.
const ODD = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function spelt(text) {
  const code = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return typeof text === "string" ? text.replace(ODD, code) : text;
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : spelt(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map(spelt));
  return element;
}

function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(DRAWING, tag), attributes, children);
}

function words(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return `{${value.join(", ")}}`;
  return String(value);
}

function same(one, other) {
  return words(one) === words(other);
}

function counted(number, what) {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function pairs(values) {
  return Object.entries(values).map(([name, value]) => `${name} = ${words(value)}`).join(", ");
}

// Integers that a number cannot hold are kept as they are written.
function parsed(text) {
  const exact = (part) => (part.startsWith('"') ? part : `"${part}"`);
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, exact));
}

function badge(verdict, cached = false) {
  return html("span", { class: `badge ${verdict}` }, cached && verdict === "proved" ? `${verdict} (cached)` : verdict);
}

function table(caption, headings, rows) {
  const cell = (tag) => (content) => html(tag, tag === "th" ? { scope: "col" } : {}, content);
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    html("table", {},
      html("thead", {}, html("tr", {}, ...headings.map(cell("th")))),
      html("tbody", {}, ...rows.map((row) => html("tr", {}, ...row.map(cell("td")))))));
}

// A drawing is made of columns, a step each, and of rows that have a label at the left.
class Drawing {
  constructor(steps, column) {
    this.column = column;
    this.steps = steps;
    this.height = 0;
    this.shown = 0;
    this.labels = [];
    this.marks = Array.from({ length: steps }, () => []);
    this.now = svg("rect", { class: "now", y: 0, width: column });
    this.root = svg("svg", { "aria-hidden": "true", width: column * steps });
    this.root.append(this.now);
  }

  // A row of a height; its top.
  row(height, label, kind) {
    const top = this.height;
    this.height += height;
    if (label) this.labels.push({ top, height, label, kind });
    return top;
  }

  left(step) {
    return step * this.column;
  }

  middle(step) {
    return (step + 0.5) * this.column;
  }

  add(tag, attributes, ...children) {
    const element = svg(tag, attributes, ...children);
    this.root.append(element);
    return element;
  }

  text(step, y, content, kind) {
    const element = this.add("text", { class: kind, x: this.middle(step), y }, content);
    this.marks[step].push(element);
    return element;
  }

  // A box in a column, with a text on it.
  box(step, top, height, kind, content, title) {
    const group = this.add("g", { class: `box ${kind}` });
    group.append(svg("rect", { x: this.left(step) + 1, y: top, width: this.column - 2, height, rx: 4 }));
    if (content) group.append(svg("text", { x: this.middle(step), y: top + height / 2 }, content));
    if (title) group.append(svg("title", {}, title));
    this.marks[step].push(group);
  }

  // The numbers of the steps; as many as there is room for.
  axis(names, loop) {
    const top = this.row(24);
    let end = 0;
    names.forEach((name, step) => {
      const half = 3.5 * name.length + 2;
      if (!name || this.middle(step) - half < end) return;
      this.text(step, top + 12, name, "tick");
      end = this.middle(step) + half;
    });
    if (loop < this.steps) {
      const y = this.row(18, "repeats", "minor") + 8;
      this.add("path", { class: "loop", d: `M${this.left(loop) + 2} ${y + 6}v-6H${this.left(this.steps) - 2}v6` });
    }
  }

  arrow(x, from, to, kind) {
    const size = to > from ? -5 : 5;
    const d = `M${x} ${from}V${to}m-4 ${size}l4 ${-size}l4 ${size}`;
    this.add("path", { class: kind, d });
  }

  finished() {
    this.root.setAttribute("height", this.height);
    this.now.setAttribute("height", this.height);
    return this;
  }

  show(step) {
    this.now.setAttribute("x", this.left(step));
    for (const element of this.marks[this.shown]) element.classList.remove("current");
    for (const element of this.marks[step]) element.classList.add("current");
    this.shown = step;
  }
}
