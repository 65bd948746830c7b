/** The same for the same argument, made when it is first asked for. */
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

/** The same for every call, made by the first one. */
export function once<V>(make: () => V): () => V {
  const only = remembered(make);
  return () => only(undefined);
}
