// Start Streamlit's page with small scripts out of one file. address: of the file, relative to the
// page; entry: the name of the script to start; early, later: addresses of large scripts, those that
// it waits for and others, which come while it starts; idle: the name of one that is run once the
// page is drawn and nobody has touched it for a while, so that what it draws comes sooner.
const USED = "headscope-charts";
const RESTS = 1500;
const TOUCHES = ["pointermove", "pointerdown", "keydown", "wheel"];
const DRAWN = '[data-test-script-state="notRunning"]';

export async function start({ address, entry, early, later, idle }) {
    const folder = new URL("./static/js/", document.baseURI).href;
    const relative = /(["'`])\.\/([\w.-]+\.js)\1/g;
    const preload = (href) =>
        new Promise((done) => {
            const link = document.createElement("link");
            // Not looked into yet (as by modulepreload), so that the map says what it imports.
            Object.assign(link, { rel: "preload", as: "script", crossOrigin: "", href });
            link.onload = link.onerror = done;
            document.head.append(link);
        });
    const lead = async () => {
        const imports = {};
        for (const [name, text] of Object.entries(await (await fetch(address)).json())) {
            // What is relative to a script has no meaning where it is no file of its own.
            const module = text
                .replace(relative, (_, quote, to) => quote + folder + to + quote)
                .replaceAll("import.meta.url", JSON.stringify(folder + name));
            const named = `${module}\n//# sourceURL=${folder}${name}`;
            imports[folder + name] = `data:text/javascript,${encodeURIComponent(named)}`;
        }
        const map = document.createElement("script");
        map.type = "importmap";
        map.textContent = JSON.stringify({ imports });
        document.head.append(map);
    };
    const led = lead().catch(() => {}); // then each script is fetched by itself
    Promise.all([led, ...early.map(preload)]).then(() => later.forEach(preload));
    await led;
    if (document.readyState === "loading")
        await new Promise((done) => document.addEventListener("DOMContentLoaded", done));
    import(folder + entry);
    if (idle) watchUse(folder + idle);
}

// Where a browser never had it that takes seconds, and a phone takes as long each time: most need none.
function watchUse(address) {
    try {
        if (localStorage.getItem(USED) && matchMedia("(pointer: fine)").matches)
            whenIdle(() => import(address).catch(() => {}));
        const isIt = ({ name }) => name === address;
        new PerformanceObserver((list) => {
            if (list.getEntries().some(isIt)) localStorage.setItem(USED, "yes");
        }).observe({ type: "resource", buffered: true });
    } catch {} // nothing may be kept here: then it comes when it is needed
}

// Drawn and untouched at two looks in a row: what is drawn first waits for nothing.
function whenIdle(act) {
    let [timer, wasDrawn] = [0, false];
    const again = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            const isDrawn = document.querySelector(DRAWN) !== null;
            if (!isDrawn || !wasDrawn) {
                wasDrawn = isDrawn;
                return again();
            }
            for (const each of TOUCHES) removeEventListener(each, again);
            act();
        }, RESTS);
    };
    for (const each of TOUCHES) addEventListener(each, again, { passive: true });
    again();
}
