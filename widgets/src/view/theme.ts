// Light or dark: as the notebook says, else as the system does.
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

/** The theme that the page around us shows. */
export function themeOf(page: Document, prefersDark: boolean): Theme {
  const { body, documentElement: html } = page;
  const jupyter = body.dataset["jpThemeLight"];
  if (jupyter !== undefined) return jupyter === "true" ? "light" : "dark";
  if (body.matches(".vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light)")) return "dark";
  if (body.matches(".vscode-light, .vscode-high-contrast-light")) return "light";
  const declared = html.getAttribute("theme") ?? html.dataset["theme"];
  if (declared === "dark" || declared === "light") return declared;
  return prefersDark ? "dark" : "light";
}

export function useTheme(): Theme {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const [theme, setTheme] = useState<Theme>(() => themeOf(document, system.matches));
  useEffect(() => {
    const look = (): void => setTheme(themeOf(document, system.matches));
    const watch = new MutationObserver(look);
    const options = { attributes: true, attributeFilter: ["data-jp-theme-light", "class", "theme", "data-theme"] };
    watch.observe(document.body, options);
    watch.observe(document.documentElement, options);
    system.addEventListener("change", look);
    look();
    return () => {
      watch.disconnect();
      system.removeEventListener("change", look);
    };
  }, []);
  return theme;
}
