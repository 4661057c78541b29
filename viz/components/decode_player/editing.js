// A word of the output that is pressed twice is a field: what is typed there is written in its place.

import { element } from "../kit/page.js";
import { isOnStage } from "../kit/room.js";
import { tell } from "../kit/sync.js";

export function editWords(player, sync) {
  player.written.ondblclick = ({ target }) => {
    const chip = target.closest('.chip[data-side="target"]');
    if (!chip || !player.branches || isOnStage()) return;
    edit(chip.closest(".word") ?? chip, Number(chip.dataset.position), (position, text) => {
      tell(sync, "write", { ids: player.header.ids, position, text });
    });
  };
}

// write(position, text) is called once, where another word was typed.
function edit(word, position, write) {
  const before = word.textContent.replace(/^▁/, "").trim();
  const field = element("input", "editor");
  field.value = before;
  field.size = Math.max(6, before.length + 2);
  field.setAttribute("aria-label", `In place of ${before}`);
  const end = () => {
    field.onblur = null;
    field.remove();
    word.hidden = false;
  };
  field.onblur = end;
  field.onkeydown = (event) => {
    event.stopPropagation(); // no key of the player's
    const text = field.value.trim();
    if (event.key === "Escape") end();
    if (event.key !== "Enter") return;
    end();
    if (text && text !== before) write(position, text);
  };
  word.hidden = true;
  word.after(field);
  field.select();
}
