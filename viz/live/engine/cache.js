// The last values that were made, up to so many bytes: what was not used for longest leaves first.

export function openCache(most) {
  return { most, bytes: 0, entries: new Map() };
}

// The value of a key, made where it is not kept: make() -> { value, bytes }.
export function kept(cache, key, make) {
  const entry = cache.entries.get(key) ?? make();
  if (!cache.entries.delete(key)) cache.bytes += entry.bytes;
  cache.entries.set(key, entry); // the newest
  for (const [oldest, { bytes }] of cache.entries) {
    if (cache.bytes <= cache.most || oldest === key) break;
    cache.entries.delete(oldest);
    cache.bytes -= bytes;
  }
  return entry.value;
}
