// The style sheets of the front end, in the document or the shadow tree that shows an explorer.

const texts: string[] = [];
let sheet: CSSStyleSheet | undefined;

/** Add the text of a style sheet; imports of `.css` files become calls of this. */
export function addStyle(text: string): void {
  texts.push(text);
  sheet?.replaceSync(texts.join("\n"));
}

/** Style what is in `element`. */
export function styled(element: Node): void {
  const root = element.getRootNode();
  const scope = root instanceof ShadowRoot ? root : document;
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(texts.join("\n"));
  }
  if (!scope.adoptedStyleSheets.includes(sheet)) scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, sheet];
}
