// Stepping through a run.

let active = null;

class Viewer {
  constructor(run, title, level) {
    this.run = run;
    this.at = 0;
    this.onlyChanges = false;
    this.built = html("section", { class: "run", "aria-label": title });
    this.built.append(html(`h${level}`, {}, title), html("p", { class: "quiet" }, pairs(run.parameters)));
    this.built.append(this.controls(), this.timeline());
    this.status = html("p", { class: "status", role: "status", "aria-live": "polite" });
    this.state = html("div", { class: "state" });
    this.notes = html("ul", { class: "notes" });
    this.built.append(this.status, this.state, this.notes);
    if (run.ending) this.built.append(html("p", {}, run.ending));
    if (run.legend) this.built.append(html("p", { class: "quiet" }, run.legend));
    this.built.append(this.all());
    const take = () => { active = this; };
    this.built.addEventListener("pointerdown", take);
    this.built.addEventListener("focusin", take);
    active = active || this;
  }

  get last() {
    return this.run.steps.length - 1;
  }

  controls() {
    const button = (sign, name, action) => {
      const built = html("button", { type: "button", "aria-label": name, title: name }, sign);
      built.addEventListener("click", action);
      return built;
    };
    this.first = button("\u21e4", "first (Home)", () => this.go(0));
    this.back = button("\u2190", "back (left arrow)", () => this.go(this.at - 1));
    this.forward = button("\u2192", "forward (right arrow)", () => this.go(this.at + 1));
    this.end = button("\u21e5", "last (End)", () => this.go(this.last));
    this.slider = html("input", { type: "range", min: 0, max: this.last, value: 0, "aria-label": "step" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.changes = html("button", { type: "button", class: "wide", "aria-pressed": "false", title: "key d" }, "only what changed");
    this.changes.addEventListener("click", () => this.toggle());
    return html("div", { class: "controls" }, this.first, this.back, this.forward, this.end, this.slider, this.changes);
  }

  timeline() {
    this.labels = html("div", { class: "labels", "aria-hidden": "true" });
    this.scroller = html("div", { class: "scroller", tabindex: 0, role: "img", "aria-label": "timeline of the run; the text below tells each step" });
    this.scroller.addEventListener("click", (event) => {
      const x = event.clientX - this.drawing.root.getBoundingClientRect().left;
      this.go(Math.floor(x / this.drawing.column));
    });
    return html("div", { class: "timeline" }, this.labels, this.scroller);
  }

  // As wide as there is room for; once the page is laid out, and whenever that changes.
  draw() {
    this.drawing = this.run.draw(this.scroller.clientWidth - 2);
    this.scroller.replaceChildren(this.drawing.root);
    this.labels.replaceChildren(...this.drawing.labels.map(({ top, height, label, kind }) => {
      const built = html("div", { class: kind, title: label }, label);
      built.style.top = `${top}px`;
      built.style.height = `${height}px`;
      return built;
    }));
    this.labels.style.height = `${this.drawing.height}px`;
    this.go(this.at);
  }

  go(step) {
    this.at = Math.min(this.last, Math.max(0, step));
    this.show();
  }

  toggle() {
    this.onlyChanges = !this.onlyChanges;
    this.changes.setAttribute("aria-pressed", String(this.onlyChanges));
    this.show();
  }

  before(name) {
    return this.at === 0 ? undefined : this.run.steps[this.at - 1].values[name];
  }

  changed(name) {
    return this.at > 0 && !same(this.before(name), this.run.steps[this.at].values[name]);
  }

  show() {
    const step = this.run.steps[this.at];
    this.built.dataset.step = this.at;
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", step.name);
    this.first.disabled = this.back.disabled = this.at === 0;
    this.forward.disabled = this.end.disabled = this.at === this.last;
    this.status.replaceChildren(html("strong", {}, step.name), this.told(step));
    this.state.replaceChildren(...this.run.groups.map((group) => this.group(group)).filter(Boolean));
    const notes = this.run.notes(this.at).filter((note) => note.changed || !this.onlyChanges);
    this.notes.replaceChildren(...notes.map((note) => html("li", { class: note.changed ? "changed" : null }, note.text)));
    this.drawing.show(this.at);
    const middle = this.drawing.middle(this.at);
    this.scroller.scrollLeft = middle - this.scroller.clientWidth / 2;
  }

  told(step) {
    if (this.at === 0) return " \u2014 where it begins";
    const names = this.run.groups.flatMap((group) => group.names).filter((name) => this.changed(name));
    const what = names.map((name) => `${name} ${words(this.before(name))} \u2192 ${words(step.values[name])}`);
    return ` \u2014 ${step.how || "nothing was chosen"}. ${what.length ? `Changed: ${what.join(", ")}.` : "Nothing changed."}`;
  }

  group({ title, names }) {
    const shown = names.filter((name) => !this.onlyChanges || this.changed(name));
    if (shown.length === 0) return null;
    const rows = shown.map((name) => html("tr", { class: this.changed(name) ? "changed" : null, "data-name": name },
      html("th", { scope: "row" }, name),
      html("td", { class: "value" }, words(this.run.steps[this.at].values[name])),
      html("td", { class: "was" }, this.changed(name) ? `was ${words(this.before(name))}` : "")));
    return html("div", {}, html("table", {}, html("caption", {}, title), html("tbody", {}, ...rows)));
  }

  // All steps as a table, made when it is wanted.
  all() {
    const built = html("details", {}, html("summary", {}, `all ${counted(this.run.steps.length, "step")} as a table`));
    built.addEventListener("toggle", () => {
      if (built.childElementCount > 1) return;
      const names = this.run.groups.flatMap((group) => group.names);
      const value = (step, number, name) => {
        const changed = number > 0 && !same(this.run.steps[number - 1].values[name], step.values[name]);
        return changed ? html("strong", {}, words(step.values[name])) : words(step.values[name]);
      };
      const rows = this.run.steps.map((step, number) => [step.name, step.how, ...names.map((name) => value(step, number, name))]);
      built.append(table("all steps", ["", "what was chosen", ...names], rows));
    });
    return built;
  }
}

const KEYS = {
  ArrowLeft: (viewer) => viewer.go(viewer.at - 1),
  ArrowRight: (viewer) => viewer.go(viewer.at + 1),
  Home: (viewer) => viewer.go(0),
  End: (viewer) => viewer.go(viewer.last),
  d: (viewer) => viewer.toggle(),
};

document.addEventListener("keydown", (event) => {
  const action = KEYS[event.key];
  if (active === null || action === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  action(active);
});
