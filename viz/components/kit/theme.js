// Light or dark, as the browser shows the page.

const APP = '[data-testid="stApp"]';

// "light" or "dark"; "" where there is no page of the app.
export function shownTheme(page = document) {
  const app = page.querySelector(APP);
  return app ? getComputedStyle(app).colorScheme : "";
}

// changed() is called when the page may be in another theme.
export function onTheme(changed) {
  new MutationObserver(changed).observe(document.querySelector(APP), { attributeFilter: ["class"] });
}
