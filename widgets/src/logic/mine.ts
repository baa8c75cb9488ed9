// Which code is the user's own: not Python's, not torch's, not an installed package's, but for those that they add.
import type { Code } from "../schema";

/** `timm` and `timm.models` name packages and modules, `/home/me/lib` a folder, `layers.py` a file. */
export function isMine(code: Pick<Code, "owner" | "filename">, added: readonly string[]): boolean {
  if (code.owner === "user") return true;
  const path = code.filename.replaceAll("\\", "/");
  return added.some((name) => {
    if (name === "") return false;
    const part = /[/\\]|\.py$/.test(name) ? name.replaceAll("\\", "/").replace(/^\/|\/$/g, "") : name.replaceAll(".", "/");
    return `${path}/`.includes(`/${part}/`) || path.endsWith(`/${part}.py`);
  });
}
