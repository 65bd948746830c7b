/** Caches the result for each argument. */
export function remembered<K, V>(make: (of: K) => V): (of: K) => V {
  const known = new Map<K, V>();
  return (of) => {
    let value = known.get(of);
    if (value === undefined) {
      value = make(of);
      known.set(of, value);
    }
    return value;
  };
}

/** Caches the result of the first call. */
export function once<V>(make: () => V): () => V {
  const only = remembered(make);
  return () => only(undefined);
}
