// Gates: a tool waits at a gate until the test opens it.

/** The text of a module of a catalog that exports `gate(name)`: `promise` resolves once `open` is called. */
export const GATES = `
    const gates = new Map()
    export const gate = (name) => {
      if (!gates.has(name)) {
        let open
        const promise = new Promise((resolve) => { open = resolve })
        gates.set(name, { promise, open })
      }
      return gates.get(name)
    }`
