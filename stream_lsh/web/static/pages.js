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
  const stale = document.getElementById("stale");
  const changed = document.getElementById("changed");
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
      standing.textContent = `disconnected since ${time.format(lostAt)}, reconnecting`;
      announce("Disconnected");
    }
  };

  // A problem that may pass replaces no contents: a line above them says what is missing, and how old they are.
  let shownAt = new Date();
  const keeps = (next) => {
    const problem = next.querySelector("#contents[data-passing]");
    const is = problem !== null && contents.dataset.passing === undefined;
    if (is) {
      const parts = [...problem.querySelectorAll("h1, .missing")].map((one) => one.textContent.trim());
      stale.textContent = `${parts.join(". ").replace(/\.$/, "")}. Contents of ${time.format(shownAt)}, retrying`;
      announce(parts[0]);
    } else {
      shownAt = new Date();
    }
    stale.hidden = !is;
    return is;
  };

  const show = (next) => {
    if (lostAt !== null) announce("Reconnected");
    lostAt = null;
    localise(next);
    const morph = (from, to) => window.Idiomorph.morph(from, to, {
      morphStyle: "outerHTML",
      ignoreActiveValue: true,
      callbacks: { beforeAttributeUpdated: (name) => name !== "open" },
    });
    const other = next.getElementById("contents");
    if (other === null) return;
    const head = next.getElementById("standing");
    if (head !== null) morph(standing, head);
    if (keeps(next)) return;
    morph(contents, other);
    document.title = next.title;
  };

  // While the workers report changes (`live`), only changes are a reason to request the contents, and every 30 seconds.
  let paused = false;
  let live = false;
  let waiting = 0;
  let requestedAt = performance.now();
  let announcedAt = -Infinity;
  const showWaiting = () => {
    changed.hidden = waiting === 0 || !(paused || isReading());
    if (changed.hidden) return;
    changed.textContent = waiting === 1 ? "1 change – show" : `${waiting} changes – show`;
    if (performance.now() - announcedAt > 30000) {
      announcedAt = performance.now();
      announce(changed.textContent);
    }
  };
  const isDue = () => {
    const age = performance.now() - requestedAt;
    const interval = 1000 * Number(contents.dataset.refresh);
    if (interval === 0) return false;
    return live && stale.hidden ? age >= 30000 || (waiting > 0 && age >= 1000) : age >= interval;
  };
  const refresh = async (now) => {
    const holds = () => document.hidden || (!now && (paused || isReading()));
    showWaiting();
    if (holds()) return;
    requestedAt = performance.now();
    const before = waiting;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
      if (answer.type === "opaqueredirect") { // the session has ended
        location.reload();
        return;
      }
      const html = await answer.text();
      if (!holds()) {
        show(parsed(html));
        waiting -= before;
        standing.classList.toggle("live", live);
        showWaiting();
      }
    } catch {
      lost();
    }
  };

  let busy = false;
  const step = () => {
    if (busy || !isDue()) return;
    busy = true;
    refresh(false).finally(() => { busy = false; });
  };

  const count = (message) => {
    const key = contents.dataset.changedKey;
    for (const type of contents.dataset.types.split(" ")) {
      const found = Object.hasOwn(message, type) ? message[type] : null;
      if (found !== null && (!key || found.keys === null || found.keys.includes(key))) waiting += key ? 1 : found.count;
    }
    step();
  };
  const setLive = (is) => {
    if (is && !live) waiting += 1; // something may have changed before the connection
    live = is;
    standing.classList.toggle("live", live);
  };
  let stream = null;
  // Browsers allow six connections to a host, so hidden pages have none.
  const listen = () => {
    if (stream !== null) stream.close();
    stream = null;
    setLive(false);
    if (document.hidden || !contents.dataset.stream) return;
    stream = new EventSource(contents.dataset.stream);
    stream.addEventListener("connected", () => setLive(true));
    stream.addEventListener("lost", () => setLive(false));
    stream.addEventListener("changed", (event) => count(JSON.parse(event.data)));
    stream.onerror = () => setLive(false);
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
    changed.addEventListener("click", () => {
      document.activeElement.blur();
      refresh(true);
    });
    document.addEventListener("visibilitychange", listen);
    window.addEventListener("pagehide", () => { if (stream !== null) stream.close(); });
    listen();
    setInterval(step, 250);
  }
  document.documentElement.dataset.ready = "";
})();
