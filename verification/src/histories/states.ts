// Recognises states: what the things have become that steps read and change, and what each process has seen of them.
import { createHash } from 'node:crypto'

const digestOf = (...parts: readonly string[]) => createHash('sha1').update(parts.join('\n')).digest('base64')

const digestOfAll = (all: ReadonlyMap<string, string>) =>
  digestOf(...[...all].map((entry) => entry.join(' ')).toSorted())

export function createStates() {
  const things = new Map<string, string>()
  const processes = new Map<string, string>()
  const extend = (all: Map<string, string>, name: string, by: string) =>
    void all.set(name, digestOf(all.get(name) ?? '', by))

  return {
    /** Must be called for each change. @param how the change; the same one has the same text */
    changed: (thing: string, how: string): void => extend(things, thing, how),
    /** Must be called before a process reads or changes a thing. */
    sees: (process: string, what: string, thing: string): void =>
      extend(processes, process, `${what} ${things.get(thing)}`),
    /** The same after steps in different orders if all things are the same. Times do not count. */
    ofThings: (): string => digestOfAll(things),
    /** The same if each process has seen the same, too. */
    ofAll: (): string => digestOf(digestOfAll(things), digestOfAll(processes)),
  }
}
