// Shows local times, and updates the contents: requests the page again and replaces only the parts that differ.
"use strict";
(() => {
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("pages", { createHTML: (html) => html })
    : { createHTML: (html) => html };
  const parsed = (html) => new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  const contents = document.getElementById("contents");
  const standing = document.getElementById("standing");
  const news = document.getElementById("news");
  const pause = document.getElementById("pause");
  const clock = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium" });
  const time = new Intl.DateTimeFormat([], { timeStyle: "medium" });

  const localise = (root) => {
    for (const element of root.querySelectorAll("time[datetime]")) {
      const at = new Date(element.dateTime);
      if (!Number.isNaN(at.getTime())) {
        element.title = element.textContent;
        element.textContent = (element.closest("#standing") ? time : clock).format(at);
      }
    }
  };

  const announce = (text) => {
    if (news.textContent !== text) news.textContent = text;
  };

  // While the pointer is on a row, the focus is in the contents or text is selected, nothing moves.
  const isReading = () =>
    contents.querySelector("tbody tr:hover, article:hover") !== null ||
    (contents.contains(document.activeElement) && document.activeElement !== contents) ||
    String(document.getSelection()) !== "";

  let lostAt = null;
  const lost = () => {
    if (lostAt === null) {
      lostAt = new Date();
      standing.className = "dot bad";
      standing.textContent = `not connected since ${time.format(lostAt)}, trying again`;
      announce("Not connected");
    }
  };

  const show = (next) => {
    localise(next);
    const morph = (from, to, style) => window.Idiomorph.morph(from, to, {
      morphStyle: style,
      ignoreActiveValue: true,
      callbacks: { beforeAttributeUpdated: (name) => name !== "open" },
    });
    const other = next.getElementById("contents");
    if (other === null) return;
    morph(contents, other, "innerHTML");
    contents.dataset.refresh = other.dataset.refresh;
    document.title = next.title;
    const head = next.getElementById("standing");
    if (head !== null) morph(standing, head, "outerHTML");
    if (lostAt !== null) announce("Connected again");
    lostAt = null;
  };

  let paused = false;
  const refresh = async () => {
    if (paused || document.hidden || isReading()) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
      const html = await answer.text();
      if (!paused && !isReading()) show(parsed(html));
    } catch {
      lost();
    }
  };

  const schedule = () => {
    const seconds = Number(contents.dataset.refresh);
    if (seconds > 0) setTimeout(() => refresh().finally(schedule), 1000 * seconds);
  };

  const menu = document.querySelector("details.menu");
  if (menu !== null) {
    const narrow = window.matchMedia("(max-width: 800px)");
    const fit = () => { menu.open = !narrow.matches; };
    narrow.addEventListener("change", fit);
    fit();
  }
  for (const field of document.querySelectorAll("textarea")) {
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) field.form.requestSubmit();
    });
  }
  const review = document.querySelector("section.review");
  if (review !== null) {
    review.focus({ preventScroll: true });
    review.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
      const button = contents.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
      if (button !== null) button.click();
    });
  }
  localise(document);
  if (pause !== null) {
    pause.hidden = false;
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      announce(paused ? "Paused" : "Continued");
    });
    schedule();
  }
  document.documentElement.dataset.ready = "";
})();
